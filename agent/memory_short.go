package agent

import (
	"cmp"
	"math"
	"runtime"
	"slices"

	"ibwitness/rule"
)

// Forgotten is what a run has given up since memory was short, or there were very many findings that are alike.
type Forgotten struct {
	Connections uint64 // judged up to then, the longest idle ones; what they sent later was judged as of a connection that the capture joins
	Unlisted    uint64 // of them, those that are not in Result.Connections
	Findings    uint64 // that are not in Result.Findings, where others like them are
	Events      uint64 // likewise
}

// shortEvery is how many batches are read before it is asked again whether memory is short.
const shortEvery = 16

// mostGone is how many of the connections that were forgotten are listed.
const mostGone = 20_000

// fewPairs is how many connections take so little memory that none is forgotten.
const fewPairs = 1000

// memoryShort reports whether memory is short, and something must be forgotten.
func (e *engine) memoryShort() bool {
	if e.watch != nil || e.opt.Short == nil {
		return false
	}
	e.batches++
	return e.batches%shortEvery == 0 && e.opt.Short()
}

// mustPause reports whether the workers must stop for pause.
func (e *engine) mustPause() bool {
	e.short = e.short || e.memoryShort()
	return e.short || e.watch.due()
}

// pause does what needs all that was read to be verified.
func (e *engine) pause() {
	if e.watch.due() {
		e.watch.tick()
	}
	if e.short {
		e.short = false
		e.forgetIdle(e.clocks.last)
	}
}

// forgetIdle forgets the longest idle half of the connections, and findings like others, at time now.
func (e *engine) forgetIdle(now int64) {
	agents := make([]*Transport, len(e.shards))
	for i, s := range e.shards {
		t := s.t
		agents[i] = t
		t.table.Rest()
		t.table.Mark(now, math.MinInt64, math.MaxInt, false, t.table.Size().Connections >= fewPairs)
		opened := t.opened
		t.conclude(now)
		t.opened = opened // what waits for an answer now may get it yet
	}
	Reconcile(agents...)
	all := 0
	for _, t := range agents {
		for c := range t.table.All() {
			if c.Listed(true) {
				all++
			}
		}
	}
	e.forgotten.Connections += uint64(all)
	n := min(mostGone-len(e.gone), all)
	e.forgotten.Unlisted += uint64(all - n)
	if n > 0 {
		e.gone = append(e.gone, connections(agents, true, n, 0)...)
	}
	for _, t := range agents {
		t.forget()
		e.dropAlike(&t.Rec)
		if t.links != nil {
			e.dropAlike(&t.links.Rec)
		}
	}
	if e.completions != nil {
		e.dropAlike(&e.completions.rec)
	}
	runtime.GC() // else what was given up takes memory until the collector comes by, which a busy machine may delay
}

// dropAlike drops findings like others.
func (e *engine) dropAlike(r *rule.Recorder) {
	findings, events := r.Thin()
	e.forgotten.Findings += findings
	e.forgotten.Events += events
}

// listed adds the connections that were forgotten.
func (r *Result) listed(gone []Connection) {
	if len(gone) == 0 {
		return
	}
	r.Connections = slices.Insert(r.Connections, 0, gone...)
	slices.SortStableFunc(r.Connections, func(a, b Connection) int {
		return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.FirstTap, b.FirstTap), cmp.Compare(a.FirstFrame, b.FirstFrame))
	})
}
