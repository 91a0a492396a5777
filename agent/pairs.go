package agent

import (
	"ibwitness/packet"
	"ibwitness/qp"
)

// pairs holds the connections of a transport agent in slabs, by index, so that they never move.
type pairs struct {
	slabs [][]connection
	n     uint32
}

// connection is a pair of QPs and what only the report wants of it.
type connection struct {
	qp.Pair
	learned     Learned
	dead        bool           // merged into another
	rightful    uint32         // connection and end that misdirected seems to belong to
	misdirected *packet.Packet // first packet, where it is a response that another connection waits for
	firstTime   int64
	lastTime    int64
	firstFrame  uint64
	firstTap    uint16
}

// pair returns the pair of QPs of a connection, or nil of nil.
func (c *connection) pair() *qp.Pair {
	if c == nil {
		return nil
	}
	return &c.Pair
}

const slabSize = 64

func (s *pairs) at(i uint32) *connection { return &s.slabs[i/slabSize][i%slabSize] }

// add appends a connection.
func (s *pairs) add() (uint32, *connection) {
	if s.n == uint32(len(s.slabs))*slabSize {
		s.slabs = append(s.slabs, make([]connection, slabSize))
	}
	i := s.n
	s.n++
	return i, s.at(i)
}

// merge makes one connection of two directions that were followed apart: to, whose requests the responses of gone answer. psn is
// that of the response that tells.
func merge(to, gone *connection, psn packet.PSN) {
	a, b := &to.Ends[0], &to.Ends[1]
	heard, last := a.RQ.Heard, a.RQ.LastPSN
	b.SQ, a.RQ, b.Flow = gone.Ends[0].SQ, gone.Ends[1].RQ, gone.Ends[0].Flow
	a.Number, a.Numbered = gone.Ends[1].Number, true
	b.Sums = add(b.Sums, gone.Ends[0].Sums)
	a.Sums = add(a.Sums, gone.Ends[1].Sums)
	to.Lossy = to.Lossy || gone.Lossy
	to.Paired, to.learned = true, ByPSN
	if gone.firstTime < to.firstTime {
		to.firstTime, to.firstFrame, to.firstTap = gone.firstTime, gone.firstFrame, gone.firstTap
	}
	gone.dead = true
	a.SQ.Unpair(psn)
	switch oldest := b.SQ.Messages.Oldest(); {
	case heard:
		b.SQ.Unpair(last.Add(1))
	case oldest != nil:
		b.SQ.Unpair(oldest.First)
	default:
		b.SQ.Unpair(b.SQ.Next)
	}
}

func add(a, b qp.Sums) qp.Sums {
	return qp.Sums{
		Packets: a.Packets + b.Packets, Bytes: a.Bytes + b.Bytes, Messages: a.Messages + b.Messages,
		Retransmissions: a.Retransmissions + b.Retransmissions, Duplicates: a.Duplicates + b.Duplicates,
		NAKs: a.NAKs + b.NAKs, SequenceNAKs: a.SequenceNAKs + b.SequenceNAKs, RNRNAKs: a.RNRNAKs + b.RNRNAKs,
	}
}
