package incident

import (
	"fmt"
	"slices"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/timing"
	"ibwitness/verifier/cm"
	"ibwitness/wqe"
)

const (
	// fewestReads is from how many READs and atomics on it is told that an adapter answered them, and readsPart in which part of the time, one in so
	// many, none came at most.
	fewestReads = 4
	readsPart   = 2
	// promptParts is in which part of a time, one in so many, a READ is answered at most that its adapter answered in it, and not only when the time was over.
	promptParts = 8
	// hereParts is in which part of a time, one in so many, a host sent no packet at most that was there all of it.
	hereParts = 4
)

// programStalled has incidents of hosts that took no requests for a while, or answered none, tell of the REQs that they left unanswered then and answered
// when they went on, and of the READs that they answered all the while: what was stalled is their program.
func (t *teller) programStalled(list []Incident) []Incident {
	if !t.timed() {
		return list
	}
	merged := map[*Incident]bool{}
	for n := range list {
		i := &list[n]
		if i.Kind != NotReady && i.Kind != Interrupted || merged[i] {
			continue
		}
		if i.unansweredFrom != 0 {
			i.Begin = min(i.Begin, i.unansweredFrom)
		}
		for m := range list {
			if o := &list[m]; o.lateREQs && !merged[o] && i.Peer.Addr == o.Peer.Addr && t.tellHeldUp(i, o) {
				i.foundToo(o.Found)
				merged[o] = true
			}
		}
		if i.stalled {
			t.tellReads(i)
		}
	}
	return without(list, merged)
}

// tellHeldUp has an incident tell of the REQs that another tells of, and reports whether it does: all of them waited until it was over.
func (t *teller) tellHeldUp(i, o *Incident) bool {
	var first, last *cm.Unanswered
	n := uint64(0)
	for k := range t.run.REQs {
		q := &t.run.REQs[k]
		if q.Waits != cm.ForLate || q.From != o.Local.Addr || q.To != o.Peer.Addr {
			continue
		}
		if !i.holdsUp(q) {
			return false
		}
		if n += uint64(q.Times); first == nil || q.First < first.First {
			first = q
		}
		if last == nil || q.End > last.End {
			last = q
		}
	}
	if n == 0 {
		return false
	}
	i.fact("connect", fmt.Sprintf("it took no new connection either: %s of %v from %s on had no answer until it went on; the answer came in frame %d, at +%.6f s",
		count(n, "REQ"), o.Local.Addr, t.offset(first.First), last.EndFrame, time.Duration(last.End-t.run.First).Seconds()))
	if i.Tap == last.Tap {
		i.show(last.EndFrame)
	}
	return true
}

// holdsUp reports whether a REQ waited for the host of an incident, which was not ready for requests or answered none when it came, and was answered
// when that was over.
func (i *Incident) holdsUp(q *cm.Unanswered) bool {
	if q.First < i.Begin || q.Last > i.End || i.Ongoing {
		return false
	}
	slack := aftermath
	if i.Kind == NotReady { // the last RNR NAK has its requester wait
		slack += int64(packet.RNRTimer(i.short.most))
	}
	return q.End >= i.End-aftermath && q.End <= i.End+slack
}

// readsMeanwhile is what a host answered by itself, without a program of it.
type readsMeanwhile struct {
	asked, answered uint64
	least           bool    // that is at least how many
	atomics         bool    // some may have been
	at              []int64 // about when they were answered
	qps             []string
}

