package planted

import (
	"encoding/binary"

	"ibwitness/packet"
)

// area is where the message of a management datagram begins.
const area = 24

// put writes bytes into a management datagram.
func put(at int, b ...byte) Plant { return Set(poke(at, b...)) }

func poke(at int, b ...byte) func(p *packet.Packet) {
	return func(p *packet.Packet) { copy(p.Payload[at:], b) }
}

// flip inverts the lowest bit of a byte of a management datagram.
func flip(at int) Plant { return Set(func(p *packet.Packet) { p.Payload[at] ^= 1 }) }

// insertMessage is Insert of a message, without the AckReq that soft-RoCE sets in datagrams too.
func insertMessage(from int, ns int64, change func(p *packet.Packet)) Plant {
	return Insert(from, ns, plainly(change))
}

func plainly(change func(p *packet.Packet)) func(p *packet.Packet) {
	return func(p *packet.Packet) {
		p.AckReq = false
		if change != nil {
			change(p)
		}
	}
}

// turned makes another message of one with the same communication IDs: an attribute, and what follows the IDs.
func turned(attribute byte, b ...byte) func(p *packet.Packet) {
	return func(p *packet.Packet) {
		p.Payload[17] = attribute
		clear(p.Payload[area+8:])
		copy(p.Payload[area+8:], b)
	}
}

// swapIDs exchanges the two communication IDs of a message.
func swapIDs(p *packet.Packet) {
	local := binary.BigEndian.Uint32(p.Payload[area:])
	copy(p.Payload[area:], p.Payload[area+4:area+8])
	binary.BigEndian.PutUint32(p.Payload[area+4:], local)
}

// fromPeer lets the receiver of a packet send it.
func fromPeer(p *packet.Packet) {
	p.Src, p.Dst = p.Dst, p.Src
	p.AckReq = false
}

// rejects makes a REJ of the REP of frame 6: its sender refuses the REQ for a reason, with so many bytes of additional information.
func rejects(message, reason, info byte) func(p *packet.Packet) {
	return turned(0x12, message<<6, info<<1, 0, reason)
}

