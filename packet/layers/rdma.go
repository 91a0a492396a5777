package layers

import (
	"encoding/binary"

	"github.com/google/gopacket"

	"ibwitness/packet"
)

// RETH is the RDMA extended transport header (section 9.3.3).
type RETH struct {
	header
	VA     uint64
	RKey   uint32
	DMALen uint32
}

// LayerType returns LayerTypeRETH.
func (h *RETH) LayerType() gopacket.LayerType { return LayerTypeRETH }

// CanDecode returns LayerTypeRETH.
func (h *RETH) CanDecode() gopacket.LayerClass { return LayerTypeRETH }

// DecodeFromBytes reads the header.
func (h *RETH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if err := h.extension(data, 16, packet.HasRETH, "RETH", df); err != nil {
		return err
	}
	h.VA = binary.BigEndian.Uint64(data)
	h.RKey = binary.BigEndian.Uint32(data[8:])
	h.DMALen = binary.BigEndian.Uint32(data[12:])
	return nil
}

// SerializeTo writes the header.
func (h *RETH) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	p, err := b.PrependBytes(16)
	if err != nil {
		return err
	}
	binary.BigEndian.PutUint64(p, h.VA)
	binary.BigEndian.PutUint32(p[8:], h.RKey)
	binary.BigEndian.PutUint32(p[12:], h.DMALen)
	return nil
}

// FETH is the FLUSH extended transport header (annex A19).
type FETH struct {
	header
	Reserved uint32 // 26 bits
	SEL      uint8  // selectivity: 0 range, 1 whole memory region
	PLT      uint8  // placement type: bit 0 global visibility, bit 1 persistence
}

// LayerType returns LayerTypeFETH.
func (h *FETH) LayerType() gopacket.LayerType { return LayerTypeFETH }

// CanDecode returns LayerTypeFETH.
func (h *FETH) CanDecode() gopacket.LayerClass { return LayerTypeFETH }

// NextLayerType returns LayerTypeRETH.
func (h *FETH) NextLayerType() gopacket.LayerType { return LayerTypeRETH }

// DecodeFromBytes reads the header.
func (h *FETH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if err := h.extension(data, 4, packet.HasFETH, "FETH", df); err != nil {
		return err
	}
	w := binary.BigEndian.Uint32(data)
	h.Reserved, h.SEL, h.PLT = w>>6, uint8(w>>4)&3, uint8(w)&0xF
	return nil
}

// SerializeTo writes the header.
func (h *FETH) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	p, err := b.PrependBytes(4)
	if err != nil {
		return err
	}
	binary.BigEndian.PutUint32(p, h.Reserved<<6|uint32(h.SEL&3)<<4|uint32(h.PLT&0xF))
	return nil
}

// ImmDt is immediate data (section 9.3.6).
type ImmDt struct {
	header
	Imm uint32
}

// LayerType returns LayerTypeImmDt.
func (h *ImmDt) LayerType() gopacket.LayerType { return LayerTypeImmDt }

// CanDecode returns LayerTypeImmDt.
func (h *ImmDt) CanDecode() gopacket.LayerClass { return LayerTypeImmDt }

// DecodeFromBytes reads the header.
func (h *ImmDt) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if err := h.extension(data, 4, packet.HasImmDt, "ImmDt", df); err != nil {
		return err
	}
	h.Imm = binary.BigEndian.Uint32(data)
	return nil
}

// SerializeTo writes the header.
func (h *ImmDt) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	p, err := b.PrependBytes(4)
	if err != nil {
		return err
	}
	binary.BigEndian.PutUint32(p, h.Imm)
	return nil
}

// IETH is the invalidate extended transport header (section 9.3.7).
type IETH struct {
	header
	RKey uint32
}

// LayerType returns LayerTypeIETH.
func (h *IETH) LayerType() gopacket.LayerType { return LayerTypeIETH }

// CanDecode returns LayerTypeIETH.
func (h *IETH) CanDecode() gopacket.LayerClass { return LayerTypeIETH }

// DecodeFromBytes reads the header.
func (h *IETH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if err := h.extension(data, 4, packet.HasIETH, "IETH", df); err != nil {
		return err
	}
	h.RKey = binary.BigEndian.Uint32(data)
	return nil
}

// SerializeTo writes the header.
func (h *IETH) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	p, err := b.PrependBytes(4)
	if err != nil {
		return err
	}
	binary.BigEndian.PutUint32(p, h.RKey)
	return nil
}
