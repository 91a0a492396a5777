package layers

import (
	"encoding/binary"

	"github.com/google/gopacket"

	"ibwitness/packet"
)

// RDETH is the reliable datagram extended transport header (section 9.3.1).
type RDETH struct {
	header
	Reserved uint8
	EEC      uint32
}

// LayerType returns LayerTypeRDETH.
func (h *RDETH) LayerType() gopacket.LayerType { return LayerTypeRDETH }

// CanDecode returns LayerTypeRDETH.
func (h *RDETH) CanDecode() gopacket.LayerClass { return LayerTypeRDETH }

// DecodeFromBytes reads the header.
func (h *RDETH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if err := h.extension(data, 4, packet.HasRDETH, "RDETH", df); err != nil {
		return err
	}
	w := binary.BigEndian.Uint32(data)
	h.Reserved, h.EEC = uint8(w>>24), w&packet.PSNMask
	return nil
}

// SerializeTo writes the header.
func (h *RDETH) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	p, err := b.PrependBytes(4)
	if err != nil {
		return err
	}
	binary.BigEndian.PutUint32(p, uint32(h.Reserved)<<24|h.EEC&packet.PSNMask)
	return nil
}

// DETH is the datagram extended transport header (section 9.3.2).
type DETH struct {
	header
	QKey     uint32
	Reserved uint8
	SrcQP    uint32
}

// LayerType returns LayerTypeDETH.
func (h *DETH) LayerType() gopacket.LayerType { return LayerTypeDETH }

// CanDecode returns LayerTypeDETH.
func (h *DETH) CanDecode() gopacket.LayerClass { return LayerTypeDETH }

// DecodeFromBytes reads the header.
func (h *DETH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if err := h.extension(data, 8, packet.HasDETH, "DETH", df); err != nil {
		return err
	}
	h.QKey = binary.BigEndian.Uint32(data)
	w := binary.BigEndian.Uint32(data[4:])
	h.Reserved, h.SrcQP = uint8(w>>24), w&packet.PSNMask
	return nil
}

// SerializeTo writes the header.
func (h *DETH) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	p, err := b.PrependBytes(8)
	if err != nil {
		return err
	}
	binary.BigEndian.PutUint32(p, h.QKey)
	binary.BigEndian.PutUint32(p[4:], uint32(h.Reserved)<<24|h.SrcQP&packet.PSNMask)
	return nil
}

// XRCETH is the XRC extended transport header (annex A14).
type XRCETH struct {
	header
	Reserved uint8
	XRCSRQ   uint32
}

// LayerType returns LayerTypeXRCETH.
func (h *XRCETH) LayerType() gopacket.LayerType { return LayerTypeXRCETH }

// CanDecode returns LayerTypeXRCETH.
func (h *XRCETH) CanDecode() gopacket.LayerClass { return LayerTypeXRCETH }

// DecodeFromBytes reads the header.
func (h *XRCETH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if err := h.extension(data, 4, packet.HasXRCETH, "XRCETH", df); err != nil {
		return err
	}
	w := binary.BigEndian.Uint32(data)
	h.Reserved, h.XRCSRQ = uint8(w>>24), w&packet.PSNMask
	return nil
}

// SerializeTo writes the header.
func (h *XRCETH) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	p, err := b.PrependBytes(4)
	if err != nil {
		return err
	}
	binary.BigEndian.PutUint32(p, uint32(h.Reserved)<<24|h.XRCSRQ&packet.PSNMask)
	return nil
}
