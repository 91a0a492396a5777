package layers

import (
	"github.com/google/gopacket"

	"ibwitness/packet"
)

// CNP is the body of a RoCEv2 congestion notification packet (annex A17.9.3).
type CNP struct {
	header
	Reserved [16]byte // zero
}

// LayerType returns LayerTypeCNP.
func (h *CNP) LayerType() gopacket.LayerType { return LayerTypeCNP }

// CanDecode returns LayerTypeCNP.
func (h *CNP) CanDecode() gopacket.LayerClass { return LayerTypeCNP }

// DecodeFromBytes reads the header.
func (h *CNP) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if err := h.extension(data, 16, packet.HasCNP, "CNP", df); err != nil {
		return err
	}
	copy(h.Reserved[:], data)
	return nil
}

// SerializeTo writes the header.
func (h *CNP) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	p, err := b.PrependBytes(16)
	if err != nil {
		return err
	}
	copy(p, h.Reserved[:])
	return nil
}
