package layers

import (
	"encoding/binary"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"ibwitness/packet"
)

// EndpointLID is the endpoint type of a LID, two bytes in network order.
var EndpointLID = gopacket.RegisterEndpointType(firstLayerType, gopacket.EndpointTypeMetadata{
	Name: "LID",
	Formatter: func(b []byte) string {
		if len(b) != 2 {
			return "lid:?"
		}
		return packet.LIDAddr(binary.BigEndian.Uint16(b)).String()
	},
})

// LRH is the local route header (section 7.7).
type LRH struct {
	header
	VL       uint8
	LVer     uint8
	SL       uint8
	LNH      uint8
	Reserved uint8 // the 2 reserved bits beside LNH, then the 5 above PktLen: rr_lllll
	DLID     uint16
	PktLen   uint16 // words from LRH through ICRC
	SLID     uint16
	vcrc     bool
}

// LayerType returns LayerTypeLRH.
func (l *LRH) LayerType() gopacket.LayerType { return LayerTypeLRH }

// CanDecode returns LayerTypeLRH.
func (l *LRH) CanDecode() gopacket.LayerClass { return LayerTypeLRH }

// LinkFlow returns the flow from SLID to DLID.
func (l *LRH) LinkFlow() gopacket.Flow {
	return gopacket.NewFlow(EndpointLID, binary.BigEndian.AppendUint16(nil, l.SLID), binary.BigEndian.AppendUint16(nil, l.DLID))
}

// DecodeFromBytes reads the header. The payload ends where PktLen says, and with the VCRC where two more bytes are there.
func (l *LRH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if err := l.take(data, 8, "LRH", df); err != nil {
		return err
	}
	l.VL, l.LVer = data[0]>>4, data[0]&0xF
	l.SL, l.LNH = data[1]>>4, data[1]&3
	l.DLID = binary.BigEndian.Uint16(data[2:])
	w := binary.BigEndian.Uint16(data[4:])
	l.Reserved = data[1]>>2&3<<5 | uint8(w>>11)
	l.PktLen = w & 0x7FF
	l.SLID = binary.BigEndian.Uint16(data[6:])
	end := int(l.PktLen) * 4
	l.vcrc = false
	switch {
	case end > len(data):
		df.SetTruncated()
	case end+2 <= len(data):
		l.vcrc = true
		l.Payload = data[min(8, end+2) : end+2]
	default:
		l.Payload = data[min(8, end):end]
	}
	if l.chain != nil {
		l.chain.afterV = l.inner()
	}
	return nil
}

func (l *LRH) inner() gopacket.LayerType {
	return [4]gopacket.LayerType{LayerTypeRWH, layers.LayerTypeIPv6, LayerTypeBTH, LayerTypeGRH}[l.LNH&3]
}

// NextLayerType returns LayerTypeVCRC, or what LNH says where there is no VCRC.
func (l *LRH) NextLayerType() gopacket.LayerType {
	if l.vcrc {
		return LayerTypeVCRC
	}
	return l.inner()
}

// SerializeTo writes the header. FixLengths sets PktLen.
func (l *LRH) SerializeTo(b gopacket.SerializeBuffer, opts gopacket.SerializeOptions) error {
	n := len(b.Bytes())
	h, err := b.PrependBytes(8)
	if err != nil {
		return err
	}
	if opts.FixLengths {
		l.PktLen = uint16((8+n)/4) & 0x7FF // a VCRC is half a word
	}
	h[0] = l.VL<<4 | l.LVer&0xF
	h[1] = l.SL<<4 | l.Reserved>>5&3<<2 | l.LNH&3
	binary.BigEndian.PutUint16(h[2:], l.DLID)
	binary.BigEndian.PutUint16(h[4:], uint16(l.Reserved&0x1F)<<11|l.PktLen&0x7FF)
	binary.BigEndian.PutUint16(h[6:], l.SLID)
	return nil
}

// RWH is the raw header (section 5.3).
type RWH struct {
	header
	Reserved  uint16
	EtherType layers.EthernetType
}

// LayerType returns LayerTypeRWH.
func (r *RWH) LayerType() gopacket.LayerType { return LayerTypeRWH }

// CanDecode returns LayerTypeRWH.
func (r *RWH) CanDecode() gopacket.LayerClass { return LayerTypeRWH }

// NextLayerType returns the layer of the EtherType.
func (r *RWH) NextLayerType() gopacket.LayerType {
	if t := r.EtherType.LayerType(); t != gopacket.LayerTypeZero {
		return t
	}
	return gopacket.LayerTypePayload
}

// DecodeFromBytes reads the header.
func (r *RWH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if err := r.take(data, 4, "RWH", df); err != nil {
		return err
	}
	r.Reserved = binary.BigEndian.Uint16(data)
	r.EtherType = layers.EthernetType(binary.BigEndian.Uint16(data[2:]))
	return nil
}

// SerializeTo writes the header.
func (r *RWH) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	h, err := b.PrependBytes(4)
	if err != nil {
		return err
	}
	binary.BigEndian.PutUint16(h, r.Reserved)
	binary.BigEndian.PutUint16(h[2:], uint16(r.EtherType))
	return nil
}
