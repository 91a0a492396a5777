package agent

import (
	"ibwitness/rule"
	"ibwitness/wqe"
)

// index finds findings by what they are about, while one-way connections are compared with them: there may be very many of both. None is taken out of the list
// meanwhile.
type index struct {
	frames map[indexFrame][]int // those that are no events
	gaps   map[indexGap][]int   // those that a PSN is missing
	gone   map[int]bool         // those that were taken back
}

type indexFrame struct {
	tap   uint16
	frame uint64
}

// indexGap is a PSN that is missing, and the accused or its peer.
type indexGap struct {
	qp  wqe.QP
	gap rule.Gap
}

// fill takes the findings that were made so far, where it has none.
func (x *index) fill(r *rule.Recorder) {
	if x.frames != nil {
		return
	}
	x.frames, x.gaps, x.gone = map[indexFrame][]int{}, map[indexGap][]int{}, map[int]bool{}
	for i := range r.Findings {
		x.add(r, i)
	}
}

// add takes finding i.
func (x *index) add(r *rule.Recorder, i int) {
	f := &r.Findings[i]
	if f.Class == rule.Event {
		return
	}
	k := indexFrame{f.Tap, f.Frame}
	x.frames[k] = append(x.frames[k], i)
	if f.Gap == 0 {
		return
	}
	for _, e := range [2]rule.Endpoint{f.Accused, f.Peer} {
		k := indexGap{wqe.QP{Addr: e.Addr, QPN: e.QPN}, f.Gap}
		x.gaps[k] = append(x.gaps[k], i)
	}
}

// end has what was taken back leave the list, and forgets everything.
func (x *index) end(r *rule.Recorder) {
	r.RemoveAll(x.gone)
	*x = index{}
}
