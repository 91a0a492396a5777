package layers

import (
	"encoding/binary"

	"github.com/google/gopacket"

	"ibwitness/packet"
)

// AtomicETH is the atomic extended transport header (section 9.3.4).
type AtomicETH struct {
	header
	VA      uint64
	RKey    uint32
	SwapAdd uint64
	Compare uint64
}

// LayerType returns LayerTypeAtomicETH.
func (h *AtomicETH) LayerType() gopacket.LayerType { return LayerTypeAtomicETH }

// CanDecode returns LayerTypeAtomicETH.
func (h *AtomicETH) CanDecode() gopacket.LayerClass { return LayerTypeAtomicETH }

// DecodeFromBytes reads the header.
func (h *AtomicETH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if err := h.extension(data, 28, packet.HasAtomicETH, "AtomicETH", df); err != nil {
		return err
	}
	h.VA = binary.BigEndian.Uint64(data)
	h.RKey = binary.BigEndian.Uint32(data[8:])
	h.SwapAdd = binary.BigEndian.Uint64(data[12:])
	h.Compare = binary.BigEndian.Uint64(data[20:])
	return nil
}

// SerializeTo writes the header.
func (h *AtomicETH) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	p, err := b.PrependBytes(28)
	if err != nil {
		return err
	}
	binary.BigEndian.PutUint64(p, h.VA)
	binary.BigEndian.PutUint32(p[8:], h.RKey)
	binary.BigEndian.PutUint64(p[12:], h.SwapAdd)
	binary.BigEndian.PutUint64(p[20:], h.Compare)
	return nil
}

// AtomicAckETH is the atomic acknowledge extended transport header (section 9.5.3).
type AtomicAckETH struct {
	header
	OrigData uint64
}

// LayerType returns LayerTypeAtomicAckETH.
func (h *AtomicAckETH) LayerType() gopacket.LayerType { return LayerTypeAtomicAckETH }

// CanDecode returns LayerTypeAtomicAckETH.
func (h *AtomicAckETH) CanDecode() gopacket.LayerClass { return LayerTypeAtomicAckETH }

// DecodeFromBytes reads the header.
func (h *AtomicAckETH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if err := h.extension(data, 8, packet.HasAtomicAckETH, "AtomicAckETH", df); err != nil {
		return err
	}
	h.OrigData = binary.BigEndian.Uint64(data)
	return nil
}

// SerializeTo writes the header.
func (h *AtomicAckETH) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	p, err := b.PrependBytes(8)
	if err != nil {
		return err
	}
	binary.BigEndian.PutUint64(p, h.OrigData)
	return nil
}