// exchangeFaults are faults in the exchange itself: frame 3 is the REQ of fd77::1, 6 the REP of fd77::2, 7 the RTU, 128 the DREQ of fd77::1, 129
// the DREP. The CM response timeouts are 4.3 s, with 15 repetitions; the local ACK timeout is 2.1 s, the target ACK delay 134 ms.
var exchangeFaults = []fault{
	{"class version 1 of the RTU", 7, put(2, 1), "CM-FMT-001", "VV", "", 2, ""},
	{"method Get of the DREP", 129, put(3, 1), "CM-FMT-001", "VV", "", 2, ""},
	{"reserved attribute of the RTU", 7, put(17, 0x30), "CM-FMT-002", "VV", "", 2, ""},
	{"DREQ of 200 bytes", 128, Resize(200), "CM-FMT-003", "VV", "", 2, ""},
	{"reserved byte of the REQ", 3, put(area+4, 1), "CM-FMT-004", "VV", "", 0, ""},
	{"reserved bits of the REP", 6, Set(func(p *packet.Packet) { p.Payload[area+27] |= 1 }), "CM-FMT-004", "VV", "", 0, ""},
	{"attribute modifier of the DREQ", 128, put(23, 1), "CM-FMT-005", "VV", "", 0, ""},
	{"transaction ID of the RTU", 7, flip(15), "CM-TID-001", "VV", "", 0, ""},
	{"transaction ID of the DREP", 129, flip(15), "CM-TID-002", "VV", "", 1, ""},
	{"local communication ID 0 of the RTU", 7, put(area, 0, 0, 0, 0), "CM-ID-001", "VV", "", 2, ""},
	{"local communication ID of the DREP", 129, flip(area + 3), "CM-ID-001", "VV", "", 1, ""},
	{"remote communication ID of the RTU", 7, flip(area + 7), "CM-ID-002", "VV", "", 2, ""},
	{"remote communication ID of the DREQ", 128, flip(area + 7), "CM-ID-002", "VV", "", 1, ""},
	{"remote communication ID 0 of the RTU", 7, put(area+4, 0, 0, 0, 0), "CM-ID-002", "VV", "", 0, ""},
	{"remote communication ID 0 of the DREQ", 128, put(area+4, 0, 0, 0, 0), "CM-ID-002", "VV", "", 0, ""},
	{"remote communication ID of the DREP", 129, flip(area + 7), "CM-ID-002", "VV", "", 0, ""},
	{"remote communication ID of the REP", 6, flip(area + 7), "CM-ID-002", "VV", "", 0, ""},
	{"local communication ID of the DREQ", 128, flip(area + 3), "CM-ID-001", "VV", "", 0, ""},
	{"communication IDs of the RTU swapped", 7, Set(swapIDs), "CM-ID-001", "VV", "", 0, ""},
	{"communication IDs of the DREQ swapped", 128, Set(swapIDs), "CM-ID-001", "VV", "", 0, ""},
	{"communication IDs of the DREP swapped", 129, Set(swapIDs), "CM-ID-001", "VV", "", 0, ""},
	{"RTU of the passive side", 7, Set(fromPeer), "CM-SM-001", "VV", "peer", 0, ""},
	{"REP of the active side", 6, Set(fromPeer), "CM-SM-001", "VV", "peer", 0, ""},
	{"RTU of 252 bytes", 7, Resize(252), "CM-FMT-003", "VV", "", 1, ""},
	{"APR without a LAP", 20, insertMessage(6, 1e4, func(p *packet.Packet) { turned(0x1A)(p); p.Payload[15] ^= 1 }), "CM-TID-002", "UV", "fd77::2", 0, ""},
	{"DREP without a DREQ", 100, insertMessage(129, 1e4, nil), "CM-TID-002", "UV", "fd77::2", 2, ""},
	{"MRA of the active side before the REP", 3, insertMessage(7, 5e6, turned(0x11, 1<<6, 20<<3)), "CM-SM-006", "UV", "", 0, ""},
	{"MRA for a LAP that there is not", 20, insertMessage(6, 1e4, turned(0x11, 2<<6, 20<<3)), "CM-SM-006", "UV", "fd77::2", 0, ""},
	{"LAP with a GID that is none", 20, insertMessage(7, 1e4, turned(0x19, 0, 0, 0, 0, 0, 0, 0x5A)), "CM-REQ-011", "VV", "fd77::1", 0, ""},
	{"REJ of another communication ID", 3, insertMessage(6, 1e6, func(p *packet.Packet) { rejects(0, 28, 0)(p); p.Payload[area+7] ^= 1 }), "CM-ID-002", "VV", "peer", 0, ""},
	{"16 repetitions of the DREQ", 128, func(c *Capture, at int) {
		Shift(80e9)(c, 129)
		for i := range int64(16) {
			c.Accepted = []*Frame{c.insert(128, at, (i+1)*43e8, plainly(nil))}
		}
	}, "CM-SM-003", "UV", "", 1, ""},
	{"Q_Key of the REP", 6, flip(area + 11), "CM-REQ-013", "VV", "", 0, ""},
	{"EECN of the REP", 6, flip(area + 18), "CM-REQ-013", "VV", "", 0, ""},
	{"UC in the REQ", 3, On(Set(func(p *packet.Packet) { p.Payload[area+43] = p.Payload[area+43]&^6 | 2 }), 8), "BTH-004", "VV", "", 3, ""},
	{"RTU before the REP", 7, Swap(6), "CM-SM-001", "UV", "fd77::1", 1, ""},
	{"REQ again with other responder resources", 7, insertMessage(3, 5e6, poke(area+35, 9)), "CM-SM-002", "VV", "fd77::1", 1, ""},
	{"REQ again after 5 ms", 3, insertMessage(3, 5e6, nil), "CM-SM-004", "UV", "", 0, ""},
	{"DREQ again after 5 ms", 128, insertMessage(128, 5e6, nil), "CM-SM-004", "UV", "", 0, ""},
	{"REQ again although it allows no repetition", 3, func(c *Capture, at int) {
		Set(func(p *packet.Packet) { p.Payload[area+43], p.Payload[area+51] = 8<<3, 0 })(c, at)
		insertMessage(3, 3e6, nil)(c, at)
	}, "CM-SM-003", "UV", "", 2, ""},
	{"REP after ten seconds", 6, On(Shift(10e9), 3), "CM-SM-005", "UV", "", 0, ""},
	{"MRA after the REP", 6, insertMessage(6, 2e6, turned(0x11, 0, 20<<3)), "CM-SM-006", "UV", "", 0, ""},
	{"MRA of the passive side for its REP", 6, insertMessage(6, 2e6, turned(0x11, 1<<6, 20<<3)), "CM-SM-006", "VV", "", 0, ""},
	{"REP with another QP", 7, insertMessage(6, 2e6, func(p *packet.Packet) { p.Payload[area+14] ^= 1 }), "CM-SM-007", "VV", "peer", 0, ""},
	{"RTU not repeated for a duplicate REP", 7, func(c *Capture, at int) {
		Shift(20e9)(c, 8)
		c.Accepted = append(c.Accepted, c.insert(6, at, 5e9, plainly(nil)))
	}, "CM-SM-009", "UV", "", 0, ""},
	{"DREP after 100 s", 129, On(Shift(100e9), 128), "CM-SM-011", "UV", "", 0, ""},
	{"QP connected again 10 ms after the DREP", 3, At(129, insertMessage(3, 10e6, func(p *packet.Packet) { p.Payload[area+3] ^= 1; p.Payload[15] ^= 1 })), "CM-SM-012", "UV", "", 0, ""},
	{"ACK 5 ms after the DREP", 123, At(129, Insert(123, 5e6, nil)), "CM-SM-012", "UV", "", 1, ""},
	{"RTU after a REJ of the same side", 7, func(c *Capture, at int) {
		c.insert(7, 6, 1e6, plainly(rejects(1, 28, 0)))
		c.accept(7)
	}, "CM-SM-013", "UV", "", 1, ""},
	{"request of the passive side before its REP", 3, Insert(10, 5e6, nil), "CM-SM-016", "UV", "fd77::2", 0, ""},
	{"request 3 ms before the RTU", 8, func(c *Capture, at int) {
		f := c.Frame(7)
		f.Time = c.Frame(8).Time + 3e6
		Shift(4e6)(c, 9)
		Swap(8)(c, 7)
		c.Frame(7).Time, c.Frame(8).Time = c.Frame(8).Time, c.Frame(7).Time
		c.accept(7)
	}, "CM-SM-016", "UV", "", 0, ""},
	{"DREQ with another QP", 128, flip(area + 10), "CM-REQ-001", "VV", "", 1, ""},
	{"REQ again with another start PSN", 7, insertMessage(3, 1e6, func(p *packet.Packet) { p.Payload[area+46] ^= 1 }), "CM-REQ-002", "VV", "fd77::1", 0, ""},
	{"REQ again with another retry count", 7, insertMessage(3, 1e6, func(p *packet.Packet) { p.Payload[area+47] ^= 1 }), "CM-REQ-007", "VV", "fd77::1", 0, ""},
	{"path MTU code 6", 3, Set(func(p *packet.Packet) { p.Payload[area+50] = 6<<4 | p.Payload[area+50]&0xF }), "CM-REQ-003", "VV", "", 0, ""},
	{"reserved extended transport", 3, Set(func(p *packet.Packet) { p.Payload[area+43] |= 6; p.Payload[area+51] |= 3 }), "CM-REQ-004", "VV", "", 2, ""},
	{"P_Key 0x8000 of the REQ", 3, put(area+48, 0x80, 0), "CM-REQ-005", "VV", "fd77::1|fd77::2", 3, ""},
	{"initiator depth of the REP", 6, put(area+25, 5), "CM-REQ-006", "VV", "", 0, ""},
	{"multicast GID in the REQ", 3, put(area+72, 0xFF, 0x1E), "CM-REQ-010", "VV", "", 0, ""},
	{"half an alternate path", 3, put(area+96, 0, 1), "CM-REQ-011", "VV", "", 0, ""},
	{"RDC Exists on RC", 3, Set(func(p *packet.Packet) { p.Payload[area+50] |= 8 }), "CM-REQ-013", "VV", "", 0, ""},
	{"Subnet Local with a hop limit of 64", 3, Set(func(p *packet.Packet) { p.Payload[area+94] |= 8 }), "CM-REQ-014", "VV", "", 0, ""},
	{"failover 3", 6, Set(func(p *packet.Packet) { p.Payload[area+26] |= 6 }), "CM-REP-002", "VV", "", 0, ""},
	{"CA GUID 0 of the REP", 6, put(area+28, make([]byte, 8)...), "CM-REP-003", "VV", "", 0, ""},
	{"REJ without reason", 3, insertMessage(6, 1e6, rejects(0, 0, 0)), "CM-REJ-001", "VV", "peer", 2, ""},
	{"REJ of a REP by the passive side", 6, insertMessage(6, 1e6, rejects(1, 28, 0)), "CM-REJ-002", "VV", "", 1, ""},
	{"REJ with too much information", 3, insertMessage(6, 1e6, rejects(0, 28, 100)), "CM-REJ-003", "VV", "peer", 2, ""},
	{"REJ for its LID", 3, insertMessage(6, 1e6, rejects(0, 13, 0)), "CM-REJ-005", "VV", "peer", 2, ""},
	{"REJ for lack of an RTU with another GUID", 6, insertMessage(6, 1e6, func(p *packet.Packet) {
		rejects(2, 4, 8)(p)
		binary.BigEndian.PutUint64(p.Payload[area+12:], 77)
	}), "CM-SM-014", "VV", "", 1, ""},
	{"port 0 in the service ID", 3, put(area+14, 0, 0), "CM-IP-001", "VV", "", 0, ""},
	{"version 1 of the private data", 3, put(area+140, 0x10), "CM-IP-002", "VV", "", 0, ""},
	{"another address in the private data", 3, put(area+140+19, 9), "CM-IP-004", "VV", "", 0, ""},
	{"REP from QP 5", 6, Set(func(p *packet.Packet) { p.SrcQP = 5 }), "CM-ADR-001", "VV", "", 1, ""},
}

