package agent

import (
	"iter"
	"math/bits"

	"ibwitness/agent/internal/connection"
	"ibwitness/internal/keyed"
	"ibwitness/packet"
	"ibwitness/wqe"
)

// strangers are the connections of which only one direction was seen: by the QP that they go to, and by their source and the QPN.
type strangers struct{ to, from strangerTable }

type stranger struct {
	t *Transport
	*connection.Connection
}

// strange reports whether a connection that leaves is one of which only one direction was seen.
func strange(c *connection.Connection) bool {
	return c.Leaving && !c.Dead && !c.Paired && c.Learned != connection.ByCM && c.Ends[1].Numbered && c.Ends[0].Sums.Packets > 0
}

// mostStrangers is of up to how many strangers one may be a packet with a wrong address. More of them show a QPN that is usual in the network.
const mostStrangers = 16

// strangerTable finds strangers by a QP: open addressing, at most half full.
type strangerTable struct {
	slots []strangerSlot
	list  []listedStranger
}

type strangerSlot struct {
	key         wqe.QP
	n           uint32 // how many there are, and one more where there are too many
	first, last uint32 // of list
}

type listedStranger struct {
	stranger
	next uint32 // in list, of the same QP
}

// newStrangerTable makes room for n strangers.
func newStrangerTable(n int) strangerTable {
	return strangerTable{make([]strangerSlot, 1<<bits.Len(uint(2*n))), make([]listedStranger, 0, n)}
}

// slot returns the slot of a QP, or the empty one where it belongs.
func (m *strangerTable) slot(k wqe.QP) *strangerSlot {
	mask := uint64(len(m.slots) - 1)
	for i := keyed.Four(k.Addr.Hi, k.Addr.Lo, uint64(k.QPN), 0); ; i++ {
		if s := &m.slots[i&mask]; s.n == 0 || s.key == k {
			return s
		}
	}
}

func (m *strangerTable) add(a packet.Addr, x stranger) {
	k := wqe.QP{Addr: a, QPN: x.Ends[1].Number}
	s := m.slot(k)
	if s.n > mostStrangers {
		return
	}
	at := uint32(len(m.list))
	m.list = append(m.list, listedStranger{stranger: x})
	if s.n == 0 {
		s.key, s.first = k, at
	} else {
		m.list[s.last].next = at
	}
	s.n, s.last = s.n+1, at
}

// of returns the strangers of a QP, or none where there are too many.
func (m *strangerTable) of(a packet.Addr, qpn uint32) iter.Seq[stranger] {
	return func(yield func(stranger) bool) {
		s := m.slot(wqe.QP{Addr: a, QPN: qpn})
		if s.n > mostStrangers {
			return
		}
		for i, n := s.first, s.n; n > 0; i, n = m.list[i].next, n-1 {
			if !yield(m.list[i].stranger) {
				return
			}
		}
	}
}
