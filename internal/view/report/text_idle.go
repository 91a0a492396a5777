package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
)

// From how many messages on, for how long, and below what share of it (one in so many) in which any of them waited, an end is told to have been idle.
const (
	idleMessages = 32
	idleTime     = 100 * time.Millisecond
	idleShare    = 10
)

// idleEnd is an end of which the tap saw most of the time no request wait for its answer.
type idleEnd struct {
	c     *agent.Connection
	end   int
	busy  float64 // the share of the time in which one waited
	bytes uint64
}

// idle tells, where times were measured and nothing else happened, of ends of which the tap saw most of the time no request wait for its answer, and whose turn it was. It may have waited with a tap that is far from that end.
// Of connections that went quiet nothing is told: what ended them is not known. Nor is of those whose programs are told to be slow, or of any where one hangs, where several hosts went quiet, or where connections ended with a time without any frame, in
// which what was sent may have waited unseen.
func (t *text) idle() {
	if len(t.hangs()) > 0 || t.endedSilently() || t.quietTold() != "" {
		return
	}
	var list []idleEnd
	for _, c := range t.measured() {
		if t.mayIdle(c) {
			for k := range c.Ends {
				if e, ok := idleOf(c, k); ok {
					list = append(list, e)
				}
			}
		}
	}
	if len(list) == 0 {
		return
	}
	slices.SortStableFunc(list, func(a, b idleEnd) int { return cmp.Compare(b.bytes, a.bytes) })
	var names []string
	for _, k := range list[:min(len(list), pacesTold)] {
		e := &k.c.Ends[k.end]
		names = append(names, fmt.Sprintf("%v %s (%s)", e.Addr, qp(e.QPN, e.QPNKnown), inPercent(1-k.busy)))
	}
	if n := len(list) - pacesTold; n > 0 {
		names = append(names, count(n, "more end"))
	}
	why, all := t.whoseTurns(list)
	either := "."
	if !all {
		either = ": a program of either end may limit the pace there, or what is between that end and the tap."
	}
	t.prose("  ", "Idle: most of the time the tap saw no request wait for its answer at "+enumerate(names)+either+why)
}

// whoseTurns says which ends of some connections had to send something, each host that posts late once, but on a connection of little beside others; all says that this is known of those that are named.
func (t *text) whoseTurns(list []idleEnd) (why string, all bool) {
	most := uint64(0)
	for i := range t.res.Connections {
		most = max(most, bytesOf(&t.res.Connections[i]))
	}
	told, late := map[*agent.Connection]bool{}, map[packet.Addr][]turn{}
	var order []packet.Addr
	all = true
	for n, k := range list {
		if told[k.c] {
			continue
		}
		told[k.c] = true
		switch u := k.turn(); {
		case u.late != nil && idleShare*bytesOf(k.c) < most:
			all = all && n >= pacesTold // a small one beside others tells nothing of these
		case u.late != nil:
			if late[u.late.Addr] == nil {
				order = append(order, u.late.Addr)
			}
			late[u.late.Addr] = append(late[u.late.Addr], u)
		case n >= pacesTold:
		case u.said != "":
			why += " " + u.said
		default:
			all = false
		}
	}
	if len(order) > 0 {
		why += " " + postLate(order, late)
	}
	return why, all
}

// bytesOf is the payload of a connection.
func bytesOf(c *agent.Connection) uint64 { return c.Ends[0].Bytes + c.Ends[1].Bytes }

// postLate says which hosts post late on some connections, or have no more to send.
func postLate(order []packet.Addr, late map[packet.Addr][]turn) string {
	var names []string
	least, where, first := 1.0, "", late[order[0]][0]
	if len(order) == 1 && len(late[order[0]]) == 1 {
		return first.said
	}
	for n, a := range order {
		for _, u := range late[a] {
			if least = min(least, u.rest); where == "" {
				where = far(u.late)
			}
		}
		name := a.String()
		if u := late[a]; len(u) > 1 {
			name += " on " + count(len(u), "connection")
		} else {
			name += " " + qp(u[0].late.QPN, u[0].late.QPNKnown)
		}
		if n < pacesTold {
			names = append(names, name)
		}
	}
	if more := len(order) - pacesTold; more > 0 {
		names = append(names, count(more, "more host"))
	}
	if len(order) == 1 {
		return fmt.Sprintf("%s posts late, or has no more to send: for %s of the time or more nothing that it had sent there waited%s.", names[0], inPercent(least), where)
	}
	return fmt.Sprintf("%s post late, or have no more to send: for %s of the time or more nothing that each had sent waited%s.", enumerate(names), inPercent(least), strings.Replace(where, "it is", "they are", 1))
}

// turn is which end of a connection had to send something.
type turn struct {
	said string     // in words; "": that is not known
	late *agent.End // that posts late; nil: it is not known to
	rest float64    // for which part of the time it had nothing outstanding
}

