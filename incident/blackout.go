package incident

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// For how many times the mean time between two packets, with how many messages, a connection is busy that carries nothing; how many times as long as any other a blackout is at least, and how many hosts are told of.
const (
	blackoutTimes    = 100
	blackoutMessages = 64
	blackoutOnly     = 4
	blackoutHosts    = 3
)

// affected is a host in a blackout.
type affected struct {
	host  packet.Addr
	went  []*agent.Connection // with the host that all have in common: those that were busy, and went on with the next PSN
	lost  []*agent.Connection // those that carry nothing after it, and were disconnected then
	again *agent.Connection   // the first that began after it; nil: none did
	timer retryTimer
}

// retryTimer is how long a requester retries.
type retryTimer struct {
	timeout, retries uint8
	asked            bool // its REQs ask the other end for these: what it uses itself is not on the wire, and on Linux is the same
}

// least is how long it retries at least, nanoseconds; it may take up to retryLonger times as long (RC-TMO-002).
func (r retryTimer) least() int64 {
	return int64(packet.Timeout(r.timeout)) * int64(r.retries+1)
}

const retryLonger = 4

func (r retryTimer) String() string {
	s := fmt.Sprintf("ACK timeout %s (code %d), retry_cnt %d", span(int64(packet.Timeout(r.timeout))), r.timeout, r.retries)
	if r.asked {
		s += " in its REQs"
	}
	return s + fmt.Sprintf(": with these, retries last %s to %s", span(r.least()), span(retryLonger*r.least()))
}

// retryTimerOf is that of the end of a connection which a host has, or else what CM gave the other end; false: it is not known.
func retryTimerOf(c *agent.Connection, host packet.Addr) (retryTimer, bool) {
	const known = qp.KnowsTimeout | qp.KnowsRetryCnt
	ends := []*agent.End{&c.Ends[0], &c.Ends[1]}
	if c.Ends[1].Addr == host {
		slices.Reverse(ends)
	}
	for n, e := range ends {
		if e.Knows(known) && (n == 0 || c.PairedBy == agent.ByCM) && e.Timeout != 0 {
			return retryTimer{e.Timeout, e.RetryCnt, n > 0 && e == &c.Ends[1]}, true
		}
	}
	return retryTimer{}, false
}

// blackout tells of silence k as an outage of the host that all connections have in common which were busy until then, where some hosts went on with the next PSN after it, so that nothing was sent meanwhile, and
// others, whose retries last shorter, had lost their connections. It reports whether it did.
func (t *teller) blackout(k *still) bool {
	if k.waited > 0 || !t.longest(k) || t.lossy() {
		return false
	}
	hub, hosts := t.affectedBy(k)
	if hub.IsZero() {
		return false
	}
	length := k.To - k.From
	var went, lost []*affected
	longest, shortest := int64(0), int64(-1) // least retries of those who lost, and of those who went on
	for _, a := range hosts {
		if !a.timed() {
			return false
		}
		switch least := a.timer.least(); {
		case len(a.lost) == 0 && retryLonger*least > length:
			went = append(went, a)
			if shortest < 0 || least < shortest {
				shortest = least
			}
		case len(a.went) == 0 && len(a.lost) > 0 && least < length:
			lost = append(lost, a)
			longest = max(longest, least)
		default:
			return false
		}
	}
	if len(went) == 0 || len(lost) == 0 || longest >= shortest {
		return false
	}
	t.tellBlackout(k, hub, went, lost)
	return true
}

// longest reports whether a silence is much longer than any other: it is not one of programs that pause again and again.
func (t *teller) longest(k *still) bool {
	for i := range t.still {
		if o := &t.still[i]; o != k && blackoutOnly*(o.To-o.From) >= k.To-k.From {
			return false
		}
	}
	return true
}

// affectedBy returns which host all connections have in common that were busy until silence k, and the others, by address; the zero address: there is no such host, or one of two only.
func (t *teller) affectedBy(k *still) (hub packet.Addr, hosts []*affected) {
	var open []*agent.Connection
	of := map[packet.Addr]int{}
	busy := 0
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		if !c.Service.Reliable() || c.First >= k.From || c.Closed.At != 0 && c.Closed.At <= k.From {
			continue
		}
		open = append(open, c)
		if busyBefore(c, k) {
			busy++
			of[c.Ends[0].Addr]++
			of[c.Ends[1].Addr]++
		}
	}
	for a, n := range of {
		if n == busy && len(of) > 2 {
			hub = a
		}
	}
	if hub.IsZero() {
		return hub, nil
	}
	by := map[packet.Addr]*affected{}
	for _, c := range open {
		far, ok := farEnd(c, hub)
		if !ok || of[far] == 0 {
			continue
		}
		if by[far] == nil {
			by[far] = &affected{host: far}
		}
		a, after := by[far], max(c.Ends[0].Last, c.Ends[1].Last) >= k.To
		switch {
		case after && busyBefore(c, k) && c.Ends[0].Trouble == nil && c.Ends[1].Trouble == nil:
			a.went = append(a.went, c)
		case !after && c.Closed.At >= k.To:
			a.lost = append(a.lost, c)
			if d := t.nextOf(c, k.To-1); d != nil && (a.again == nil || d.First < a.again.First) {
				a.again = d
			}
		case busyBefore(c, k):
			return packet.Addr{}, nil // what became of it does not tell
		}
	}
	return hub, slices.SortedFunc(maps.Values(by), func(a, b *affected) int { return a.host.Compare(b.host) })
}

