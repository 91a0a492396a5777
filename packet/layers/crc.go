package layers

import (
	"encoding/binary"

	"github.com/google/gopacket"
)

// ICRC is the trailer of a transport packet (section 7.8.1), with the pad bytes before it. Its payload is what the trailer
// encloses: the payload of the packet.
type ICRC struct {
	header
	CRC uint32 // as it is on the wire, first byte in the low eight bits
	Pad []byte
}

// LayerType returns LayerTypeICRC.
func (c *ICRC) LayerType() gopacket.LayerType { return LayerTypeICRC }

// CanDecode returns LayerTypeICRC.
func (c *ICRC) CanDecode() gopacket.LayerClass { return LayerTypeICRC }

// NextLayerType returns LayerTypePayload.
func (c *ICRC) NextLayerType() gopacket.LayerType { return gopacket.LayerTypePayload }

// DecodeFromBytes reads the trailer at the end of data. Where the packet is cut off there is none: all of data is payload.
func (c *ICRC) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	c.CRC, c.Pad, c.Contents, c.Payload = 0, nil, nil, data
	if truncated(df) {
		return nil
	}
	pad := 0
	if c.chain != nil {
		pad = c.chain.pad
	}
	if err := c.take(data, pad+4, "the trailer of pad and ICRC", df); err != nil {
		return err
	}
	end, trail := len(data)-4-pad, len(data)-4
	c.Payload, c.Contents, c.Pad = data[:end:end], data[end:], data[end:trail:trail]
	c.CRC = binary.LittleEndian.Uint32(data[trail:])
	return nil
}

// SerializeTo writes the trailer after the payload. FixLengths sets Pad. The value of CRC is written as it is: Seal
// computes it.
func (c *ICRC) SerializeTo(b gopacket.SerializeBuffer, opts gopacket.SerializeOptions) error {
	if opts.FixLengths {
		c.Pad = make([]byte, PadCount(len(b.Bytes())))
	}
	t, err := b.AppendBytes(len(c.Pad) + 4)
	if err != nil {
		return err
	}
	copy(t, c.Pad)
	binary.LittleEndian.PutUint32(t[len(c.Pad):], c.CRC)
	return nil
}

// VCRC is the trailer of a packet on an InfiniBand link (section 7.8.2). Its payload is what it encloses: the packet from after the
// LRH through the ICRC.
type VCRC struct {
	header
	CRC uint16 // as it is on the wire, first byte in the low eight bits
}

// LayerType returns LayerTypeVCRC.
func (c *VCRC) LayerType() gopacket.LayerType { return LayerTypeVCRC }

// CanDecode returns LayerTypeVCRC.
func (c *VCRC) CanDecode() gopacket.LayerClass { return LayerTypeVCRC }

// NextLayerType returns what the LNH of the LRH says; LayerTypeBTH for a layer by itself.
func (c *VCRC) NextLayerType() gopacket.LayerType {
	if c.chain == nil || c.chain.afterV == gopacket.LayerTypeZero {
		return LayerTypeBTH
	}
	return c.chain.afterV
}

// DecodeFromBytes reads the trailer at the end of data.
func (c *VCRC) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if err := c.take(data, 2, "VCRC", df); err != nil {
		return err
	}
	end := len(data) - 2
	c.Payload, c.Contents = data[:end:end], data[end:]
	c.CRC = binary.LittleEndian.Uint16(c.Contents)
	return nil
}

// SerializeTo writes the trailer after the packet, with the value of CRC as it is: Seal computes it.
func (c *VCRC) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	t, err := b.AppendBytes(2)
	if err != nil {
		return err
	}
	binary.LittleEndian.PutUint16(t, c.CRC)
	return nil
}
