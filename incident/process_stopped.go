package incident

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/timing"
	"ibwitness/verifier/cm"
)

// A program that is stopped posts no receives: its adapter acknowledges and takes messages until those that were posted are used up, and refuses
// the next ones. That it had answered nothing for a while before tells it from one that posts too few.

// mostStopsTold is how many of such times are told one by one, and mostSignsTold how many packets that show that the host worked.
const (
	mostStopsTold = 4
	mostSignsTold = 3
)

// processStop is a time in which a host refused requests, as no receive was posted, and its program answered none of the messages that came in it,
// though its adapter had taken some.
type processStop struct {
	timing.Silence        // from the first message that waited until the next of the program
	refused        int64  // when its adapter first refused one
	frame          uint64 // of the next message of the program; 0: not known
	of             []*agent.Connection
	serves         bool // on another connection that it refused then, it answered: it is slow, or its shared receive queue is short
}

// processesStopped has incidents of a receiver that was not ready tell that its program had stopped, where it had, and of what that shows.
func (t *teller) processesStopped(list []Incident) []Incident {
	if !t.timed() || t.lossy() || t.copied() || len(t.run.Taps) > 1 || len(t.run.Connections) > mostOthers {
		return list
	}
	merged := map[*Incident]bool{}
	for n := range list {
		i := &list[n]
		if i.Kind != NotReady && i.Kind != Exhausted || i.Ongoing {
			continue
		}
		stops := t.processStops(i)
		if len(stops) == 0 {
			continue
		}
		t.tellProcessStops(i, stops)
		for m := range list {
			if o := &list[m]; !merged[o] && o.ofProgramsIn(i.Peer.Addr, stops) {
				merged[o] = true
				i.silentBesides(o)
			}
		}
	}
	return without(list, merged)
}

// processStops returns the times in which the program of the host of an incident had stopped, in order.
func (t *teller) processStops(i *Incident) (stops []processStop) {
	host := i.Peer.Addr
	refused := t.refusedBy(host, i.Begin, i.End)
	for _, c := range refused {
		stops = append(stops, stopsOn(c, hostEnd(c, host))...)
	}
	stops = commonStops(stops)
	for n := range stops {
		k := &stops[n]
		for _, c := range refused {
			e := hostEnd(c, host)
			switch s := refusedIn(c, 1-e, &k.Silence); {
			case s == nil:
			case answersNone(c, e, &k.Silence):
				k.of = append(k.of, c)
			default:
				k.serves = true
			}
		}
	}
	return slices.DeleteFunc(stops, func(k processStop) bool { return len(k.of) == 0 || k.serves || k.Length() < stoppedFirst.Nanoseconds() })
}

// stopsOn returns such times that a connection shows, of which the host is end e.
func stopsOn(c *agent.Connection, e int) (stops []processStop) {
	x := &c.Timing.Ends[e]
	if x.Turns.Count < answeredFirst || 2*c.Ends[e].Messages < c.Ends[1-e].Messages {
		return nil // it need not answer each message
	}
	mean := int64(x.Turns.Mean())
	add := func(from, to int64, frame uint64) {
		k := processStop{Silence: timing.Silence{From: from, To: to}, frame: frame}
		if k.Length() < max(int64(stoppedFirst), meanTimes*mean) {
			return
		}
		if s := refusedIn(c, 1-e, &k.Silence); s != nil && s.Begun-from >= max(stuckTimes*mean, aftermath) {
			k.refused = s.Begun
			stops = append(stops, k)
		}
	}
	for _, w := range longWaits(c, e) {
		add(w.At-int64(w.Time), w.At, w.Frame)
	}
	own, _ := x.Messages()
	for _, s := range own.Silences {
		if asked := c.Timing.Ends[1-e].Next(s.From + 1); asked != 0 && asked < s.To {
			add(asked, s.To, 0)
		}
	}
	return stops
}

// longWaits are the longest waits for answers of end e of a connection that answers each message.
func longWaits(c *agent.Connection, e int) []timing.Took {
	if a, ok := c.Timing.Exchange.Answers(); ok && a.By == e && a.Waits != nil {
		return slices.DeleteFunc(slices.Clone(a.Waits.Longest[:]), func(w timing.Took) bool { return w.Time == 0 })
	}
	return nil
}

