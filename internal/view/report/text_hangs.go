package report

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/timing"
)

// hung is a connection on which an end that answered each message of its peer does so no more.
type hung struct {
	c      *agent.Connection
	a      timing.Answers
	silent time.Duration
}

// longestTimes is how many times as long as any answer before one has to be missing.
const longestTimes = 2

// promptTimes is how many times as soon after an answer an end sends its next message, of all the time from one to the next, where it has waited for that.
const promptTimes = 4

// hangs finds the connections on which an end that answered does so no more, while the transport owes nothing.
func (t *text) hangs() (list []hung) {
	if t.res.Clock.Count > 0 {
		return nil
	}
	for _, c := range t.measured() {
		if h, ok := t.hangsOn(c); ok {
			list = append(list, h)
		}
	}
	return list
}

func (t *text) hangsOn(c *agent.Connection) (h hung, ok bool) {
	a, ok := answers(c)
	switch {
	case owes(c):
		return h, false
	case !ok:
		return t.stoppedOn(c)
	case a.Waits == nil || !overdue(c, &a):
		return h, false
	}
	end := t.res.Last
	if c.Closed.At != 0 {
		end = c.Closed.At
	}
	silent := t.passed(a.Newest, end)
	return hung{c, a, silent}, silent >= quietTime && silent >= longTimes*a.Waits.Mean() && silent >= longestTimes*a.Waits.Most
}

// passed is how much time went by between two times of the capture, whose clock may have stepped ahead meanwhile.
func (t *text) passed(from, to int64) time.Duration {
	d := time.Duration(to - from)
	if t.run == nil {
		return d
	}
	list := t.run.Incidents()
	for k := range list {
		if i := &list[k]; i.Begin >= from && i.End <= to {
			d -= i.Stepped()
		}
	}
	return d
}

// stepped is by how much the clock of the capture stepped ahead; 0: it did not.
func (t *text) stepped() time.Duration {
	return time.Duration(t.res.Last-t.res.First) - t.passed(t.res.First, t.res.Last)
}

// ofStep reports whether a time is long because the clock stepped ahead by so much meanwhile.
func ofStep(d, step time.Duration) bool { return step > 0 && d >= step && d-step < longestTurn }

// stoppedOn is hangsOn where it is not known which end answers the other: one has kept pace with the other, and stopped.
func (t *text) stoppedOn(c *agent.Connection) (h hung, ok bool) {
	if c.Timing == nil || !c.Service.Reliable() || c.Closed.At != 0 || commanded(c) {
		return h, false
	}
	for end := range c.Ends {
		k, stopped := c.Timing.Exchange.Stopped(end)
		silent := int64(t.passed(k.Newest, t.res.Last))
		if stopped && silent >= int64(quietTime) && silent >= quietTimes*(k.Newest-c.First)/int64(k.Count) {
			return hung{c, timing.Answers{By: end, Count: k.Count, Newest: k.Newest, Frame: k.Frame, Depth: k.Apart, Open: k.More}, time.Duration(silent)}, true
		}
	}
	return h, false
}

// overdue reports whether more messages wait than usually did, as they do where an end stops to answer and the other goes on until it has as many outstanding as it may have, or for long. Two ends that
// send without waiting for each other, and stop, are not overdue.
func overdue(c *agent.Connection, a *timing.Answers) bool {
	switch {
	case a.Open <= 0 || 2*a.Open <= a.Least+a.Depth:
		return false
	case a.Open > a.Depth:
		return a.Asked-a.Newest >= int64(quietTime)
	}
	return a.Open == a.Depth || prompt(c, a)
}

// prompt reports whether an end sends its next message soon after an answer, so that it has waited for that.
func prompt(c *agent.Connection, a *timing.Answers) bool {
	return promptTimes*c.Timing.Ends[1-a.By].Turns.MeanOfAll() <= (a.Rest+a.Served)/time.Duration(a.Requests)
}

