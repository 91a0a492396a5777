package exercise

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"ibwitness/internal/yamlfile"
	"ibwitness/link"
	"ibwitness/packet"
)

// nowhere is where a packet goes that does not say it: no address of anybody.
var nowhere = packet.LinkAddr(0xFFFF, 0)

var fills = map[string]fill{"count": counting, "zeros": zeros, "ones": ones, "random": random}

// end is what ends a packet in place of EGP.
type end struct {
	bad bool
	end link.End
}

var ends = map[string]end{"egp": {}, "ebp": {bad: true}, "sdp": {true, link.SDP}, "slp": {true, link.SLP}, "invalid": {true, link.Invalid}}

// packet takes a packet, of a kind.
func (p *parser) packet(n *yaml.Node, kind string, partner bool) *Packet {
	x := &Packet{Line: n.Line, To: p.to, VL: -1, Count: 1}
	var ending end
	set := map[string]setter{
		"credits": yamlfile.Choice(&p.Reader, &x.Ignore, map[string]bool{"keep": false, "ignore": true}), "gap": p.Duration(&x.Gap),
		"state": yamlfile.Choice(&p.Reader, &x.Early, map[string]bool{"keep": false, "ignore": true}),
		"count": yamlfile.Number(&p.Reader, &x.Count, 1, 1e9), "end": yamlfile.Choice(&p.Reader, &ending, ends),
	}
	if kind == "flow" {
		x.Form = flow
		set["flow"], set["lpcrc"] = p.flow(&x.Flow), p.checksum(&x.VCRC, 16)
	} else {
		p.dataKeys(x, kind, set)
	}
	p.Fields(n, "a packet", set)
	x.Bad, x.End = ending.bad, ending.end
	if !p.Failed() {
		p.referPacket(x, partner)
	}
	return x
}

// dataKeys are the keys of all but link packets.
func (p *parser) dataKeys(x *Packet, kind string, set map[string]setter) {
	set["cut"] = yamlfile.Number(&p.Reader, &x.Cut, 1, mostPayload)
	set["vl"] = yamlfile.Number(&p.Reader, &x.VL, 0, 15)
	if kind == "bytes" {
		x.Form = asBytes
		set["bytes"], set["as"] = p.hex(&x.Payload), yamlfile.Choice(&p.Reader, &x.Link, map[string]bool{"data": false, "link": true})
		delete(set, "vl")
		return
	}
	for name, f := range map[string]setter{
		"to": p.address(&x.To), "from": p.address(&x.From), "to_mac": p.mac(&x.ToMAC), "from_mac": p.mac(&x.FromMAC), "dgid": p.address(&x.DGID), "sgid": p.address(&x.SGID),
		"set": p.fields(x), "icrc": p.checksum(&x.ICRC, 32), "vcrc": p.checksum(&x.VCRC, 16),
		"length": p.value(&x.Length, mostPayload), "payload": p.payload(x),
	} {
		set[name] = f
	}
	switch kind {
	case "op":
		set["op"] = p.opcode(&x.Opcode)
	case "mad":
		x.Form = management
		set["mad"] = p.mad(x)
		delete(set, "length")
		delete(set, "payload")
	case "raw":
		x.Form = raw
		set["raw"] = p.raw(x, "ether_type")
		delete(set, "icrc")
	case "ipv6":
		x.Form = rawIPv6
		set["ipv6"] = p.raw(x, "nxt_hdr")
		delete(set, "icrc")
	}
}

// opcode takes an opcode by name or number.
func (p *parser) opcode(to *packet.Opcode) setter {
	return func(n *yaml.Node) {
		s, ok := p.Scalar(n, "an opcode")
		if !ok {
			return
		}
		o, known := opcodes[s]
		if v, number := yamlfile.ParseNumber(s, 0, 255); number {
			o, known = packet.Opcode(v), true
		}
		if !known {
			p.Fail(n.Line, "%q is no opcode: give a name such as rc_send_only, ud_send_only_imm or cnp, or a number up to 255; docs/exercise.md lists them", s)
		}
		*to = o
	}
}

// raw takes the number that says what a raw packet carries.
func (p *parser) raw(x *Packet, field string) setter {
	return func(n *yaml.Node) {
		id := fieldNames[field]
		f := setField{id: id}
		p.value(&f.value, 1<<id.Bits()-1)(n)
		x.Set = append(x.Set, f)
	}
}

// payload takes where its bytes come from.
func (p *parser) payload(x *Packet) setter {
	return func(n *yaml.Node) {
		if f, ok := fills[n.Value]; ok && n.Kind == yaml.ScalarNode {
			x.Fill = f
			return
		}
		x.Fill = asGiven
		p.hex(&x.Payload)(n)
	}
}

// fields takes fields of the packet and what they are to be.
func (p *parser) fields(x *Packet) setter {
	set := map[string]setter{}
	for name, id := range fieldNames {
		set[name] = func(n *yaml.Node) {
			f := setField{id: id}
			most := ^uint64(0)
			if id.Bits() < 64 {
				most = 1<<id.Bits() - 1
			}
			p.value(&f.value, most)(n)
			x.Set = append(x.Set, f)
		}
	}
	return func(n *yaml.Node) { p.Fields(n, "set", set) }
}

