package incident

import (
	"testing"

	"ibwitness/agent"
	"ibwitness/packet"
)

// toQPNs is a connection to a QPN of 10.0.0.2 that sends nothing, and others to those that it uses.
func toQPNs(qpn uint32, used []uint32) *agent.Result {
	a, b := packet.IPv4Addr([]byte{10, 0, 0, 1}), packet.IPv4Addr([]byte{10, 0, 0, 2})
	to := func(qpn uint32, packets uint64) (c agent.Connection) {
		c.Ends = [2]agent.End{{Addr: a, QPN: 7, QPNKnown: true, Packets: 1}, {Addr: b, QPN: qpn, QPNKnown: true, Packets: packets}}
		return c
	}
	r := &agent.Result{Connections: []agent.Connection{to(qpn, 0)}}
	for _, q := range used {
		r.Connections = append(r.Connections, to(q, 9))
	}
	return r
}

// TestSwappedQPN: a QPN that is far from those of its host, and near them with its bytes the other way round, is told; not one that is near them itself, is far from them either way, or where they
// are far from one another.
func TestSwappedQPN(t *testing.T) {
	for _, k := range []struct {
		qpn  uint32
		used []uint32
		want uint32 // 0: nothing is told
	}{
		{0x501200, []uint32{0x1241, 0x1251}, 0x1250},
		{0x5012, []uint32{0x1241, 0x1251}, 0x1250},
		{0x1252, []uint32{0x1241, 0x1251}, 0},
		{0x501300, []uint32{0x1241, 0x1251}, 0},
		{0x501200, []uint32{0x1241, 0x91251}, 0},
		{0x501200, nil, 0},
	} {
		r := toQPNs(k.qpn, k.used)
		if got, _, _, ok := newTeller(r).swappedQPN(&r.Connections[0], 0); got != k.want || ok != (k.want != 0) {
			t.Errorf("0x%06x among %x: 0x%06x, %t", k.qpn, k.used, got, ok)
		}
	}
}

// TestSwappedQPN32: a QPN that is what 24 bits hold of one near those of its host with 4 bytes the other way round is told; not one whose lowest byte is not 0, one in their midst, or one that is near none.
func TestSwappedQPN32(t *testing.T) {
	for _, k := range []struct {
		qpn  uint32
		used []uint32
		want uint32 // 0: nothing is told
	}{
		{0x010000, []uint32{0x1d3, 0x1d4}, 0x100},
		{0x340200, []uint32{0x23410, 0x23422}, 0x23400},
		{0x010001, []uint32{0x1d3, 0x1d4}, 0},
		{0x010000, []uint32{0x2d3, 0x2d4}, 0},
		{0x010000, []uint32{0xfff0, 0x10010}, 0},
		{0x010000, nil, 0},
	} {
		r := toQPNs(k.qpn, k.used)
		if got, _, _, ok := newTeller(r).swappedQPN32(&r.Connections[0], 0); ok != (k.want != 0) || ok && got != k.want {
			t.Errorf("0x%06x among %x: 0x%06x, %t", k.qpn, k.used, got, ok)
		}
	}
}

// TestSharesKey: a P_Key that the peer sends with on other connections is no reason why nothing is answered; another one, or that of a limited member, may be.
func TestSharesKey(t *testing.T) {
	b := packet.IPv4Addr([]byte{10, 0, 0, 2})
	for _, k := range []struct {
		key, peers uint16
		want       bool
	}{{0xFFFF, 0xFFFF, true}, {0x8001, 0xFFFF, false}, {0x7FFF, 0x7FFF, false}} {
		end := func(key uint16) (e agent.End) {
			e.Addr, e.QPN, e.QPNKnown, e.Packets = b, 9, true, 5
			e.Path.Known, e.Path.PKey = true, key
			return e
		}
		x := end(k.key)
		if got := newTeller(&agent.Result{Connections: []agent.Connection{{Ends: [2]agent.End{{}, end(k.peers)}}}}).sharesKey(&x, b); got != k.want {
			t.Errorf("0x%04x against 0x%04x: %t", k.key, k.peers, got)
		}
	}
}

// TestCutQPN: a QPN of no more than 16 bits that has those of one near the QPNs of its host, which have more, is told; not one that is near them itself, one of
// more bits, one that is near none, or where they are far from one another.
func TestCutQPN(t *testing.T) {
	for _, k := range []struct {
		qpn  uint32
		used []uint32
		want uint32 // 0: nothing is told
	}{
		{0x4cb, []uint32{0xffec, 0x104ca}, 0x104cb},
		{0x4d5, []uint32{0x104ca, 0x104cd}, 0x104d5},
		{0xfff0, []uint32{0xffec, 0x104ca}, 0},
		{0x204cb, []uint32{0xffec, 0x104ca}, 0},
		{0x8cb, []uint32{0xffec, 0x104ca}, 0},
		{0x4cb, []uint32{0x1ec, 0x104ca}, 0},
		{0x4cb, nil, 0},
	} {
		r := toQPNs(k.qpn, k.used)
		if got, _, _, ok := newTeller(r).cutQPN(&r.Connections[0], 0); got != k.want || ok != (k.want != 0) {
			t.Errorf("0x%06x among %x: 0x%06x, %t", k.qpn, k.used, got, ok)
		}
	}
}