// manyAtOnce is how many messages wait at once at least where two ends that send without waiting for each other would hardly stop with as many as ever waited.
const manyAtOnce = 4

// unless says that two ends may send without waiting for each other; "": they do not.
func unless(h *hung) string {
	if h.a.Depth >= manyAtOnce || prompt(h.c, &h.a) {
		return ""
	}
	return ", unless the two send without waiting for each other"
}

// waitsOrEnded says that the program which has no answer any more ended, as it seems, or else that it waits.
func (t *text) waitsOrEnded(h *hung) string {
	e, peer := &h.c.Ends[h.a.By], &h.c.Ends[1-h.a.By]
	fin := t.closedThen(h)
	if fin == nil {
		return "its program waits or hangs" + unless(h)
	}
	return fmt.Sprintf("its program ended or was killed, it seems: %v closed a TCP connection with %v from its port %d then, at %s (FIN, frame %d)", e.Addr, peer.Addr, fin.Ports[0], offset(fin.At, t.res.First), fin.Frame)
}

// closedThen finds the TCP connection that the host of a program which answers no more closed then; nil: none.
func (t *text) closedThen(h *hung) *agent.Sign {
	e, peer := &h.c.Ends[h.a.By], &h.c.Ends[1-h.a.By]
	fin := t.res.Closes(e.Addr, peer.Addr, h.a.Newest, t.res.Last)
	if fin == nil || fin.At-h.a.Newest > int64(quietTime) || e.Addr == peer.Addr {
		return nil
	}
	return fin
}

// owes reports whether the transport owes something on a connection.
func owes(c *agent.Connection) bool {
	for k := range c.Ends {
		e := &c.Ends[k]
		if e.Open > 0 && c.Closed.At == 0 || e.Stalled || e.Trouble != nil && e.Trouble.Refusal.Time != 0 {
			return true
		}
	}
	return false
}

// hanging tells of the ends that answer no more: of each host once.
func (t *text) hanging() (list []string) {
	by := map[packet.Addr][]hung{}
	var order []packet.Addr
	for _, h := range t.hangs() {
		a := h.c.Ends[h.a.By].Addr
		if by[a] == nil {
			order = append(order, a)
		}
		by[a] = append(by[a], h)
	}
	var silent map[packet.Addr]bool
	if len(order) > 0 {
		silent = t.silentHosts()
	}
	for _, a := range order {
		all := by[a]
		slices.SortStableFunc(all, func(a, b hung) int { return cmp.Compare(a.a.Newest, b.a.Newest) })
		s := t.hangOf(&all[0])
		if len(all) > 1 {
			s = t.hangsOf(all)
		}
		if silent[a] {
			s = t.wentSilent(all)
		}
		list = append(list, s+t.goesOn(all))
	}
	return list
}

// silentHosts are those that sent nothing on any connection after a request was retransmitted to them that they never answered.
func (t *text) silentHosts() map[packet.Addr]bool {
	last, begun := map[packet.Addr]int64{}, map[packet.Addr]int64{}
	for i := range t.res.Connections {
		c := &t.res.Connections[i]
		for k := range c.Ends {
			e, peer := &c.Ends[k], c.Ends[1-k].Addr
			last[e.Addr] = max(last[e.Addr], e.Last)
			if at := begun[peer]; e.Stalled && e.Trouble != nil && e.Trouble.Now.Begun != 0 && (at == 0 || e.Trouble.Now.Begun < at) {
				begun[peer] = e.Trouble.Now.Begun
			}
		}
	}
	silent := map[packet.Addr]bool{}
	for host, at := range begun {
		silent[host] = last[host] < at
	}
	return silent
}

// wentSilent tells of connections on which a host owes answers that has sent nothing since on any connection.
func (t *text) wentSilent(all []hung) string {
	h := &all[0]
	e, peer := &h.c.Ends[h.a.By], &h.c.Ends[1-h.a.By]
	on := fmt.Sprintf("%v %s", peer.Addr, qp(peer.QPN, peer.QPNKnown))
	if len(all) > 1 {
		on = count(len(all), "connection")
	}
	return fmt.Sprintf("%v owes answers on %s, too, to what its adapter had acknowledged: nothing of it came on any connection since, see above.", e.Addr, on)
}

