package agent

import (
	"iter"
	"math/bits"

	"ibwitness/agent/internal/connection"
	"ibwitness/internal/keyed"
	"ibwitness/packet"
	"ibwitness/wqe"
)

// oneWayTables are the connections of which only one direction was seen: by the QP that they go to, and by their source and the QPN.
type oneWayTables struct{ to, from oneWayTable }

type oneWay struct {
	t *Transport
	*connection.Connection
}

// isOneWay reports whether a connection that leaves is one of which only one direction was seen.
func isOneWay(c *connection.Connection) bool {
	return c.Leaving() && !c.Dead() && !c.Paired && c.PairedBy != connection.ByCM && c.Ends[1].Numbered && c.Ends[0].Packets() > 0
}

// mostOneWay is of up to how many one-way connections one may be a packet with a wrong address. More of them show a QPN that is usual in the network.
const mostOneWay = 16

// oneWayTable finds one-way connections by a QP: open addressing, at most half full.
type oneWayTable struct {
	slots []oneWaySlot
	list  []listedOneWay
}

type oneWaySlot struct {
	key         wqe.QP
	n           uint32 // how many there are, and one more where there are too many
	first, last uint32 // of list
}

type listedOneWay struct {
	oneWay
	next uint32 // in list, of the same QP
}

// newOneWayTable makes room for n connections.
func newOneWayTable(n int) oneWayTable {
	return oneWayTable{make([]oneWaySlot, 1<<bits.Len(uint(2*n))), make([]listedOneWay, 0, n)}
}

// slot returns the slot of a QP, or the empty one where it belongs.
func (m *oneWayTable) slot(k wqe.QP) *oneWaySlot {
	mask := uint64(len(m.slots) - 1)
	for i := keyed.Four(k.Addr.Hi, k.Addr.Lo, uint64(k.QPN), 0); ; i++ {
		if s := &m.slots[i&mask]; s.n == 0 || s.key == k {
			return s
		}
	}
}

func (m *oneWayTable) add(a packet.Addr, x oneWay) {
	k := wqe.QP{Addr: a, QPN: x.Ends[1].Number}
	s := m.slot(k)
	if s.n > mostOneWay {
		return
	}
	at := uint32(len(m.list))
	m.list = append(m.list, listedOneWay{oneWay: x})
	if s.n == 0 {
		s.key, s.first = k, at
	} else {
		m.list[s.last].next = at
	}
	s.n, s.last = s.n+1, at
}

// of returns the one-way connections of a QP, or none where there are too many.
func (m *oneWayTable) of(a packet.Addr, qpn uint32) iter.Seq[oneWay] {
	return func(yield func(oneWay) bool) {
		s := m.slot(wqe.QP{Addr: a, QPN: qpn})
		if s.n > mostOneWay {
			return
		}
		for i, n := s.first, s.n; n > 0; i, n = m.list[i].next, n-1 {
			if !yield(m.list[i].oneWay) {
				return
			}
		}
	}
}
