package layers

import (
	"encoding/binary"

	"github.com/google/gopacket"

	"ibwitness/packet"
)

// AETH is the ACK extended transport header (section 9.3.5).
type AETH struct {
	header
	Syndrome packet.Syndrome
	MSN      uint32
}

// LayerType returns LayerTypeAETH.
func (h *AETH) LayerType() gopacket.LayerType { return LayerTypeAETH }

// CanDecode returns LayerTypeAETH.
func (h *AETH) CanDecode() gopacket.LayerClass { return LayerTypeAETH }

// DecodeFromBytes reads the header.
func (h *AETH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if err := h.extension(data, 4, packet.HasAETH, "AETH", df); err != nil {
		return err
	}
	w := binary.BigEndian.Uint32(data)
	h.Syndrome, h.MSN = packet.Syndrome(w>>24), w&packet.PSNMask
	return nil
}

// SerializeTo writes the header.
func (h *AETH) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	p, err := b.PrependBytes(4)
	if err != nil {
		return err
	}
	binary.BigEndian.PutUint32(p, uint32(h.Syndrome)<<24|h.MSN&packet.PSNMask)
	return nil
}
