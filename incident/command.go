package incident

import (
	"fmt"
	"slices"
	"time"

	"ibwitness/agent"
)

// commands tells of the commands of the protocol above that a peer has not answered, or answered late, where that is not because of the transport.
func (t *teller) commands(c *agent.Connection) {
	u := c.Upper
	if u == nil || !u.Answered {
		return
	}
	if _, one := onlyEnd(c); one {
		return // the answers are not in the capture
	}
	t.unopened(c)
	t.starved(c)
	if end, hangs := t.hangs(c); hangs {
		all := t.noneAnswered(c)
		if all != nil && !slices.Contains(all.of, c) {
			all = nil
		}
		if all == nil || all.of[0] == c {
			t.waits(c, u.Oldest, end, all)
		}
	}
	t.heldBack(c, t.heldCommands(c))
	slow := t.slowCommands(c)
	if len(slow) == 0 || t.slowByClass(c) || t.inPhase(c) {
		return
	}
	if s := t.slowTargetOf(c, slow[0]); s == nil || s.hung == nil && c == s.of {
		t.slow(c, u, slow, s)
	}
}

// transported reports whether the transport owes nothing on a connection, or what it owes ended with that, so that its commands wait for something else: not for the answers to a READ of their server, either.
func (t *teller) transported(c *agent.Connection) bool {
	for k := range c.Ends {
		e := &c.Ends[k]
		if e.Open > 0 && c.Closed.At == 0 || e.Stalled || e.Trouble != nil && e.Trouble.Refusal.Time != 0 || stalledUntilLeft(c, k) || t.lacksOwnREAD(c, k) {
			return false
		}
	}
	return true
}

// overlapped reports whether the transport made no progress for a good part of the time that a command took.
func overlapped(c *agent.Connection, o *agent.Operation) bool {
	for k := range c.Ends {
		x := c.Ends[k].Trouble
		if x == nil {
			continue
		}
		s, lost := x.Settled(false), int64(0)
		for i := range s.Longest {
			l := &s.Longest[i]
			lost += max(min(l.Since+l.Lost(), o.Ended)-max(l.Since, o.Since), 0)
		}
		if n := int64(s.Sum.Count); n > int64(longestKept) && lacksAnswer(&s) { // of which those that are kept are the longest
			lost = max(lost, min(s.Sum.Last, o.Ended)-max(s.Sum.Begun, o.Since))
		}
		if lost*4 > o.Ended-o.Since {
			return true
		}
	}
	return false
}

// manyLater is from how many later commands on that ended it is more likely that one was lost than that a server waits.
const manyLater = 16

// waits tells that a command had no answer until the end of its connection, or of the capture. all are those of all clients of the server, where it
// answers none any more; nil: it does.
func (t *teller) waits(c *agent.Connection, o *agent.Operation, end int64, all *openCommands) {
	i := t.between(Waiting, c, o.From)
	lossy := o.Unsure || t.lossy() // so that it may have been answered where the capture has lost packets
	waited, unfetched := end-o.Since, o.Unfetched > 0 && !lossy
	i.Begin, i.End, i.Ongoing, i.Lost, i.Tap = o.Since, end, c.Closed.At == 0, time.Duration(waited), o.Tap
	i.show(o.Frame)
	closed, nor := "", ""
	if unfetched {
		nor = ", nor fetched its data"
	}
	if o.Interim != 0 {
		nor += ", beyond an interim STATUS_PENDING"
	}
	i.What = fmt.Sprintf("%v has not answered %s of %v%s%s.", &i.Peer, o.Name, &i.Local, t.within(" for %s", waited), nor)
	if c.Closed.At != 0 {
		i.show(c.Closed.Frame)
		closed = fmt.Sprintf(", until %v disconnected", c.Closed.By)
		if nor != "" {
			nor += ","
		}
		i.What = fmt.Sprintf("%v had not answered %s of %v%s%s when %v disconnected.", &i.Peer, o.Name, &i.Local, t.within(" for %s", waited), nor, c.Closed.By)
	}
	blocks := ""
	if o.Blocks != "" {
		blocks = ": " + o.Blocks
	}
	i.fact("command", fmt.Sprintf("%s, in frame %d%s", protocolOf(c.Upper), o.Frame, blocks))
	t.repeats(i, o)
	t.interim(i, o)
	t.aborted(i, c, o)
	only, target := "", ""
	if all == nil {
		only, target = t.withOthersThat(i, c, o, end, lossy)
	} else {
		t.callsUsedUp(i, c)
	}
	if t.run.RDMA > 0 && !lossy && c.Ends[0].Open == 0 && c.Ends[1].Open == 0 { // else the run goes on, and nobody has looked
		i.fact("transport", "every request on the connection that came to the tap was acknowledged"+notNetwork(t.allSmall(c, 1-o.From) == "" || unfetched && o.Later > 0 || answeredAlike(c.Upper, o)))
	}
	t.peer(i, c, 1-o.From, o.Since, end, "this request")
	i.FitsWith = waitsFor(o, only, fetched(c, o))
	t.resumes(i, c, o)
	hasData(i, c)
	if all == nil {
		t.besideWaiting(i, c, o, end, lossy)
	}
	if o.Later >= manyLater && !unfetched && answeredUntil(c.Upper, o, end) == 0 {
		slices.Reverse(i.FitsWith)
	}
	i.Next = []string{"on " + i.Peer.Addr.String() + ": its log and dmesg, disks, and tasks that wait (state D)", "on " + i.Local.Addr.String() + ": what waits for this command"}
	i.below(target)
	if i.servedAlone {
		what := "this queue pair"
		if c.Upper.Queue != "" {
			what = c.Upper.Queue
		}
		i.Next = slices.Insert(i.Next, 0, fmt.Sprintf("on %v: the thread that serves %s, its core, and the interrupt of its completion queue", i.Peer.Addr, what))
	}
	switch {
	case unfetched:
		t.unfetched(i, c, o)
		t.credits(i, c, o)
	case !lossy:
		if !answeredAlike(c.Upper, o) && !t.sentNone(i, c, o, end) {
			t.heldBySize(i, c, 1-o.From)
		}
		t.credits(i, c, o)
	default:
		i.Next = i.Next[1:]
		i.doubt(fmt.Sprintf("The capture, which lost packets, holds no answer of %v to %s of %v%s%s.", &i.Peer, o.Name, &i.Local, t.within(" in %s", waited), closed))
		if t.answeredUnseen(c, o) {
			i.amongLost = fmt.Sprintf("%s of %v (frame %d)", o.Name, &i.Local, o.Frame)
		}
	}
	if s := t.slowTargetOf(c, o); s != nil && s.hung == c && all == nil {
		t.onSlowTarget(i, c, o, s)
	}
	if all != nil {
		t.answersNone(i, all)
	}
	t.tell(i, "")
}

