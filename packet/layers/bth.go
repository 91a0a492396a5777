package layers

import (
	"encoding/binary"

	"github.com/google/gopacket"

	"ibwitness/packet"
)

// BTH is the base transport header (section 9.2).
type BTH struct {
	header
	Opcode packet.Opcode
	SE     bool
	MigReq bool
	PadCnt uint8
	TVer   uint8
	PKey   uint16
	FECN   bool
	BECN   bool
	Resv8a uint8 // the 6 reserved bits beside FECN and BECN
	DestQP uint32
	AckReq bool
	Resv7  uint8 // the 7 reserved bits beside AckReq
	PSN    packet.PSN
	own    chain
}

// LayerType returns LayerTypeBTH.
func (h *BTH) LayerType() gopacket.LayerType { return LayerTypeBTH }

// CanDecode returns LayerTypeBTH.
func (h *BTH) CanDecode() gopacket.LayerClass { return LayerTypeBTH }

// DecodeFromBytes reads the header.
func (h *BTH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if err := h.take(data, 12, "BTH", df); err != nil {
		return err
	}
	h.Opcode = packet.Opcode(data[0])
	h.SE, h.MigReq = data[1]&0x80 != 0, data[1]&0x40 != 0
	h.PadCnt, h.TVer = data[1]>>4&3, data[1]&0xF
	h.PKey = binary.BigEndian.Uint16(data[2:])
	w := binary.BigEndian.Uint32(data[4:])
	h.FECN, h.BECN, h.Resv8a, h.DestQP = w>>31 != 0, w>>30&1 != 0, uint8(w>>24)&0x3F, w&packet.PSNMask
	w = binary.BigEndian.Uint32(data[8:])
	h.AckReq, h.Resv7, h.PSN = w>>31 != 0, uint8(w>>24)&0x7F, packet.PSN(w&packet.PSNMask)
	c := h.chain
	if c == nil {
		c = &h.own
	}
	c.rest, c.pad = h.Opcode.Info().Headers, int(h.PadCnt)
	return nil
}

// NextLayerType returns the first extension header of the opcode, or LayerTypeICRC.
func (h *BTH) NextLayerType() gopacket.LayerType {
	if h.chain == nil {
		return h.own.next()
	}
	return h.chain.next()
}

// SerializeTo writes the header. PadCnt is the caller's: PadCount computes it.
func (h *BTH) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	p, err := b.PrependBytes(12)
	if err != nil {
		return err
	}
	p[0] = uint8(h.Opcode)
	p[1] = bit(h.SE, 0x80) | bit(h.MigReq, 0x40) | h.PadCnt&3<<4 | h.TVer&0xF
	binary.BigEndian.PutUint16(p[2:], h.PKey)
	reserved := bit(h.FECN, 0x80) | bit(h.BECN, 0x40) | h.Resv8a&0x3F
	binary.BigEndian.PutUint32(p[4:], uint32(reserved)<<24|h.DestQP&packet.PSNMask)
	binary.BigEndian.PutUint32(p[8:], uint32(bit(h.AckReq, 0x80)|h.Resv7&0x7F)<<24|uint32(h.PSN)&packet.PSNMask)
	return nil
}

func bit(set bool, mask uint8) uint8 {
	if set {
		return mask
	}
	return 0
}

// PadCount returns the PadCnt of a payload of n bytes.
func PadCount(n int) uint8 { return uint8(-n & 3) }
