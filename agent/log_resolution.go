package agent

import (
	"slices"

	"ibwitness/cq"
	"ibwitness/fabricagent"
	"ibwitness/hcaagent"
)

// A log whose clock is that of the packets is put into one order with them by its times. Where the capture is coarser, as a pcap file in microseconds beside a log in nanoseconds,
// these times do not tell in which order events and packets came: the log is judged as one with a clock of its own.

// microsecond is the resolution of a coarse capture, in nanoseconds.
const microsecond = 1000

// enoughFrames is how many frames show how fine their capture is: that so many of nanoseconds lie on microseconds does not happen.
const enoughFrames = 16

// coarse reports whether the frames of the first batch are stamped in microseconds.
func coarse(b *fabricagent.Batch) bool {
	if b == nil || len(b.Frames) < enoughFrames {
		return false
	}
	for i := range b.Frames {
		if b.Frames[i].Time%microsecond != 0 {
			return false
		}
	}
	return true
}

// finer reports whether the first events of a log are stamped finer than in microseconds.
func finer(l *hcaagent.Log) bool {
	fine := func(e *cq.Event) bool { return e.Time%microsecond != 0 }
	for i := range l.Events {
		if fine(&l.Events[i]) {
			return true
		}
	}
	if l.More == nil {
		return false
	}
	list := l.More()
	found := false
	for _, e := range list {
		l.Events = append(l.Events, *e)
		found = found || fine(e)
	}
	return found
}

// peeked is a source of which the first batch was looked at.
type peeked struct {
	fabricagent.Source
	first *fabricagent.Batch // nil: it was taken
	err   error
}

func (p *peeked) Next() (*fabricagent.Batch, error) {
	if b, err := p.first, p.err; b != nil || err != nil {
		p.first, p.err = nil, nil
		return b, err
	}
	return p.Source.Next()
}

// finerThan returns the logs with the clock of the packets that are stamped finer than those, and the source from its first batch on.
func finerThan(src fabricagent.Source, logs []*hcaagent.Log) (fabricagent.Source, []*hcaagent.Log) {
	if !slices.ContainsFunc(logs, func(l *hcaagent.Log) bool { return l.Exact }) {
		return src, nil
	}
	p := &peeked{Source: src}
	p.first, p.err = src.Next()
	if !coarse(p.first) {
		return p, nil
	}
	var list []*hcaagent.Log
	for _, l := range logs {
		if l.Exact && finer(l) {
			list = append(list, l)
		}
	}
	return p, list
}