// hangOf tells of one connection whose messages have no answer.
func (t *text) hangOf(h *hung) string {
	e, peer := &h.c.Ends[h.a.By], &h.c.Ends[1-h.a.By]
	if h.a.Waits == nil {
		return fmt.Sprintf("%v %s sent a message for each of %v %s, %s that were seen, and never were the two more than %d apart; it has sent none since %s (frame %d), for %s, while %s more came that its adapter acknowledged%s: its program waits or hangs, if it is the one that answers.",
			e.Addr, qp(e.QPN, e.QPNKnown), peer.Addr, qp(peer.QPN, peer.QPNKnown), number(h.a.Count), max(h.a.Depth, 1), offset(h.a.Newest, t.res.First), h.a.Frame, span(h.silent), number(uint64(h.a.Open)), t.missed())
	}
	return fmt.Sprintf("%v %s answered each of %s of %v %s with one of its own, %s later in the mean%s; %s no answer: none has come since %s (frame %d), for %s%s, though its adapter acknowledged each%s: %s.",
		e.Addr, qp(e.QPN, e.QPNKnown), count(h.a.Count, "message"), peer.Addr, qp(peer.QPN, peer.QPNKnown), span(h.a.Waits.Mean()), atOnce(h.a.Depth), has(h.a.Open), offset(h.a.Newest, t.res.First), h.a.Frame,
		span(h.silent), until(h.c), t.missed(), t.waitsOrEnded(h))
}

func has(n int) string {
	if n == 1 {
		return "one more has"
	}
	return number(uint64(n)) + " more have"
}

// until says who ended a connection; "": nobody did.
func until(c *agent.Connection) string {
	if c.Closed.At == 0 {
		return ""
	}
	return fmt.Sprintf(", until %v disconnected", c.Closed.By)
}

// missed says that the capture may lack what is not in it; "": nothing speaks for that.
func (t *text) missed() string {
	if t.res.Dropped+t.res.Gaps == 0 {
		return ""
	}
	return " and as far as the capture shows, which lost packets"
}

// hangsOf tells of several connections of one host.
func (t *text) hangsOf(all []hung) string {
	first, last := &all[0], &all[len(all)-1]
	open, least := 0, last.silent
	var peers []packet.Addr
	for i := range all {
		h := &all[i]
		open, least = open+h.a.Open, min(least, h.silent)
		if p := h.c.Ends[1-h.a.By].Addr; !slices.Contains(peers, p) {
			peers = append(peers, p)
		}
	}
	e, peer := &first.c.Ends[first.a.By], &first.c.Ends[1-first.a.By]
	return fmt.Sprintf("%v answered each message of %s on %s with one of its own, and does so no more: %s have none for %s or longer, though its adapter acknowledged each%s. It stopped first for %v %s, %s (frame %d), and last %s: its program waits or hangs.",
		e.Addr, someHosts(peers), count(len(all), "connection"), count(open, "message"), span(least), t.missed(), peer.Addr, qp(peer.QPN, peer.QPNKnown), offset(first.a.Newest, t.res.First), first.a.Frame,
		offset(last.a.Newest, t.res.First))
}

// goesOn says on how many other connections a host that hangs still sent requests of its own, after half of the time.
func (t *text) goesOn(all []hung) string {
	h, n := &all[0], 0
	host, half := h.c.Ends[h.a.By].Addr, h.a.Newest+int64(h.silent/2)
	for _, c := range t.measured() {
		if slices.ContainsFunc(all, func(h hung) bool { return h.c == c }) {
			continue
		}
		for k := range c.Ends {
			if c.Ends[k].Addr == host && c.Timing.Ends[k].LastRequest() > half {
				n++
				break
			}
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" On %s it went on: the host is up.", count(n, "other connection"))
}
