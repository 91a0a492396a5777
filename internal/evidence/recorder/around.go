package recorder

import (
	"cmp"
	"slices"

	"ibwitness/fabricagent"
	"ibwitness/packet"
	"ibwitness/rule"
)

// direction is what the packets of one way of a connection have in common.
type direction struct {
	src, dst packet.Addr
	qpn      uint32 // destination
	from     uint32 // source QPN, which only datagrams name; 0: not known
}

// hash does not depend on from. Its low bits name the chain of a segment.
func (d *direction) hash() uint32 {
	h := (d.src.Lo ^ d.src.Hi*0xbf58476d1ce4e5b9) * 0x9e3779b97f4a7c15
	h = (h ^ h>>32 ^ d.dst.Lo ^ d.dst.Hi*0xbf58476d1ce4e5b9) * 0x94d049bb133111eb
	h = (h ^ h>>32 ^ uint64(d.qpn)) * 0x9e3779b97f4a7c15
	return uint32(h >> 32)
}

// has reports whether a frame is of the direction.
func (d *direction) has(f *fabricagent.Frame, p *packet.Packet) bool {
	return fabricagent.Decode(f, p).IsRDMA() && p.Src == d.src && p.Dst == d.dst && p.DestQP == d.qpn &&
		(d.from == 0 || p.Has&packet.HasDETH == 0 || p.SrcQP == d.from)
}

// position is the place of a frame among all that were kept.
type position struct {
	turn  uint64
	index int
}

func (a position) compare(b position) int {
	return cmp.Or(cmp.Compare(a.turn, b.turn), cmp.Compare(a.index, b.index))
}

type placed struct {
	position
	frame fabricagent.Frame
	proof bool // it is there only since it proves the finding
}

// Share of the frames around a finding that may come after it.
const afterPart = 4

// mostEvidence is how many frames that prove a finding are looked for.
const mostEvidence = 64

// Around returns up to n frames of both directions of the connection that a finding is about, in the order in which they came: that of the
// finding, up to n/4 after it, and as many as possible before it; and besides, wherever they are, the frames that prove it. There is none
// where the frame of the finding is neither kept nor held. It may be called from any goroutine; the frames are the caller's to read.
func (r *Recorder) Around(f *rule.Finding, n int) []fabricagent.Frame {
	if n <= 0 {
		return nil
	}
	list := r.around(f, n)
	if held := r.held.frames(f); held != nil {
		list = trimmed(merged(held, list), f, n)
	}
	out := make([]fabricagent.Frame, len(list))
	for i := range list {
		out[i] = list[i].frame
	}
	return out
}

// around is Around without what is held.
func (r *Recorder) around(f *rule.Finding, n int) []placed {
	if f.Frame == 0 {
		return nil
	}
	own, ok := r.locate(f.Tap, f.Frame)
	if !ok {
		return nil
	}
	ways := directions(f, &own.frame)
	list := r.after(ways, own.position, min(n/afterPart, n-1))
	list = append(list, r.before(ways, own.position, n-1-len(list))...)
	list = append(list, own)
	for _, number := range f.Evidence[:min(len(f.Evidence), mostEvidence)] {
		if slices.ContainsFunc(list, func(k placed) bool { return k.frame.Number == number && k.frame.Tap == f.Tap }) {
			continue
		}
		if k, ok := r.locate(f.Tap, number); ok {
			k.proof = true
			list = append(list, k)
		}
	}
	slices.SortFunc(list, func(a, b placed) int { return a.compare(b.position) })
	return list
}