// busyBefore reports whether a connection was busy until a silence began.
func busyBefore(c *agent.Connection, k *still) bool {
	last, length := max(c.Ends[0].Last, c.Ends[1].Last), k.To-k.From
	active := last - c.First
	if last >= k.To {
		active -= length
	}
	usual := active / int64(max(c.Ends[0].Packets+c.Ends[1].Packets, 1))
	return c.Ends[0].Messages+c.Ends[1].Messages >= blackoutMessages && length >= blackoutTimes*usual && (last >= k.To || k.From-last < length/blackoutTimes+blackoutTimes*usual)
}

// timed finds how long a host retries, and reports whether it is known, and the same on all of its connections.
func (a *affected) timed() bool {
	for n, c := range slices.Concat(a.went, a.lost) {
		r, ok := retryTimerOf(c, a.host)
		if !ok || n > 0 && r != a.timer {
			return false
		}
		a.timer = r
	}
	return len(a.went)+len(a.lost) > 0
}

// tellBlackout tells of silence k, of which host hub is what all have in common, who went on after it and who lost connections.
func (t *teller) tellBlackout(k *still, hub packet.Addr, went, lost []*affected) {
	slices.SortStableFunc(lost, func(a, b *affected) int { return cmp.Compare(b.until(), a.until()) })
	i := &Incident{Kind: Interrupted, Certainty: Likely, Local: Party{Addr: lost[0].host}, Peer: Party{Addr: hub}, Begin: k.From, End: max(k.To, lost[0].until()), Tap: k.Tap, listed: true}
	i.Lost = time.Duration(i.End - i.Begin)
	i.show(k.Frame)
	length := span(k.To - k.From)
	i.What = fmt.Sprintf("%v was cut off from %d hosts for up to %s, in which the capture holds no frame of any host; then %s went on, and %s had lost their connections", hub, len(went)+len(lost), length, someOf(addrs(went)), someOf(addrs(lost)))
	who := fmt.Sprintf("; %v, the last of them to have another,", lost[0].host)
	if len(lost) == 1 {
		who, i.What = ", and", strings.Replace(i.What, "had lost their", "had lost its", 1)
	}
	if a := lost[0]; a.again != nil {
		i.What += fmt.Sprintf("%s connected once more %s after the last frame", who, span(a.again.First-k.From))
		i.show(a.again.FirstFrame)
	}
	i.What += "."
	more := ""
	if len(went) > 1 {
		more = " or more"
	}
	for _, a := range went[:min(len(went), blackoutHosts)] {
		i.fact("went on", fmt.Sprintf("%v on %s, with the next PSN, after %s%s; %v", a.host, count(uint64(len(a.went)), "connection"), length, more, a.timer))
	}
	for _, a := range lost[:min(len(lost), blackoutHosts)] {
		i.fact("lost", a.loss(i, k))
	}
	for _, a := range slices.Concat(went, lost) {
		i.Connections += len(a.went) + len(a.lost)
		if a != lost[0] {
			i.Also = append(i.Also, a.host)
		}
	}
	i.fact("tap", "no PSN is missing on what went on: nothing was sent meanwhile that only the capture lacks")
	retries := fmt.Sprintf("for longer than the retries of %s last, and not than those of %s", someOf(addrs(lost)), someOf(addrs(went)))
	i.FitsWith = []string{fmt.Sprintf("the link of %v or its switch port, or the host itself, that was down %s", hub, retries), "a switch that all of this passes, that stopped or restarted"}
	i.Next = []string{
		fmt.Sprintf("link events of %v and of its switch port at that time (dmesg, the log of the switch), its cable and optics", hub),
		fmt.Sprintf("a longer ACK timeout for %s, as that of %v (code %d): retries that last as long outlast such a time", someOf(addrs(lost)), went[0].host, went[0].timer.timeout),
	}
	if a := lost[0]; a.again != nil && a.again.First-k.To > int64(together) {
		i.Next = append(i.Next, fmt.Sprintf("why %v connected once more only %s after others went on: its reconnect delay", a.host, span(a.again.First-k.To)))
	}
	t.order = append(t.order, i)
}

// until is when a host that lost its connections had another; 0: it had none.
func (a *affected) until() int64 {
	if a.again == nil {
		return 0
	}
	return a.again.First
}

// loss says what became of a host that lost its connections in silence k.
func (a *affected) loss(i *Incident, k *still) string {
	first := slices.MinFunc(a.lost, func(c, d *agent.Connection) int { return cmp.Compare(c.Closed.At, d.Closed.At) })
	i.show(first.Closed.Frame)
	s := fmt.Sprintf("%v on %s, which carry nothing after it; %v; %v disconnected %s after the last frame, in frame %d", a.host, count(uint64(len(a.lost)), "connection"), a.timer, first.Closed.By, span(first.Closed.At-k.From), first.Closed.Frame)
	if a.again == nil {
		return s + ", and no other connection follows"
	}
	return s + fmt.Sprintf("; the next connection began %s after the last frame, in frame %d", span(a.again.First-k.From), a.again.FirstFrame)
}

// addrs are the addresses of hosts.
func addrs(list []*affected) (out []packet.Addr) {
	for _, a := range list {
		out = append(out, a.host)
	}
	return out
}