// commonStops makes one of times that overlap: what is common to all that one connection or several show, in order.
func commonStops(stops []processStop) (list []processStop) {
	slices.SortFunc(stops, func(a, b processStop) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	for _, k := range stops {
		n := len(list) - 1
		if n < 0 || k.From >= list[n].To {
			list = append(list, k)
			continue
		}
		last := &list[n]
		if last.frame == 0 && k.frame != 0 || k.To < last.To {
			last.frame = k.frame
		}
		last.To, last.refused = min(last.To, k.To), min(last.refused, k.refused)
	}
	return list
}

// refusedIn returns the first stall of end from of a connection by RNR NAKs that began in a time, and was over soon after it; nil: none that is kept is.
func refusedIn(c *agent.Connection, from int, in *timing.Silence) (first *qp.Stall) {
	x := c.Ends[from].Trouble
	if x == nil {
		return nil
	}
	settled := x.Settled(c.Ends[from].Stalled)
	stalls := slices.Clone(settled.Longest[:])
	if c.Ends[from].Stalled {
		stalls = append(stalls, settled.Now)
	}
	slack := aftermath + int64(packet.RNRTimer(x.RNR.Most))
	for n := range stalls {
		if s := &stalls[n]; s.NAKs > 0 && s.Begun > in.From && s.Begun < in.To && s.Last < in.To+slack && (first == nil || s.Begun < first.Begun) {
			first = s
		}
	}
	return first
}

// answersNone reports whether end e of a connection is known to have answered nothing that came in a time, but at its edges.
func answersNone(c *agent.Connection, e int, in *timing.Silence) bool {
	x := &c.Timing.Ends[e]
	from, to := in.From+in.Length()/tenth, in.To-aftermath
	if last := x.LastRequest(); last != 0 && last <= in.From {
		return true
	}
	own, _ := x.Messages()
	return own.Silent(from, to) != nil || slices.ContainsFunc(longWaits(c, e), func(w timing.Took) bool {
		return w.At-int64(w.Time) <= from && w.At >= to
	})
}

// hostEnd is which end of a connection a host is.
func hostEnd(c *agent.Connection, host packet.Addr) int {
	if c.Ends[1].Addr == host {
		return 1
	}
	return 0
}

// refusedBy is the connections on which a host refused requests, as it was not ready, from a time until another.
func (t *teller) refusedBy(host packet.Addr, since, until int64) (of []*agent.Connection) {
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		e := hostEnd(c, host)
		if x := c.Ends[1-e].Trouble; c.Timing != nil && c.Ends[e].Addr == host && x != nil && x.RNR.NAKs > 0 && x.RNR.First <= until && x.RNR.Last >= since {
			of = append(of, c)
		}
	}
	return of
}

// tellProcessStops has an incident of a receiver that was not ready begin with the times in which its program had stopped.
func (t *teller) tellProcessStops(i *Incident, stops []processStop) {
	host := i.Peer.Addr
	var when []string
	var of []*agent.Connection
	longest := &stops[0]
	for n := range stops {
		k := &stops[n]
		if k.Length() > longest.Length() {
			longest = k
		}
		for _, c := range k.of {
			if !slices.Contains(of, c) {
				of = append(of, c)
			}
		}
		when = append(when, fmt.Sprintf("from %s to %s (%s)", t.offset(k.From), t.offset(k.To), span(k.Length())))
		if n < mostStopsTold {
			i.show(k.frame)
		}
	}
	if more := len(when) - mostStopsTold; more > 0 {
		when = append(when[:mostStopsTold], times(uint64(more))+" more")
	}
	l := t.worksIn(host, of, &longest.Silence)
	who, not := fmt.Sprintf("The program of %v, or all of it,", host), "its adapter or the network"
	if l.host() {
		who, not = fmt.Sprintf("The program of %v", host), "the host, its adapter or the network"
	}
	i.What = fmt.Sprintf("%s stopped or waited, and not %s: it answered nothing that came %s on %s on which it was not ready. %s %s",
		who, not, enumerate(when), count(uint64(len(of)), "connection"), l.what(host), i.What)
	i.Begin, i.Lost = min(i.Begin, stops[0].From), max(i.Lost, time.Duration(longest.Length()))
	if lived := l.tell(t, host); lived != "" {
		i.Facts = slices.Insert(i.Facts, 0, Fact{Label: "alive", Text: lived})
	}
	i.Facts = slices.Insert(i.Facts, 0, Fact{Label: "stopped", Text: t.firstWaited(longest)})
	if !i.says("connect") {
		i.fact("connect", t.askedInStop(host, &longest.Silence))
	}
	if l.host() {
		i.stalled = false // that its READs were answered is told
	}
	if !i.says("program") {
		i.FitsWith = l.fits(host)
	}
	i.Next = slices.DeleteFunc(i.Next, func(s string) bool { return strings.HasPrefix(s, "what the process on ") }) // the next one says so, too
	i.Next = slices.Insert(i.Next, 0, fmt.Sprintf("what stopped the program on %v at %s: a stop signal, a debugger, a core dump, swapping, a lack of CPU, a lock or its disks, "+
		"a pause of its virtual machine (its log and stack, who sent it a signal, dmesg)", host, t.offset(longest.From)))
}

// firstWaited says how long the first message waited in such a time, before its adapter refused another and in all.
func (t *teller) firstWaited(k *processStop) string {
	s := fmt.Sprintf("a message that came at %s had no answer yet when its adapter first refused another, %s later; the next message of the program came at %s",
		t.offset(k.From), span(k.refused-k.From), t.offset(k.To))
	if k.frame != 0 {
		s += fmt.Sprintf(", in frame %d", k.frame)
	}
	return s
}

