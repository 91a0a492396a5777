package fabricagent

import (
	"encoding/binary"

	"ibwitness/packet"
)

const (
	etherERSPAN  = 0x88be // types I and II
	etherERSPAN3 = 0x22eb

	erspan2Size = 8
	erspan3Size = 12
	// erspanTruncated is in the second half word of both types: the mirror kept only the beginning of the frame.
	erspanTruncated = 0x0400
)

// gre decodes what follows a GRE header (RFC 2784, RFC 2890): an Ethernet frame, IP, MPLS or a mirror copy. Source routes
// (RFC 1701) and version 1 (PPTP) carry no RDMA.
func gre(p *packet.Packet, b []byte, wire, depth int) Outcome {
	if len(b) < 4 {
		return short(b, wire)
	}
	if flags := binary.BigEndian.Uint16(b); flags&0x4087 != 0 {
		return NotRDMA
	}
	sequence := b[0] >> 4 & 1
	size := 4 + 4*int(b[0]>>7+b[0]>>5&1+sequence) // checksum, key and sequence number have four bytes each
	if len(b) < size {
		return short(b, wire)
	}
	t := binary.BigEndian.Uint16(b[2:])
	b, wire = b[size:], wire-size
	switch t {
	case etherERSPAN:
		if sequence == 0 {
			return ethernet(p, b, wire, depth) // type I has no header
		}
		return erspan2(p, b, wire, depth)
	case etherERSPAN3:
		return erspan3(p, b, wire, depth)
	default:
		return carried(p, b, wire, t, depth)
	}
}

// erspan2 decodes a mirror copy after an ERSPAN type II header (draft-foschiano-erspan).
func erspan2(p *packet.Packet, b []byte, wire, depth int) Outcome {
	if len(b) < erspan2Size {
		return short(b, wire)
	}
	if b[0]>>4 != 1 {
		return NotRDMA
	}
	wire -= erspan2Size
	if binary.BigEndian.Uint16(b[2:])&erspanTruncated != 0 {
		wire = unlimited
	}
	return ethernet(p, b[erspan2Size:], wire, depth)
}

// erspan3 decodes a mirror copy after an ERSPAN type III header (draft-foschiano-erspan).
func erspan3(p *packet.Packet, b []byte, wire, depth int) Outcome {
	if len(b) < erspan3Size {
		return short(b, wire)
	}
	if b[0]>>4 != 2 {
		return NotRDMA
	}
	truncated := binary.BigEndian.Uint16(b[2:])&erspanTruncated != 0
	last := binary.BigEndian.Uint16(b[10:]) // SGT is in bytes 8 and 9; P, frame type, hardware id, D, granularity, O
	size := erspan3Size
	if last&1 != 0 {
		size += 8 // platform specific subheader
	}
	if len(b) < size {
		return short(b, wire)
	}
	b, wire = b[size:], wire-size
	if truncated {
		wire = unlimited
	}
	switch last >> 10 & 0x1f {
	case 0:
		return ethernet(p, b, wire, depth)
	case 2:
		return network(p, b, wire, depth)
	}
	return NotRDMA
}
