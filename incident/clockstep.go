package incident

import (
	"fmt"
	"slices"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// A clock that steps ahead looks like a time in which no host sends. It is told from that by what the hosts do then: messages go on in their midst, and requesters whose timers would have run out many
// times retransmit nothing.

const (
	leastStep = int64(time.Second)
	// timersRun is how many times as long as a requester's timer takes the capture is silent where no requester whose timer ran would have waited, and unknownTimer how long it is where no timer is known.
	timersRun    = 8
	unknownTimer = int64(20 * time.Second)
	fewestStill  = 2 // hosts for which no time went by: one may have stopped itself
)

// stopwatch is for which hosts no time went by while the capture was silent.
type stopwatch struct {
	midway  int // connections on which a message went on in its midst
	waited  int // others, on which a request waited without being retransmitted
	hosts   map[packet.Addr]bool
	timer   int64 // the shortest that is known of those that did not run out
	refuted bool  // time went by: somebody retransmitted, or sent what the capture lacks
}

// steps reports whether the silence is that the clock stepped ahead.
func (t *teller) steps(k *still) (w stopwatch, ok bool) {
	length := k.To - k.From
	if length < leastStep || len(t.run.Paused) > 0 {
		return w, false
	}
	w.hosts = map[packet.Addr]bool{}
	for i := range t.run.Connections {
		w.look(k, &t.run.Connections[i], length)
	}
	return w, !w.refuted && w.midway > 0
}

// look looks what a connection shows of a silence of a length in nanoseconds.
func (w *stopwatch) look(k *still, c *agent.Connection, length int64) {
	midway, waited := false, false
	for from := range c.Ends {
		e := &c.Ends[from]
		timer, waits, goes := timerOf(e), w.waits(k, e), goesOn(k, c, from)
		w.refuted = w.refuted || goes && c.First > k.From
		if !waits && !goes || length < patienceOf(timer) {
			continue
		}
		w.hosts[e.Addr] = true
		midway, waited = midway || goes, waited || waits
		if timer > 0 && (w.timer == 0 || timer < w.timer) {
			w.timer = timer
		}
	}
	if midway {
		w.midway++
	} else if waited {
		w.waited++
	}
}

// patienceOf is for how long a requester with a timer, 0: it is not known, would hardly wait.
func patienceOf(timer int64) int64 {
	if timer == 0 {
		return unknownTimer
	}
	return timersRun * timer
}

// goesOn reports whether a message of an end of a connection went on after a silence.
func goesOn(k *still, c *agent.Connection, from int) bool {
	e, peer := &c.Ends[from], &c.Ends[1-from]
	return peer.QPNKnown && slices.Contains(k.GoesOn, agent.GoesOn{From: e.Addr, To: peer.Addr, QPN: peer.QPN})
}

// waits reports whether a request of an end waited while the capture was silent, and was answered without having been retransmitted.
func (w *stopwatch) waits(k *still, e *agent.End) (waits bool) {
	if e.Trouble == nil {
		return false
	}
	w.refuted = w.refuted || spans(&e.Trouble.Missing, &k.Silence)
	x := e.Trouble.Settled(e.Stalled)
	for _, s := range append([]qp.Stall{x.Now}, x.Longest[:]...) {
		switch {
		case s.Begun >= k.To && s.Begun < k.To+together && s.Rounds[qp.TimerExpired] > 0:
			w.refuted = true // its timer has run out meanwhile
		case s.Begun == 0 || s.Since > k.From || max(s.Ended, s.Last) < k.To:
		case s.Before || s.Total() > 0 && s.Last >= k.To:
			w.refuted = true
		case s.Total() == 0 && s.NAKs == 0:
			waits = true
		}
	}
	return waits
}

// spans reports whether PSNs are missing over a silence.
func spans(m *qp.Missing, s *agent.Silence) bool {
	return m.Longest > 0 && m.Between.First <= s.From && m.Between.After >= s.To
}

// timerOf is how long a requester's timer takes at most, in nanoseconds; 0: that is not known, and where it is off more than any capture is long.
func timerOf(e *agent.End) int64 {
	const off = int64(1) << 50
	switch {
	case e.Timer > 0:
		return e.Timer
	case !e.Knows(qp.KnowsTimeout):
		return 0
	case e.Timeout == 0:
		return off
	}
	const most = 4 // times as long as its code says
	return min(most*int64(4096)<<e.Timeout, off)
}

// stepped tells that the clock of the capture stepped ahead.
func (t *teller) stepped(k *still, w *stopwatch) {
	i := &Incident{Kind: Untrusted, Certainty: Likely, Begin: k.From, End: k.To, Tap: k.Tap, steppedBy: k.To - k.From}
	i.show(k.Frame)
	also := ""
	if w.waited > 0 {
		also = fmt.Sprintf(", %s more waited for answers", number(uint64(w.waited)))
	}
	i.What = fmt.Sprintf("The clock of the capture stepped forward by about %s, in frame %d: %s in the midst of a message then%s, and nobody retransmitted.", span(k.To-k.From), k.Frame, wereOf(w.midway, ""), also)
	i.FitsWith = []string{"a clock that was set (NTP, PTP, a virtual machine that was resumed or moved)", "hosts that all stopped and went on together, and their adapters: virtual machines of one hypervisor, a simulation"}
	i.Next = []string{"what set the clock of the capturing host then: NTP, PTP or its hypervisor; have it slewed, and not stepped"}
	if len(w.hosts) < fewestStill {
		w.oneHost(i, k, also)
	}
	i.fact("hosts", fmt.Sprintf("%d went on as if no time had gone by", len(w.hosts)))
	if w.timer > 0 {
		i.fact("timers", fmt.Sprintf("a requester that waited retransmits after %s, as far as that is known", span(w.timer)))
	}
	i.fact("times", "waits and slow commands that span it are not told; latencies and rates that do mean nothing")
	t.order = append(t.order, i)
}

// oneHost says that a single host for which no time went by may have stopped, as may the clock have stepped.
func (w *stopwatch) oneHost(i *Incident, k *still, also string) {
	var host packet.Addr
	for a := range w.hosts {
		host = a
	}
	i.Certainty = Possible
	i.What = fmt.Sprintf("Either the clock of the capture stepped forward by about %s, in frame %d, or %v stopped for that long with its adapter: %s in the midst of a message then%s, and nobody retransmitted.",
		span(k.To-k.From), k.Frame, host, wereOf(w.midway, " of it"), also)
	i.FitsWith[1] = fmt.Sprintf("%v as a virtual machine that was paused, with an adapter in software: its timers stop then, too", host)
	i.Next = append(i.Next, fmt.Sprintf("the log of %v, and of its hypervisor, at that time", host))
}

// wereOf says of so many connections, and whose, that they were.
func wereOf(n int, whose string) string {
	if n == 1 {
		return "1 connection" + whose + " was"
	}
	return number(uint64(n)) + " connections" + whose + " were"
}

// Stepped is by how much the clock of the capture stepped ahead, as an incident tells; 0: it tells of something else.
func (i *Incident) Stepped() time.Duration { return time.Duration(i.steppedBy) }