// withOthersThat tells which other commands wait with o of c, and what they have in common, as common returns it, or which do not.
func (t *teller) withOthersThat(i *Incident, c *agent.Connection, o *agent.Operation, end int64, lossy bool) (only, target string) {
	if !lossy {
		only, target = t.common(i, c, end-o.Since)
	}
	t.waitInAll(i, c, o, end, only)
	t.callsUsedUp(i, c)
	if o.Later > 0 && only == "" {
		serves := "ended: its peer serves others"
		if last := answeredUntil(c.Upper, o, end); last != 0 {
			serves = fmt.Sprintf("ended: the last answer there came at %s, %s after this one began, and none since", t.offset(last), span(last-o.Since))
		}
		i.fact("meanwhile", count(o.Later, "command")+" that began after it on this connection "+serves)
	}
	return only, target
}

// answeredUntil is when the newest answer on the connection of command o came, where that was in the former half of its wait, and others wait
// for theirs since; 0: it was later, or that is not known.
func answeredUntil(u *agent.Upper, o *agent.Operation, end int64) int64 {
	if len(u.Recent) == 0 || u.Open < 2 {
		return 0
	}
	last := u.Recent[len(u.Recent)-1]
	if last <= o.Since || 2*(last-o.Since) >= end-o.Since {
		return 0
	}
	return last
}

// besideWaiting tells what the server of o of c answered meanwhile on other connections.
func (t *teller) besideWaiting(i *Incident, c *agent.Connection, o *agent.Operation, end int64, lossy bool) {
	if !lossy {
		t.queuesBeside(i, c, o, end)
	}
	t.servesOthers(i, c, o, end)
}

// repeats says that command o was repeated while it waited.
func (t *teller) repeats(i *Incident, o *agent.Operation) {
	r := &o.Again
	if r.Times == 0 {
		return
	}
	first := ""
	if r.Times > 1 {
		first = ", first"
	}
	i.fact("repeated", fmt.Sprintf("%s on this connection with the ID that it had%s%s, in frame %d", times(uint64(r.Times)), first, t.within(" %s after it", r.First-o.Since), r.Frame))
	i.show(r.Frame)
}

// notNetwork says that commands do not wait for the network, where nothing speaks against that.
func notNetwork(it bool) string {
	if it {
		return ": it is not the network that they wait for"
	}
	return ""
}

// waitsFor is what fits where a server does not answer command o; only says, where it is not empty, that no commands but those of a class wait, and fetched that the server has its data.
func waitsFor(o *agent.Operation, only string, fetched bool) []string {
	switch itself := "a server that waits itself: for its disks, its file system, a lock, or another host"; {
	case only != "":
		return []string{"what these commands need of the server and the others do not: a disk or file system that hangs or is frozen, a journal or cache that can not be flushed, a mirror that is away"}
	case o.Interim != 0:
		return []string{itself}
	case o.Later > 0 && fetched:
		return []string{itself, "a server that has lost the answer to this command"}
	case o.Later > 0:
		return []string{itself, "a server that has lost this command, or its answer"}
	default:
		return []string{itself, allStopped}
	}
}

const allStopped = "a server whose threads are stopped or all busy, while its adapter acknowledges"
