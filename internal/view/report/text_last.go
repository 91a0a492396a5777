package report

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"ibwitness/packet"
	"ibwitness/timing"
)

// lastOfRounds tells of a host that begins late in many rounds, or of few in few: all others have sent something by then, and have nothing left
// to send. "": there is none.
func (t *text) lastOfRounds(hosts []packet.Addr, list []timing.Link, few bool) string {
	l, ok := timing.LastOf(len(hosts), list)
	hub := onlyHost(len(hosts), list)
	if !ok || l.Few != few || hub >= 0 && l.After < beyondSpread*l.Spread {
		return ""
	}
	by := hosts[l.Host]
	since, then := "", ""
	if l.Since {
		then = " since then"
		since = fmt.Sprintf("; first at %s: before, it began with the others", offset(l.From, t.res.First))
	}
	how := fromTo(l.Least, l.Most)
	until := ""
	if 4*(t.res.Last-l.To) > t.res.Last-t.res.First {
		until = fmt.Sprintf(" up to %s", offset(l.To, t.res.First))
	}
	share := fmt.Sprintf("In %d of %s", l.Count, count(uint64(l.Rounds), "round"))
	if l.Count == l.Rounds {
		share = "In each of " + count(uint64(l.Rounds), "round")
	}
	opened := ""
	if o := &l.Opened; o.Count > 0 {
		opened = fmt.Sprintf(" It was first to send after the %d longest pauses between rounds%s, too (%s): whether others waited for it in these the capture does not tell.", o.Count, then, fromTo(o.Least, o.Most))
	}
	if l.Aside > 0 {
		carry := map[bool]string{true: "carries", false: "carry"}[l.Aside == 1]
		opened += fmt.Sprintf(" Messages on %s that %s little beside the others (as heartbeats) begin no round here.", count(l.Aside, "connection"), carry)
	}
	begun, follow := fmt.Sprintf("the %s", count(l.Others, "other host")), ""
	if l.Begun < l.Others {
		begun = fmt.Sprintf("%d or more of the %s", l.Begun, count(l.Others, "other host"))
		follow = " Each of those that had sent nothing began after a message that came to it since then."
	}
	t.waited = l.Sum
	beside := t.besideRounds(hosts, list, &l)
	t.rounded = t.rounded[:0]
	if !few {
		t.rounded = append(t.rounded, beside.hosts...)
	}
	who, what := by.String()+", the straggler", lateToo(hosts, l.Else)+t.notNetwork(by)
	if few {
		who = fmt.Sprintf("%v, the straggler of %s", by, fewRounds(&l))
	}
	if hub >= 0 && hub != l.Host {
		who = fmt.Sprintf("%v, or for what it waits for itself: the capture shows what %v exchanges with others only", by, hosts[hub])
	}
	cost := fmt.Sprintf("%s in all, %s of the time", span(l.Sum), inPercent(float64(l.Sum)/float64(max(l.Of, 1))))
	return fmt.Sprintf("Waits: all wait for %s. %s%s %s had sent something, and then no host sent a message%s for %s (%s) until %v did, ",
		who, share, until, begun, beside.where(), how, cost, by) +
		fmt.Sprintf("%s after the last of those had begun (median; they began within %s of one another)%s.%s%s %s%s",
			span(l.After), span(l.Spread), cmp.Or(since, t.lateEach(&l)), follow, beside.said(by), what, opened)
}

// lateEach says, where a host was late a few times, when and by how much, and how late it is at most in the other rounds, where that is much less.
func (t *text) lateEach(l *timing.Last) (s string) {
	if l.Count == l.Rounds || len(l.Times) > timesTold {
		return ""
	}
	var each []string
	for _, x := range l.Times {
		each = append(each, fmt.Sprintf("%s at %s", span(x.After), offset(x.At, t.res.First)))
	}
	s = ": " + enumerate(each)
	switch rest := count(l.Usually, "other round"); {
	case l.Usually == 0, l.Usual > l.After/mainlyLate:
	case l.Usual <= 0:
		s += fmt.Sprintf("; in the %s it began no later than the last of them", rest)
	default:
		s += fmt.Sprintf("; in the %s %s at most", rest, span(l.Usual))
	}
	return s
}

// beyondSpread is how many times as late as the others begin apart from one another a host begins at least, where the capture shows only what all exchange
// with one of them: clients that each send at times of their own have one that is last, too, and nobody waits for it.
const beyondSpread = 2

