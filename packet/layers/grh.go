package layers

import (
	"encoding/binary"
	"fmt"
	"net"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
)

// nextHeaderIBA is the NxtHdr of an InfiniBand transport packet (C8-7).
const nextHeaderIBA = 0x1B

// GRH is the global route header (section 8.3).
type GRH struct {
	header
	IPVer      uint8
	TClass     uint8
	FlowLabel  uint32
	PayLen     uint16 // bytes after the GRH through ICRC
	NxtHdr     uint8
	HopLmt     uint8
	SGID, DGID net.IP
}

// LayerType returns LayerTypeGRH.
func (g *GRH) LayerType() gopacket.LayerType { return LayerTypeGRH }

// CanDecode returns LayerTypeGRH.
func (g *GRH) CanDecode() gopacket.LayerClass { return LayerTypeGRH }

// NetworkFlow returns the flow from SGID to DGID: a GID is an IPv6 address.
func (g *GRH) NetworkFlow() gopacket.Flow {
	return gopacket.NewFlow(layers.EndpointIPv6, g.SGID, g.DGID)
}

// NextLayerType returns LayerTypeBTH, or LayerTypePayload where NxtHdr is not InfiniBand's.
func (g *GRH) NextLayerType() gopacket.LayerType {
	if g.NxtHdr == nextHeaderIBA {
		return LayerTypeBTH
	}
	return gopacket.LayerTypePayload
}

// DecodeFromBytes reads the header. The payload ends where PayLen says: padding of the Ethernet frame is not part of it.
func (g *GRH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if err := g.take(data, 40, "GRH", df); err != nil {
		return err
	}
	w := binary.BigEndian.Uint32(data)
	g.IPVer, g.TClass, g.FlowLabel = uint8(w>>28), uint8(w>>20), w&0xFFFFF
	g.PayLen = binary.BigEndian.Uint16(data[4:])
	g.NxtHdr, g.HopLmt = data[6], data[7]
	g.SGID, g.DGID = net.IP(data[8:24:24]), net.IP(data[24:40:40])
	if n := int(g.PayLen); n <= len(g.Payload) {
		g.Payload = g.Payload[:n]
	} else {
		df.SetTruncated()
	}
	return nil
}

// SerializeTo writes the header. FixLengths sets PayLen.
func (g *GRH) SerializeTo(b gopacket.SerializeBuffer, opts gopacket.SerializeOptions) error {
	s, d := g.SGID.To16(), g.DGID.To16()
	if s == nil || d == nil {
		return fmt.Errorf("layers: a GRH needs an SGID and a DGID of 16 bytes, not %v and %v", g.SGID, g.DGID)
	}
	n := len(b.Bytes())
	h, err := b.PrependBytes(40)
	if err != nil {
		return err
	}
	if opts.FixLengths {
		g.PayLen = uint16(n &^ 3) // a VCRC after it is half a word
	}
	binary.BigEndian.PutUint32(h, uint32(g.IPVer&0xF)<<28|uint32(g.TClass)<<20|g.FlowLabel&0xFFFFF)
	binary.BigEndian.PutUint16(h[4:], g.PayLen)
	h[6], h[7] = g.NxtHdr, g.HopLmt
	copy(h[8:], s)
	copy(h[24:], d)
	return nil
}