// mayIdle reports whether a connection is looked at: it was measured, was not quiet in the end, and nothing else is told of it.
func (t *text) mayIdle(c *agent.Connection) bool {
	elapsed := max(c.Ends[0].Last, c.Ends[1].Last) - c.First
	if c.Timing == nil || !c.Service.Reliable() || elapsed < int64(idleTime) || c.Closed.At != 0 || t.quiet(c) != [2]bool{} || slowCommands(c) || t.hasTail(c) {
		return false
	}
	a, ok := answers(c)
	return !ok || answersOf(c, &a) == "" && !a.Waits.Changes()
}

func idleOf(c *agent.Connection, end int) (e idleEnd, ok bool) {
	n, waited := uint64(0), uint64(0)
	e.c, e.end = c, end
	for _, o := range c.Timing.Ends[end].Ops {
		if o != nil {
			n, waited, e.bytes = n+o.Count-o.Untimed-o.Incomplete, waited+o.Latency.Sum, e.bytes+o.Bytes
		}
	}
	e.busy = float64(waited) / float64(max(c.Ends[0].Last, c.Ends[1].Last)-c.First)
	return e, n >= idleMessages && e.busy < 1.0/idleShare
}

// turn says which end of a connection had to send something, most of the time or for what part of it.
func (k *idleEnd) turn() turn {
	c := k.c
	if a, ok := c.Timing.Exchange.Answers(); ok && !a.Chance && a.Rest+a.Served > 0 {
		return turnOf(&c.Ends[1-a.By], &c.Ends[a.By], a.Rest.Seconds()/(a.Rest+a.Served).Seconds())
	}
	if u := c.Upper; commanded(c) && c.Timing.Commands != nil && u.Open == 0 {
		if e, rest := &c.Ends[u.Slowest.From], 1-float64(c.Timing.Commands.Latency.Sum)/float64(max(c.Ends[0].Last, c.Ends[1].Last)-c.First); rest*idleShare >= idleShare-1 {
			return turn{fmt.Sprintf("%v %s posts late, or has no more to send: for %s of the time or more no command of it waited (%s)%s.", e.Addr, qp(e.QPN, e.QPNKnown), inPercent(rest), u.Protocol, far(e)), e, rest}
		}
	}
	e, peer := &c.Ends[k.end], &c.Ends[1-k.end]
	if peer.Messages == 0 {
		return turn{fmt.Sprintf("%v %s posts late, or has no more to send: for %s of the time it had nothing outstanding%s.", e.Addr, qp(e.QPN, e.QPNKnown), inPercent(1-k.busy), far(e)), e, 1 - k.busy}
	}
	if x, y := &c.Timing.Ends[k.end].Turns, &c.Timing.Ends[1-k.end].Turns; takeTurns(c) {
		mine, other := (x.Usual + x.Slow).Seconds(), (y.Usual + y.Slow).Seconds()
		if all := mine + other; max(mine, other)*idleShare >= all*(idleShare-1) {
			first, second := e, peer
			if other > mine {
				first, second = peer, e
			}
			return turn{said: fmt.Sprintf("Of %v %s and %v, which take turns, the first had the turn for %s of the time.", first.Addr, qp(first.QPN, first.QPNKnown), second.Addr, inPercent(max(mine, other)/all))}
		}
		return turn{said: fmt.Sprintf("%v %s and %v take turns: the first had the turn for %s of the time, and the second for %s.", e.Addr, qp(e.QPN, e.QPNKnown), peer.Addr, inPercent(mine/(mine+other)), inPercent(other/(mine+other)))}
	}
	return turn{}
}

// turnOf says for which part of the time nothing that an end had sent waited for the program of its peer, which answers each message.
func turnOf(asks, serves *agent.End, rest float64) turn {
	who, of := fmt.Sprintf("%v %s", asks.Addr, qp(asks.QPN, asks.QPNKnown)), fmt.Sprintf("%v %s", serves.Addr, qp(serves.QPN, serves.QPNKnown))
	switch {
	case rest*idleShare >= idleShare-1:
		return turn{fmt.Sprintf("%s posts late, or has no more to send: for %s of the time nothing that it had sent waited for the program of %v%s.", who, inPercent(rest), serves.Addr, far(asks)), asks, rest}
	case rest*idleShare <= 1:
		return turn{said: fmt.Sprintf("The program of %s sets the pace: for %s of the time something that %v had sent waited for it%s.", of, inPercent(1-rest), asks.Addr, far(serves))}
	}
	return turn{said: fmt.Sprintf("%s and %s limit it in turn: for %s of the time nothing that the first had sent waited, and for %s the program of the second had something to answer.", who, of, inPercent(rest), inPercent(1-rest))}
}

// far says that an end may be far from the tap.
func far(e *agent.End) string {
	if e.Near {
		return ""
	}
	return ", unless it is far from the tap"
}

// inPercent writes a share in whole percent, rounded down.
func inPercent(share float64) string { return fmt.Sprintf("%.0f %%", math.Floor(100*share)) }