// hostWorks is what shows that a host worked while a program of it had stopped.
type hostWorks struct {
	reads  readsMeanwhile
	others []*agent.Connection // on which it sent messages all the while
	signs  []*agent.Sign       // packets of it that are not RDMA
}

// worksIn finds that for a time.
func (t *teller) worksIn(host packet.Addr, but []*agent.Connection, in *timing.Silence) (l hostWorks) {
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		if c.Timing == nil || c.Service != packet.RC {
			continue
		}
		for e := range c.Ends {
			if c.Ends[e].Addr != host || c.Ends[1-e].Addr == host {
				continue
			}
			if l.reads.add(&c.Timing.Ends[1-e], in.From, in.To) && c.Ends[e].QPNKnown {
				l.reads.qps = append(l.reads.qps, fmt.Sprintf("0x%x", c.Ends[e].QPN))
			}
			if own, all := c.Timing.Ends[e].Messages(); all && !slices.Contains(but, c) && own.Sends(in, 2) {
				l.others = append(l.others, c)
			}
		}
	}
	for n := range t.run.Signs {
		if s := &t.run.Signs[n]; s.Host == host && s.At > in.From+aftermath && s.At < in.To-aftermath {
			l.signs = append(l.signs, s)
		}
	}
	return l
}

// asked is what the adapter answered by itself, of one.
func (l *hostWorks) asked() string {
	if l.reads.atomics {
		return "RDMA READs and atomic"
	}
	return "RDMA READ"
}

// host reports whether something but the adapter shows that the host worked.
func (l *hostWorks) host() bool { return len(l.others)+len(l.signs) > 0 }

// what says in few words what went on.
func (l *hostWorks) what(host packet.Addr) string {
	s := "Meanwhile its adapter took messages until its receives were used up, and then refused them"
	var went []string
	if l.reads.answered >= fewestReads {
		went = append(went, "answered "+l.asked()+"s")
	}
	if len(l.others) > 0 {
		went = append(went, "sent messages on other queue pairs")
	}
	if len(l.signs) > 0 {
		went = append(went, "sent "+l.means())
	}
	if len(went) > 0 {
		s += fmt.Sprintf("; %v %s", host, enumerate(went))
	}
	return s + "."
}

// means is by what kinds of packets that are not RDMA the host shows.
func (l *hostWorks) means() string {
	var list []string
	for _, s := range l.signs {
		if by := strings.TrimPrefix(s.By.String(), "a "); !slices.Contains(list, by) {
			list = append(list, by)
		}
	}
	return enumerate(list)
}

// tell says what went on, with frames.
func (l *hostWorks) tell(t *teller, host packet.Addr) string {
	var list []string
	if l.reads.answered >= fewestReads {
		least, on := "", ""
		if l.reads.least {
			least = "at least "
		}
		if len(l.reads.qps) <= silencesTold {
			on = " on QP " + enumerate(l.reads.qps)
		}
		list = append(list, fmt.Sprintf("its adapter answered %s%s%s", least, count(l.reads.answered, l.asked()), on))
	}
	for n, c := range l.others {
		if e := hostEnd(c, host); n < mostSignsTold {
			list = append(list, fmt.Sprintf("QP 0x%x of it sent messages to %v all the while", c.Ends[e].QPN, c.Ends[1-e].Addr))
		}
	}
	var shown []string
	for k, s := range l.signs {
		first := !slices.ContainsFunc(l.signs[:k], func(o *agent.Sign) bool { return o.By == s.By })
		if first && len(shown) < mostSignsTold {
			shown = append(shown, fmt.Sprintf("%s in frame %d, at %s", strings.TrimPrefix(s.By.String(), "a "), s.Frame, t.offset(s.At)))
		}
	}
	if len(shown) > 0 {
		list = append(list, "it sent "+enumerate(shown))
	}
	return enumerateSeparately(list)
}

// fits is what would look like this.
func (l *hostWorks) fits(host packet.Addr) []string {
	stopped := fmt.Sprintf("a program on %v that was stopped: a stop signal, a debugger, a core dump, no CPU", host)
	waited := "one that waited itself (a lock, its disks, another host)"
	if l.host() {
		return []string{stopped, waited}
	}
	return []string{stopped, waited, "all of the host, as a virtual machine that was paused, whose adapter goes on by itself: nothing else of it shows in that time"}
}

// askedInStop says which REQs came to a host in a time, and had no answer until then; "": none did.
func (t *teller) askedInStop(host packet.Addr, in *timing.Silence) string {
	var list []string
	for n := range t.run.REQs {
		q := &t.run.REQs[n]
		if q.Waits == cm.ForLate && q.To == host && q.First > in.From && q.First < in.To && q.End >= in.To-aftermath && q.End <= in.To+aftermath {
			list = append(list, fmt.Sprintf("%v's at %s, which had an answer at %s, in frame %d", q.From, t.offset(q.First), t.offset(q.End), q.EndFrame))
		}
	}
	if len(list) == 0 || len(list) > mostStopsTold {
		return ""
	}
	return "it accepted no connection meanwhile: of REQs " + enumerate(list)
}