// directions are those of the connection of a finding, and that of its frame.
func directions(f *rule.Finding, own *fabricagent.Frame) (ways []direction) {
	add := func(d direction) {
		if !slices.ContainsFunc(ways, func(k direction) bool { return k.src == d.src && k.dst == d.dst && k.qpn == d.qpn }) {
			ways = append(ways, d)
		}
	}
	for _, e := range [][2]*rule.Endpoint{{&f.Accused, &f.Peer}, {&f.Peer, &f.Accused}} {
		if from, to := e[0], e[1]; to.QPNKnown && !from.Addr.IsZero() && !to.Addr.IsZero() {
			d := direction{src: from.Addr, dst: to.Addr, qpn: to.QPN}
			if from.QPNKnown {
				d.from = from.QPN
			}
			add(d)
		}
	}
	var p packet.Packet
	if fabricagent.Decode(own, &p).IsRDMA() {
		add(direction{src: p.Src, dst: p.Dst, qpn: p.DestQP})
	}
	return ways
}

// each calls f with the segments that hold turns, from one to another, one after another while f returns true. It ends where one is gone.
func (r *Recorder) each(from, to uint64, f func(*segment) bool) {
	step := uint64(1)
	if from > to {
		step = ^uint64(0)
	}
	for turn := from; ; turn += step {
		s := r.segment(turn)
		s.mu.Lock()
		more := s.turn == turn && f(s)
		s.mu.Unlock()
		if !more || turn == to {
			return
		}
	}
}

// oldest is the first turn that may still be kept.
func (r *Recorder) oldest(newest uint64) uint64 {
	return newest - min(newest-1, uint64(len(r.segments)-1))
}

// locate finds a frame by its number.
func (r *Recorder) locate(tap uint16, number uint64) (found placed, ok bool) {
	newest := r.turn.Load()
	r.each(newest, r.oldest(newest), func(s *segment) bool {
		if number < s.min || number > s.max {
			return true
		}
		i := slices.IndexFunc(s.records, func(k record) bool { return k.number == number && k.tap == tap })
		if i >= 0 {
			found, ok = placed{position: position{s.turn, i}, frame: s.copied(i)}, true
		}
		return !ok
	})
	return found, ok
}

// chain calls f with the records between two places of a segment that are likely to be of a direction, the newest first, while it returns true.
func (s *segment) chain(d *direction, from, to int, f func(i int) bool) {
	tag := d.hash()
	for i := int(s.heads[tag%chains]) - 1; i >= from; i = int(s.records[i].before) - 1 {
		if i < to && s.records[i].tag == tag && !f(i) {
			return
		}
	}
}

// before returns the n last frames before a position, newest first.
func (r *Recorder) before(ways []direction, at position, n int) (list []placed) {
	var p packet.Packet
	var found []int
	newest := r.turn.Load()
	r.each(at.turn, min(r.oldest(newest), at.turn), func(s *segment) bool {
		found = found[:0]
		to := len(s.records)
		if s.turn == at.turn {
			to = at.index
		}
		for w := range ways {
			most := len(found) + n - len(list)
			s.chain(&ways[w], 0, to, func(i int) bool {
				if k := s.frame(i); len(found) < most && ways[w].has(&k, &p) {
					found = append(found, i)
				}
				return len(found) < most
			})
		}
		slices.SortFunc(found, func(a, b int) int { return b - a })
		for _, i := range found[:min(len(found), n-len(list))] {
			list = append(list, placed{position: position{s.turn, i}, frame: s.copied(i)})
		}
		return len(list) < n
	})
	return list
}

// after returns the n first frames after a position.
func (r *Recorder) after(ways []direction, at position, n int) (list []placed) {
	if n == 0 {
		return nil
	}
	var p packet.Packet
	var found []int
	r.each(at.turn, r.turn.Load(), func(s *segment) bool {
		found = found[:0]
		from := 0
		if s.turn == at.turn {
			from = at.index + 1
		}
		for w := range ways {
			s.chain(&ways[w], from, len(s.records), func(i int) bool {
				found = append(found, i)
				return true
			})
		}
		slices.Sort(found)
		found = slices.Compact(found)
		for _, i := range found {
			k := s.frame(i)
			if slices.ContainsFunc(ways, func(d direction) bool { return d.has(&k, &p) }) {
				list = append(list, placed{position: position{s.turn, i}, frame: s.copied(i)})
			}
			if len(list) == n {
				break
			}
		}
		return len(list) < n
	})
	return list
}
