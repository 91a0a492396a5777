package ud

import (
	"cmp"
	"slices"

	"ibwitness/packet"
	"ibwitness/wqe"
)

// A queue pair of UD counts its PSN up by one for each datagram, to whichever queue pair that goes: PSNs that a capture does not hold were sent, and lost before the tap, or
// went where the tap does not see.

const (
	// mostSent is of how many pairs of queue pairs the PSNs are kept.
	mostSent = 1 << 14
	// mostLate is how far the PSN of a datagram may be before the newest: what is further begins again.
	mostLate = 1 << 12
)

// way is from which queue pair to which datagrams go.
type way struct{ from, to wqe.QP }

// sent is the PSNs of the datagrams that went one way.
type sent struct {
	since     int64
	first     packet.PSN
	high      packet.PSN
	icrc      uint32 // of the datagram at high
	psns      uint64 // from first to high
	datagrams uint64
	gaps      uint64
	longest   uint64
	frame     uint64 // of the first datagram after a gap
	newest    uint64 // of the newest one
	late      bool   // datagrams came after later ones: gaps were filled
	restarted bool   // PSNs went far back
}

// sequence notes the PSN of a datagram. Those of QP 0 and 1 are left out: several may send under one number.
func (v *Verifier) sequence(p *packet.Packet) {
	if v.Broken || p.SrcQP <= 1 {
		return
	}
	k := way{wqe.QP{Addr: p.Src, QPN: p.SrcQP}, wqe.QP{Addr: p.Dst, QPN: p.DestQP}}
	s := v.sent[k]
	switch {
	case s != nil:
		s.add(p)
	case len(v.sent) < mostSent:
		if v.sent == nil {
			v.sent = map[way]*sent{}
		}
		v.sent[k] = &sent{since: p.Time, first: p.PSN, high: p.PSN, icrc: p.ICRC, psns: 1, datagrams: 1}
	}
}

// add notes another datagram.
func (s *sent) add(p *packet.Packet) {
	d := p.PSN.Diff(s.high)
	switch {
	case d == 0 && p.ICRC == s.icrc:
		return // the network has made a copy
	case d < -mostLate:
		s.restarted = true
	case d <= 0:
		s.late = true
	case d > 1:
		n := uint64(d - 1)
		s.gaps, s.longest, s.newest = s.gaps+1, max(s.longest, n), p.Frame
		if s.gaps == 1 {
			s.frame = p.Frame
		}
	}
	if s.datagrams++; d > 0 {
		s.psns, s.high, s.icrc = s.psns+uint64(d), p.PSN, p.ICRC
	}
}

// Stream is the datagrams that a queue pair has sent, as far as they are known.
type Stream struct {
	From          wqe.QP
	To            []wqe.QP // in the order of their first
	PSNs          uint64   // from the lowest that was seen to the highest
	Datagrams     uint64   // that were seen
	Gaps, Longest uint64   // of PSNs that were not, and the most in a row; 0: not known, as datagrams went to several, or came late
	Frame, Newest uint64   // of the first and the newest datagram after one
	Restarted     bool     // PSNs went far back: which are missing is not known
}

// Missing is how many PSNs were not seen.
func (s *Stream) Missing() uint64 { return s.PSNs - min(s.PSNs, s.Datagrams) }

// Streams returns what was seen by verifiers that share the work of a run, in the order of the first datagrams.
func Streams(all ...*Verifier) (list []Stream) {
	var ways []sentWay
	for _, v := range all {
		for k, s := range v.sent {
			ways = append(ways, sentWay{k, s})
		}
	}
	slices.SortFunc(ways, func(a, b sentWay) int {
		return cmp.Or(cmp.Compare(a.since, b.since), compare(a.from, b.from), compare(a.to, b.to))
	})
	of := map[wqe.QP][]sentWay{}
	for _, w := range ways {
		of[w.from] = append(of[w.from], w)
	}
	for _, w := range ways {
		if own := of[w.from]; own[0].way == w.way {
			list = append(list, stream(own))
		}
	}
	return list
}

type sentWay struct {
	way
	*sent
}

// stream joins what one queue pair sent to others.
func stream(ways []sentWay) Stream {
	s, low, high := Stream{From: ways[0].from}, 0, 0
	for _, w := range ways {
		first := w.first.Diff(ways[0].first)
		low, high = min(low, first), max(high, first+int(w.psns)-1)
		s.To, s.Datagrams, s.Restarted = append(s.To, w.to), s.Datagrams+w.datagrams, s.Restarted || w.restarted
	}
	if s.PSNs = uint64(high - low + 1); len(ways) == 1 && !ways[0].late {
		w := ways[0]
		s.Gaps, s.Longest, s.Frame, s.Newest = w.gaps, w.longest, w.frame, w.newest
	}
	return s
}

func compare(a, b wqe.QP) int { return cmp.Or(a.Addr.Compare(b.Addr), cmp.Compare(a.QPN, b.QPN)) }
