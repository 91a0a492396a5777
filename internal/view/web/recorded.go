package web

import (
	"slices"
	"sync"

	"ibwitness/fabricagent"
	"ibwitness/internal/view/ladder"
	"ibwitness/rule"
)

// Recorder keeps the latest frames of a run that goes on.
type Recorder interface {
	// Around returns up to n frames of the connection of a finding around it, and besides those that prove it, in the order in which they came.
	Around(f *rule.Finding, n int) []fabricagent.Frame
}

const (
	keptLadders  = 2000 // findings whose frames are kept for good
	waiting      = 512  // findings whose frames are still to be fetched
	eachInMinute = 5    // findings of a rule and accused endpoint whose frames are fetched in a minute
)

// Recorded finds frames of a run that goes on. As the recorder soon forgets, the frames of the first of those that are listed, of each rule and accused
// endpoint in a minute, are fetched as soon as they are told.
type Recorded struct {
	recorder Recorder
	queue    chan rule.Finding
	over     sync.WaitGroup

	minute int64 // of seen
	seen   map[accusation]int

	mu    sync.Mutex
	ready map[place]*around
	order []place
}

// accusation is a rule and who broke it.
type accusation struct {
	rule    rule.ID
	accused rule.Endpoint
}

// NewRecorded returns the frames that a recorder keeps. Close ends it.
func NewRecorded(r Recorder) *Recorded {
	k := &Recorded{recorder: r, queue: make(chan rule.Finding, waiting), seen: map[accusation]int{}, ready: map[place]*around{}}
	k.over.Go(func() {
		for f := range k.queue {
			k.keep(&f)
		}
	})
	return k
}

// Close ends what is being fetched. Found must not be called any more.
func (k *Recorded) Close() {
	close(k.queue)
	k.over.Wait()
}

// Found takes findings; it never waits.
func (k *Recorded) Found(list []rule.Finding) {
	for i := range list {
		f := &list[i]
		if f.Class == rule.Event || f.Frame == 0 {
			continue
		}
		if minute := f.Time / 60e9; minute != k.minute {
			k.minute = minute
			clear(k.seen)
		}
		of := accusation{f.Rule, f.Accused}
		if k.seen[of]++; k.seen[of] > eachInMinute {
			continue
		}
		select {
		case k.queue <- *f:
		default: // the recorder may still have it when it is asked for
		}
	}
}

// Tick does nothing: it makes Recorded a sink.
func (k *Recorded) Tick(int64) {}

func (k *Recorded) keep(f *rule.Finding) {
	a := k.fetch(f)
	if a == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.order) == keptLadders {
		delete(k.ready, k.order[0])
		k.order = slices.Delete(k.order, 0, 1)
	}
	at := placeOf(f)
	k.order = append(k.order, at)
	k.ready[at] = a
}

// fetch asks the recorder: once for what is around the finding without a gap, and once for what proves it too.
func (k *Recorded) fetch(f *rule.Finding) *around {
	alone := *f
	alone.Evidence = nil
	near := k.recorder.Around(&alone, ladder.Most)
	if len(near) == 0 {
		return nil
	}
	if len(f.Evidence) > 0 {
		if all := k.recorder.Around(f, ladder.Most); len(all) >= len(near) {
			return &around{ladder.FlowOf(f), mark(all, near)}
		}
	}
	return &around{ladder.FlowOf(f), mark(near, near)}
}

// mark notes at the frames that are not adjacent to others that something is between.
func mark(all, near []fabricagent.Frame) []ladder.Frame {
	within := func(f *fabricagent.Frame) bool {
		return slices.ContainsFunc(near, func(n fabricagent.Frame) bool { return n.Number == f.Number && n.Tap == f.Tap })
	}
	out := make([]ladder.Frame, len(all))
	before := true
	for i := range all {
		is := within(&all[i])
		out[i] = ladder.Frame{Frame: all[i], Apart: i > 0 && !(is && before)}
		before = is
	}
	return out
}

// Around finds frames.
func (k *Recorded) Around(f *rule.Finding) (ladder.Flow, []ladder.Frame, error) {
	k.mu.Lock()
	a := k.ready[placeOf(f)]
	k.mu.Unlock()
	if a == nil {
		a = k.fetch(f)
	}
	if a == nil {
		return ladder.FlowOf(f), nil, ErrNoFrames
	}
	return a.flow, a.frames, nil
}