// timesTold is of how many times at most it is told when a host began late.
const timesTold = 5

// fewRounds says of how many of the rounds in which all waited for a host, for which that may be by chance, it was one host.
func fewRounds(l *timing.Last) string {
	all := l.Count
	for _, x := range l.Else {
		all += x.Count
	}
	if all == l.Count {
		return fmt.Sprintf("all %d rounds that had one (so few that it may be chance that it is the same host)", all)
	}
	return fmt.Sprintf("%d of the %d rounds that had one (so few that it may be chance that it is mostly the same host)", l.Count, all)
}

// lateToo says for which other hosts all waited, and how often.
func lateToo(hosts []packet.Addr, list []timing.Late) string {
	var said []string
	for _, x := range list[:min(len(list), mostLate)] {
		said = append(said, fmt.Sprintf("%s for %v (%s)", times(uint64(x.Count)), hosts[x.Host], span(x.Sum)))
	}
	if more := len(list) - len(said); more > 0 {
		said = append(said, "for "+count(more, "more host"))
	}
	if len(said) == 0 {
		return ""
	}
	return "Likewise they waited " + enumerate(said) + ". "
}

// onlyHost is the host that all connections have an end at, as in a capture of that host; negative: there is none.
func onlyHost(hosts int, list []timing.Link) int {
	for h := range hosts {
		if !slices.ContainsFunc(list, func(l timing.Link) bool { return l.Hosts[0] != h && l.Hosts[1] != h }) {
			return h
		}
	}
	return -1
}

// notNetwork says what was retransmitted or marked on the connections of a host that is late, which shows whether the network is why.
func (t *text) notNetwork(host packet.Addr) string {
	connections, packets, marked := 0, uint64(0), uint64(0)
	for _, c := range t.measured() {
		if c.Ends[0].Addr != host && c.Ends[1].Addr != host {
			continue
		}
		connections++
		for k := range c.Ends {
			packets, marked = packets+uint64(c.Ends[k].Retransmissions), marked+c.Timing.Ends[k].Marked
		}
	}
	const look = "So its program or host is late (it computes, loads data, or is slowed down): look there."
	on, acks := count(connections, "connection"), span(t.acknowledgedBy(host))
	held := t.heldByPauses(host)
	if packets+marked == 0 && held != "" {
		return fmt.Sprintf("Nothing was retransmitted and nothing marked as having met congestion on the %s of it, ", on) +
			fmt.Sprintf("and its adapter usually acknowledges within %s; %s: that may be why it is late, or its program or host is.", acks, held)
	}
	if packets+marked == 0 {
		return fmt.Sprintf("It is not the network: nothing was retransmitted and nothing marked as having met congestion on the %s of it, ", on) +
			fmt.Sprintf("and its adapter usually acknowledges within %s. %s", acks, look)
	}
	var what []string
	if packets > 0 {
		what = append(what, count(packets, "retransmitted packet"))
	}
	if marked > 0 {
		what = append(what, count(marked, "mark")+" of congestion")
	}
	if held != "" {
		return fmt.Sprintf("Its adapter usually acknowledges within %s. On the %s of it there were %s, and %s: that may be why it is late, or its program or host is.", acks, on, enumerate(what), held)
	}
	return fmt.Sprintf("Its adapter usually acknowledges within %s. %s On the %s of it there were %s, beside that.", acks, look, on, enumerate(what))
}

// heldByPauses says for how long pause frames had a link wait where that may be why all waited for a host; "": not for so long, or they are of a
// port of other hosts.
func (t *text) heldByPauses(host packet.Addr) string {
	most, which := time.Duration(0), "a link"
	for i := range t.res.Paused {
		p := &t.res.Paused[i]
		if own := slices.Contains(p.Hosts, host); (own || len(p.Hosts) == 0) && p.Most > most {
			if most = p.Most; own {
				which = "its link"
			}
		}
	}
	if pausesPart*most < t.waited || most == 0 {
		return ""
	}
	return fmt.Sprintf("pause frames had %s wait for up to %s in all", which, span(most))
}

// pausesPart is which part of the time for which all waited for a host, one in so many, pauses last at least that may be why.
const pausesPart = 8

// fromTo says between what times some are, or, where they look the same, that.
func fromTo(least, most time.Duration) string {
	if a, b := span(least), span(most); a != b {
		return a + " to " + b
	}
	return span(least)
}
