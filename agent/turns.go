package agent

import (
	"time"

	"ibwitness/fabricagent"
	"ibwitness/packet"
)

// A tap that stops, as its host or its driver does, and then stamps what has queued, gives frames that were seconds apart times that are less than a microsecond apart: requests
// and their answers too, which cannot have come so fast after one another.

// Flushed is what shows that the frames after a silence had queued before the tap.
type Flushed struct {
	Frames  int           // that came one right after the other; 0: nothing shows it
	More    bool          // and more: not all were looked at
	Span    time.Duration // from the first of them to the last
	Answers int           // of requests that are among them too, that came sooner than any other answer can
	Within  time.Duration // the latest of these after its request
	Least   time.Duration // how soon answers that were looked at before and later came after their requests, at the soonest
}

const (
	queued        = int64(5 * time.Microsecond) // frames that had queued are stamped within so long of one another
	fewestTurns   = 8                           // answers that must be known to tell how soon one comes
	enoughTurns   = 64
	mostMeasured  = 2048 // frames that are looked at for them when a capture begins
	measuredAfter = 1024 // and after a silence
	mostRequests  = 64
	leastTurn     = int64(2 * time.Microsecond) // stamps are no finer than that of everything else
	fewestFlushed = 2
)

// turns measures how soon answers come after their requests, in some frames: those with which a capture begins, and those around silences.
type turns struct {
	packet   *packet.Packet // room
	requests [mostRequests]turnRequest
	next     int
	known    int   // answers that were measured
	least    int64 // the soonest
	begun    int   // frames of the beginning of the capture that were looked at
	left     int   // frames to be looked at after the newest silence
	queue    queue
	goesOn   goesOn
	silent   bool // there was a silence
}

// turnRequest is a request that may be answered.
type turnRequest struct {
	from, to packet.Addr
	psn      packet.PSN
	at       int64
	queued   bool // it had queued
}

// queue is the frames after a silence that came one right after the other.
type queue struct {
	to      int64 // of the silence
	on      bool
	first   int64
	last    int64
	frames  int
	answers [32]int64 // how soon they came
	n       int
}

// wants reports whether it has to look at the next frames.
func (t *turns) wants() bool { return t.left > 0 || t.known < enoughTurns && t.begun < mostMeasured }

// measure looks at a batch, in which there may be silences.
func (k *clocks) measure(frames []fabricagent.Frame) {
	t, from := &k.turns, 0
	for _, at := range k.starts {
		t.look(frames[from:at])
		k.flushed()
		now := frames[at].Time
		t.queue, t.left = queue{to: now, on: true, first: now, last: now}, measuredAfter
		t.silent = true
		from = at
	}
	t.look(frames[from:])
}

// look looks at frames as far as it has to.
func (t *turns) look(frames []fabricagent.Frame) {
	n := len(frames)
	switch {
	case t.left > 0:
		n = min(n, t.left)
		t.left -= n
	case t.wants():
		t.begun += n
	default:
		return
	}
	t.take(frames[:n])
}

// take looks at frames.
func (t *turns) take(frames []fabricagent.Frame) {
	if t.packet == nil {
		t.packet = new(packet.Packet)
	}
	for i := range frames {
		f := &frames[i]
		if t.queue.on {
			t.queue.take(f.Time)
		}
		if p := t.packet; fabricagent.Decode(f, p).IsRDMA() && p.Has&packet.HasBTH != 0 && p.Opcode.Service().Reliable() {
			t.packetAt(p, f.Time)
		}
	}
}

// packetAt takes a packet of a reliable service.
func (t *turns) packetAt(p *packet.Packet, now int64) {
	if !p.Info().Response {
		t.requests[t.next%mostRequests] = turnRequest{p.Src, p.Dst, p.PSN, now, t.queue.on}
		t.next++
		t.goesOn.take(p, t.silent)
		return
	}
	soonest, first := int64(-1), int64(-1)
	for i := range t.requests {
		r := &t.requests[i]
		if r.at == 0 || r.psn != p.PSN || r.from != p.Dst || r.to != p.Src || now < r.at {
			continue
		}
		switch took := now - r.at; {
		case t.queue.on && r.queued:
			first = max(first, took)
		case t.queue.on:
			return // it was sent before the silence
		case soonest < 0 || took < soonest:
			soonest = took
		}
	}
	if soonest >= 0 {
		if t.known == 0 || soonest < t.least {
			t.least = soonest
		}
		t.known++
	}
	if b := &t.queue; first >= 0 && b.n < len(b.answers) {
		b.answers[b.n] = first
		b.n++
	}
}

// take takes the time of a frame.
func (b *queue) take(now int64) {
	if now < b.last || now-b.last > queued {
		b.on = false
		return
	}
	b.last = now
	b.frames++
}

// flushed notes with the newest silence what shows that the frames after it had queued.
func (k *clocks) flushed() {
	t := &k.turns
	b := t.queue
	k.goesOn(b.to)
	t.queue, t.left = queue{}, 0
	if b.n < fewestFlushed || t.known < fewestTurns || t.least < leastTurn {
		return
	}
	out := Flushed{Frames: b.frames, More: b.on && b.frames >= measuredAfter, Span: time.Duration(b.last - b.first), Least: time.Duration(t.least)}
	for _, took := range b.answers[:b.n] {
		if 2*took < t.least {
			out.Answers++
			out.Within = max(out.Within, time.Duration(took))
		}
	}
	if out.Answers < fewestFlushed || 2*out.Answers < b.n {
		return
	}
	for i := range k.silent {
		if k.silent[i].To == b.to {
			k.silent[i].Flushed = out
		}
	}
}