// checksum takes right, wrong, or a CRC as it is on the wire.
func (p *parser) checksum(to *checksum, bits int) setter {
	return func(n *yaml.Node) {
		s, ok := p.Scalar(n, "right, wrong or a number")
		if !ok {
			return
		}
		switch v, err := strconv.ParseUint(s, 0, bits); {
		case s == "right":
		case s == "wrong":
			to.wrong = true
		case err == nil:
			to.given, to.value = true, uint32(v)
		default:
			p.Fail(n.Line, "%q: give right, wrong, or the CRC in the order of its bytes on the wire, such as 0x1234", s)
		}
	}
}

// flow takes a flow control packet.
func (p *parser) flow(f *Flow) setter {
	return func(n *yaml.Node) {
		p.Fields(n, "flow", map[string]setter{
			"vl": yamlfile.Number(&p.Reader, &f.VL, 0, 15), "fctbs": p.count(&f.FCTBS), "fccl": p.count(&f.FCCL),
			"op": func(n *yaml.Node) {
				f.OpSet = true
				yamlfile.Number(&p.Reader, &f.Op, 0, 15)(n)
			},
		})
	}
}

// count takes a count of blocks: a number, or +n or -n from the right one.
func (p *parser) count(to *count) setter {
	return func(n *yaml.Node) {
		s, ok := p.Scalar(n, "a count of blocks")
		if !ok {
			return
		}
		v, err := strconv.ParseInt(s, 0, 16)
		relative := strings.HasPrefix(s, "+") || strings.HasPrefix(s, "-")
		if err != nil || v >= link.Modulus || v <= -link.Modulus {
			p.Fail(n.Line, "%q: give a count of blocks up to %d, or +n or -n to count from the right one", s, link.Modulus-1)
		}
		*to = count{given: !relative, n: int(v)}
	}
}

// referPacket checks that a packet goes somewhere, and what the wire has.
func (p *parser) referPacket(x *Packet, partner bool) {
	switch native := p.script.Link != nil; {
	case !native && (x.Form == flow || x.Form == raw || x.Form == rawIPv6 || x.Link):
		p.Fail(x.Line, "link packets and raw packets are those of a native link: give link: in place of ethernet:")
	case !native && (x.offLink() || x.Early || x.VL >= 0 || !x.DGID.IsZero() || !x.SGID.IsZero()):
		p.Fail(x.Line, "credits, state, vl, end, vcrc, dgid and sgid are those of a native link: remove them, or give link: in place of ethernet:")
	case native && (x.ToMAC != [6]byte{} || x.FromMAC != [6]byte{}):
		p.Fail(x.Line, "to_mac and from_mac are those of Ethernet: remove them")
	case native && partner && (x.offLink() || x.Form == flow || x.Form == asBytes || x.Early || x.Cut > 0):
		p.Fail(x.Line, "the partner keeps to the rules of the link: it sends data packets, on its credits, with a right VCRC")
	case x.Form == flow || x.Form == asBytes:
	default:
		p.referAddresses(x, partner, native)
	}
}

// offLink reports whether a packet is one that a right port of a native link does not send.
func (x *Packet) offLink() bool { return x.Ignore || x.Bad || x.VCRC != checksum{} }

// referAddresses checks where a packet comes from and goes to.
func (p *parser) referAddresses(x *Packet, partner, native bool) {
	switch {
	case x.To == nowhere:
		p.Fail(x.Line, "a packet without a destination: give to: here or in the stream, such as lid:2 or 10.0.0.2")
	case p.foreign(x.To) || !x.From.IsZero() && p.foreign(x.From):
		p.Fail(x.Line, "to and from are LIDs on a native link, such as lid:2, and IPv4 or IPv6 addresses on Ethernet")
	case !native && x.To.IsIPv4() != p.source(x, partner).IsIPv4() && !p.script.Ethernet.RoCEv1:
		p.Fail(x.Line, "from %v to %v: give addresses that are both IPv4, or both IPv6", p.source(x, partner), x.To)
	case !x.DGID.IsZero() && x.DGID.IsLID() || !x.SGID.IsZero() && x.SGID.IsLID():
		p.Fail(x.Line, "dgid and sgid are GIDs, such as fe80::2")
	case x.Form == rawIPv6 && (x.DGID.IsZero() || x.SGID.IsZero()):
		p.Fail(x.Line, "a raw IPv6 packet has addresses: give sgid: and dgid:")
	}
}

// source is the address that a packet on Ethernet comes from.
func (p *parser) source(x *Packet, partner bool) packet.Addr {
	e := p.script.Ethernet
	switch {
	case !x.From.IsZero():
		return x.From
	case partner:
		return e.Partner.Addr
	}
	return e.Exerciser.Addr
}
