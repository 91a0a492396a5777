package verifier_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ibwitness/packet"
)

// host is an endpoint of the scenarios: its number in its addresses, the QP that it uses when nothing else is said, and the PSN at
// which that QP starts.
type host struct {
	n     uint64
	qpn   uint32
	start packet.PSN
}

// hosts are the endpoints. M is a multicast group.
var hosts = map[string]host{
	"A": {1, 0x11, 100},
	"B": {2, 0x22, 500},
	"C": {3, 0x33, 900},
	"M": {9, packet.PSNMask, 0},
}

// encap is a way to carry packets.
type encap struct {
	name  string
	encap packet.Encap
	grh   bool
}

var encapByName = map[string]encap{
	"v4":  {"v4", packet.RoCEv2IPv4, false},
	"v6":  {"v6", packet.RoCEv2IPv6, false},
	"v1":  {"v1", packet.RoCEv1, false},
	"ib":  {"ib", packet.Native, false},
	"ibg": {"ibg", packet.Native, true},
	// Seen by a tap on the link between A and B.
	"link":  {"link", packet.Native, false},
	"linkg": {"linkg", packet.Native, true},
}

// addr is the address of a host: 10.0.0.n, fd00::n or LID n; of the group 239.0.0.9, ff1e::9 or LID 0xC009.
func (e encap) addr(h host) packet.Addr {
	group := h.qpn == packet.PSNMask
	switch {
	case e.encap == packet.Native && group:
		return packet.LIDAddr(0xC000 + uint16(h.n))
	case e.encap == packet.Native:
		return packet.LIDAddr(uint16(h.n))
	case e.encap == packet.RoCEv2IPv4 && group:
		return packet.IPv4Addr([]byte{239, 0, 0, byte(h.n)})
	case e.encap == packet.RoCEv2IPv4:
		return packet.IPv4Addr([]byte{10, 0, 0, byte(h.n)})
	}
	return gid(h)
}

// gid is the GID of a host, also beside a LID.
func gid(h host) packet.Addr {
	if h.qpn == packet.PSNMask {
		return packet.Addr{Hi: 0xff1e << 48, Lo: h.n}
	}
	return packet.Addr{Hi: 0xfd00 << 48, Lo: h.n}
}

// end is one side of a packet line: a host and its QP.
type end struct {
	name string
	host
}

// parseWay reads A>B, or A.0x12>B.0x23 for other QPs than the usual ones.
func parseWay(s string) (src, dst end, err error) {
	a, b, ok := strings.Cut(s, ">")
	if !ok {
		return src, dst, fmt.Errorf("%q is no direction: give A>B", s)
	}
	if src, err = parseEnd(a); err == nil {
		dst, err = parseEnd(b)
	}
	return src, dst, err
}

func parseEnd(s string) (e end, err error) {
	name, qpn, other := strings.Cut(s, ".")
	h, ok := hosts[name]
	if !ok {
		return e, fmt.Errorf("no host %q: give A, B, C or M", name)
	}
	if other {
		n, err := strconv.ParseUint(qpn, 0, 24)
		if err != nil {
			return e, fmt.Errorf("%q is no QPN", qpn)
		}
		h.qpn = uint32(n)
	}
	return end{name, h}, nil
}

// qpKey names the send queue of a QP towards a host.
type qpKey struct {
	src, dst string
	qpn      uint32
}

// sender is what a scenario remembers of a QP, to fill in what a line leaves out.
type sender struct {
	next     packet.PSN   // of the next request
	newest   packet.PSN   // of the newest request
	response packet.PSN   // of the newest response
	messages []message    // each once, in PSN order
	frame    []byte       // newest frame, for copy
	encap    packet.Encap // of it
	ipid     uint16
}

// message is a message that a request completes: the PSN of that request, and how many PSNs it takes.
type message struct {
	last packet.PSN
	span int
}

func (s *scenario) sender(src, dst end) *sender {
	k := qpKey{src.name, dst.name, src.qpn}
	if s.qps[k] == nil {
		s.qps[k] = &sender{next: src.start, newest: src.start, ipid: uint16(src.n) << 12}
	}
	return s.qps[k]
}

// completed is the MSN of a responder that has executed all messages of q up to psn.
func (q *sender) completed(psn packet.PSN) (n uint32) {
	for _, m := range q.messages {
		if !m.last.After(psn) {
			n++
		}
	}
	return n
}

// sent notes a request of span PSNs; ends says that it completes a message. What lies in a message that is known is that message, or
// the tail of that READ, retransmitted.
func (q *sender) sent(psn packet.PSN, span int, ends bool) {
	q.newest, q.next = psn, psn.Add(span)
	at := len(q.messages)
	for at > 0 && q.messages[at-1].last.After(psn) {
		at--
	}
	if !ends || at > 0 && psn.Before(q.messages[at-1].last.Add(q.messages[at-1].span)) {
		return
	}
	q.messages = slices.Insert(q.messages, at, message{psn, span})
}