// tellReads says that the host of an incident answered READs and atomics all the while: its adapter does that without its program.
func (t *teller) tellReads(i *Incident) {
	if t.lossy() || len(t.run.Connections) > mostOthers {
		return
	}
	var r readsMeanwhile
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		for e := range c.Ends {
			if c.Timing == nil || !c.Service.Reliable() || c.Ends[1-e].Addr != i.Peer.Addr || c.Ends[e].Addr == i.Peer.Addr {
				continue
			}
			if r.add(&c.Timing.Ends[e], i.Begin, i.End) && c.Ends[1-e].QPNKnown {
				r.qps = append(r.qps, fmt.Sprintf("0x%x", c.Ends[1-e].QPN))
			}
		}
	}
	if r.answered < fewestReads || r.asked != r.answered || r.longestWithout(i.Begin, i.End)*readsPart > i.End-i.Begin {
		return
	}
	all, what, on, queues := "all ", "RDMA READ", "", "QP"
	if len(r.qps) > 1 {
		queues = "QPs"
	}
	if r.least {
		all = "at least "
	}
	if r.atomics {
		what = "RDMA READs and atomic"
	}
	if len(r.qps) > 0 && len(r.qps) <= silencesTold {
		on = fmt.Sprintf(" (%s %s of it)", queues, enumerate(r.qps))
	}
	text := fmt.Sprintf("that of %v answered %s%s that came meanwhile%s", i.Peer.Addr, all, count(r.answered, what), on)
	switch before, within, after := t.signsAround(i.Peer.Addr, i.Begin, i.End); {
	case within != nil:
		text += ": host, adapter and network went on, and only a program was stalled"
	case before != nil && after != nil:
		text += fmt.Sprintf(", but from %s to %s no TCP, ARP or other packet of it came, as before and after: all of the host was stopped, and its adapter and the network went on", t.offset(before.At), t.offset(after.At))
		i.FitsWith = slices.Insert(i.FitsWith, 0, "a virtual machine that was paused (migration, snapshot, hypervisor), or a host that was frozen, whose adapter answers READs and acknowledges by itself")
		i.Next = slices.Insert(i.Next, 0, fmt.Sprintf("what paused %v then: the log of its hypervisor (pause, migration, snapshot), or its own (uptime, clock, soft lockups)", i.Peer.Addr))
	default:
		text += ": adapter and network went on; a program was stalled, or all of the host, whose adapter does that by itself"
	}
	i.fact("adapter", text)
	i.FitsWith = slices.DeleteFunc(i.FitsWith, func(f string) bool { return f == hostStopped })
}

// Of how many other packets of a host at least, in as long a time before, it is told that none came in a time of so long.
const (
	fewestSigns   = 4
	signlessAfter = int64(time.Second)
)

// signsAround are the last of the packets of a host that are not RDMA before a time, the first within it, and the first after it; nil: there was none, before or after none in as long
// a time, or they were few.
func (t *teller) signsAround(host packet.Addr, since, until int64) (before, within, after *agent.Sign) {
	n := 0
	for k := range t.run.Signs {
		switch s := &t.run.Signs[k]; {
		case s.Host != host || s.At < 2*since-until:
		case s.At <= since:
			n, before = n+1, s
		case s.At < until-aftermath:
			return nil, s, nil
		case after == nil && s.At < 2*until-since:
			after = s
		}
	}
	if n < fewestSigns || until-since < signlessAfter {
		return nil, nil, nil
	}
	return before, nil, after
}

// add adds those of an end between two times, and reports whether there are any.
func (r *readsMeanwhile) add(x *timing.End, since, until int64) bool {
	if !asksForData(x) {
		return false
	}
	was := r.asked
	if only := !slices.ContainsFunc(x.Ops[:wqe.Read], func(o *timing.Operation) bool { return o != nil }); only && len(x.Asks) == timing.MostAsks {
		n := answeredIn(&x.Series, since, until) // not all are kept one by one
		r.asked, r.answered, r.least = r.asked+n, r.answered+n, true
		for k := range x.Series.Slots {
			if answeredAlso(&x.Series, k, since, until) {
				r.at = append(r.at, x.Series.Start+int64(k)*x.Series.Width)
			}
		}
	} else {
		r.least = r.least || len(x.Asks) == timing.MostAsks
		for _, s := range x.Asks {
			if s.Begin <= since || s.Begin >= until {
				continue
			}
			if r.asked++; s.End != 0 && (s.End-s.Begin)*promptParts <= until-since {
				r.answered++
				r.at = append(r.at, s.End)
			}
		}
	}
	r.atomics = r.atomics || r.asked > was && slices.ContainsFunc(x.Ops[wqe.Read+1:], func(o *timing.Operation) bool { return o != nil })
	return r.asked > was
}

// longestWithout is the longest part of a time in which none was answered, nanoseconds.
func (r *readsMeanwhile) longestWithout(since, until int64) (longest int64) {
	slices.Sort(r.at)
	for _, at := range append(r.at, until) {
		longest, since = max(longest, at-since), max(since, at)
	}
	return longest
}

// sentAllTheTime reports whether packets of a host show that it was there all of a time.
func (t *teller) sentAllTheTime(a packet.Addr, since, until int64) bool {
	if !t.timed() || since >= until || len(t.run.Connections) > mostOthers {
		return false
	}
	var all timing.Activity
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		for e := range c.Ends {
			if c.Timing != nil && c.Service.Reliable() && c.Ends[e].Addr == a {
				all.Join(&c.Timing.Ends[e].Active)
			}
		}
	}
	s := &timing.Silence{From: since, To: until}
	return all.Sends(s, hereParts) && all.Sent(s)
}