// sidrFaults are faults in the exchanges of a SIDR server: frames 3 and 4 are the SIDR_REQs of 10.77.0.1, 5 and 6 the SIDR_REPs.
var sidrFaults = []fault{
	{"P_Key 0 of the SIDR_REQ", 3, put(area+4, 0, 0), "CM-SID-003", "VV", "", 0, ""},
	{"SIDR_REP with another transaction", 5, put(15, 99), "CM-TID-002", "VV", "", 1, ""},
	{"SIDR_REP of another service", 5, flip(area + 19), "CM-SID-001", "VV", "", 0, ""},
	{"SIDR_REP to another request", 5, flip(area + 3), "CM-SID-001", "VV", "", 1, ""},
	{"SIDR_REP without QP", 5, put(area+8, 0, 0, 0), "CM-SID-001", "VV", "", 1, ""},
	{"reserved status of a SIDR_REP", 5, put(area+4, 6), "CM-SID-002", "VV", "", 0, ""},
	{"SIDR_REP in another partition", 5, Set(func(p *packet.Packet) { p.PKey = 0x8001 }), "CM-SID-003", "VV", "", 1, ""},
	{"IPv4 address with something before it", 3, put(area+16+4, 1), "CM-IP-003", "VV", "", 1, ""},
}

// wikiExchange are faults in the first exchange of IPoIB in connected mode: frame 7 is the REQ.
var wikiExchange = []fault{
	{"multicast LID in the REQ", 7, put(area+54, 0xC0, 1), "CM-REQ-009", "VV", "", 0, ""},
	{"permissive LIDs within the subnet", 7, put(area+52, 0xFF, 0xFF, 0xFF, 0xFF), "CM-REQ-009", "VV", "", 0, ""},
}
