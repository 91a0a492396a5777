package layers

import (
	"fmt"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"ibwitness/packet"
)

// layer is what all layers of this package are.
type layer interface {
	gopacket.Layer
	gopacket.DecodingLayer
	gopacket.SerializableLayer
}

// chain is what the layers of one packet know of each other.
type chain struct {
	expect gopacket.LayerType // the layer that Decode is asked for
	afterV gopacket.LayerType // what follows the VCRC, by LNH
	rest   packet.Has         // extension headers still to come, by the opcode
	pad    int
}

// extensionTypes is the order in which extension headers follow the BTH.
var extensionTypes = [...]struct {
	has packet.Has
	typ *gopacket.LayerType
}{
	{packet.HasRDETH, &LayerTypeRDETH},
	{packet.HasDETH, &LayerTypeDETH},
	{packet.HasXRCETH, &LayerTypeXRCETH},
	{packet.HasFETH, &LayerTypeFETH},
	{packet.HasRETH, &LayerTypeRETH},
	{packet.HasAtomicETH, &LayerTypeAtomicETH},
	{packet.HasAETH, &LayerTypeAETH},
	{packet.HasAtomicAckETH, &LayerTypeAtomicAckETH},
	{packet.HasImmDt, &LayerTypeImmDt},
	{packet.HasIETH, &LayerTypeIETH},
	{packet.HasCNP, &LayerTypeCNP},
}

// next is the layer after the BTH or an extension header.
func (c *chain) next() gopacket.LayerType {
	if c != nil && c.rest != 0 {
		for _, e := range extensionTypes {
			if c.rest&e.has != 0 {
				return *e.typ
			}
		}
	}
	return LayerTypeICRC
}

// Decode decodes the expected layer and what follows. It makes a chain a gopacket.Decoder.
func (c *chain) Decode(data []byte, p gopacket.PacketBuilder) error {
	l := c.layer(c.expect)
	if err := l.DecodeFromBytes(data, p); err != nil {
		return err
	}
	p.AddLayer(l)
	switch n := l.(type) {
	case *LRH:
		p.SetLinkLayer(n)
	case *GRH:
		p.SetNetworkLayer(n)
	}
	next := l.NextLayerType()
	if next >= firstLayerType && next < firstLayerType+layerTypes {
		c.expect = next
		return p.NextDecoder(c)
	}
	return p.NextDecoder(next)
}

func (c *chain) layer(t gopacket.LayerType) layer {
	h := header{chain: c}
	return [layerTypes]layer{
		&LRH{header: h},
		&GRH{header: h},
		&RWH{header: h},
		&BTH{header: h},
		&RDETH{header: h},
		&DETH{header: h},
		&XRCETH{header: h},
		&FETH{header: h},
		&RETH{header: h},
		&AtomicETH{header: h},
		&AETH{header: h},
		&AtomicAckETH{header: h},
		&ImmDt{header: h},
		&IETH{header: h},
		&CNP{header: h},
		&ICRC{header: h},
		&VCRC{header: h},
	}[t-firstLayerType]
}

// header is what all layers of this package hold.
type header struct {
	layers.BaseLayer
	chain *chain
}

// take splits data after the n bytes of a header.
func (h *header) take(data []byte, n int, name string, df gopacket.DecodeFeedback) error {
	if len(data) < n {
		df.SetTruncated()
		return fmt.Errorf("layers: %s has %d bytes, but only %d are left in the packet: capture it without a snap length", name, n, len(data))
	}
	h.Contents, h.Payload = data[:n:n], data[n:]
	return nil
}

// extension is take for an extension header.
func (h *header) extension(data []byte, n int, has packet.Has, name string, df gopacket.DecodeFeedback) error {
	if h.chain != nil {
		h.chain.rest &^= has
	}
	return h.take(data, n, name, df)
}

// truncated reports whether a layer before has found that the packet is cut off, so that its last bytes are no ICRC.
func truncated(df gopacket.DecodeFeedback) bool {
	switch d := df.(type) {
	case *gopacket.DecodingLayerParser:
		return d.Truncated
	case gopacket.Packet:
		return d.Metadata().Truncated
	}
	return false
}

// NextLayerType returns the layer that decodes what follows.
func (h *header) NextLayerType() gopacket.LayerType { return h.chain.next() }

// Headers is one of each layer, for a gopacket.DecodingLayerParser. Link joins them; after that a Headers must not be copied.
type Headers struct {
	LRH          LRH
	GRH          GRH
	RWH          RWH
	BTH          BTH
	RDETH        RDETH
	DETH         DETH
	XRCETH       XRCETH
	FETH         FETH
	RETH         RETH
	AtomicETH    AtomicETH
	AETH         AETH
	AtomicAckETH AtomicAckETH
	ImmDt        ImmDt
	IETH         IETH
	CNP          CNP
	ICRC         ICRC
	VCRC         VCRC

	chain chain
}

// Link joins the layers and adds them to the parser.
func (h *Headers) Link(parser *gopacket.DecodingLayerParser) {
	for _, f := range []struct {
		h *header
		d gopacket.DecodingLayer
	}{
		{&h.LRH.header, &h.LRH},
		{&h.GRH.header, &h.GRH},
		{&h.RWH.header, &h.RWH},
		{&h.BTH.header, &h.BTH},
		{&h.RDETH.header, &h.RDETH},
		{&h.DETH.header, &h.DETH},
		{&h.XRCETH.header, &h.XRCETH},
		{&h.FETH.header, &h.FETH},
		{&h.RETH.header, &h.RETH},
		{&h.AtomicETH.header, &h.AtomicETH},
		{&h.AETH.header, &h.AETH},
		{&h.AtomicAckETH.header, &h.AtomicAckETH},
		{&h.ImmDt.header, &h.ImmDt},
		{&h.IETH.header, &h.IETH},
		{&h.CNP.header, &h.CNP},
		{&h.ICRC.header, &h.ICRC},
		{&h.VCRC.header, &h.VCRC},
	} {
		f.h.chain = &h.chain
		parser.AddDecodingLayer(f.d)
	}
}
