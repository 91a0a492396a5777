package incident

import (
	"fmt"
	"slices"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/timing"
	"ibwitness/upper"
	"ibwitness/verifier"
)

// slowPhase is the time in which a good part of all commands of a server were late, those of each client, while before or since none
// was.
type slowPhase struct {
	slowSet
	protocol      string
	late, answers uint64
	times         []upper.LateTime
	before, since uint64 // that were answered before and after it, at least
	took          verifier.Histogram
	more          bool            // there were more times in which some were late than are kept
	changes       []timing.Change // of the connections: from when on commands took many times as long, where late ones are not of one time
}

// slowPhases tells of them.
func (t *teller) slowPhases() {
	for _, s := range t.phasesOf() {
		if !slices.ContainsFunc(t.order, func(i *Incident) bool { return i.Kind == Slow && i.Peer.Addr == s.server }) {
			t.tellSlowPhase(s)
		}
	}
}

// inPhase reports whether what is slow on a connection is told with all that its server answered late.
func (t *teller) inPhase(c *agent.Connection) bool {
	return slices.ContainsFunc(t.phasesOf(), func(s *slowPhase) bool { return slices.Contains(s.on, c) })
}

// phasesOf finds them, of each server.
func (t *teller) phasesOf() []*slowPhase {
	if t.phases != nil {
		return *t.phases
	}
	var list []*slowPhase
	if t.phases = &list; !t.timed() || t.lossy() || len(t.run.Connections) > mostOthers {
		return nil
	}
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		u := c.Upper
		if u == nil || !u.Answered || u.Late.Count == 0 {
			continue
		}
		server := c.Ends[1-fromOf(u)].Addr
		if slices.ContainsFunc(list, func(s *slowPhase) bool { return s.server == server && s.protocol == u.Protocol }) {
			continue
		}
		list = append(list, &slowPhase{slowSet: slowSet{server: server}, protocol: u.Protocol})
	}
	list = slices.DeleteFunc(list, func(s *slowPhase) bool { return !t.fillPhase(s) || !t.holdsPhase(s) })
	return list
}

// fillPhase adds up what a server answered; false: it is not known of all, or more happened than that it was late.
func (t *teller) fillPhase(s *slowPhase) bool {
	var joined []upper.LateTime
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		u := c.Upper
		if u == nil || u.Protocol != s.protocol || u.Slowest == nil || c.Ends[1-fromOf(u)].Addr != s.server {
			continue
		}
		h := measured(c)
		if h == nil || t.otherwise(c) || len(t.slowCommands(c)) < len(c.SlowCommands()) || t.ofClass(c, nil) != "" {
			return false
		}
		if late, _ := t.lateOf(c, u.Slowest); late.target != "" {
			return false
		}
		s.add(c, func(*agent.Operation) bool { return true })
		s.took.Add(h)
		s.late, s.answers = s.late+u.Late.Count, s.answers+u.Answers
		s.times, s.more = append(s.times, u.Late.Times...), s.more || u.Late.More
	}
	if len(s.on) == 0 {
		return false
	}
	for _, x := range upper.JoinLate(s.times) {
		if n := len(joined); n > 0 && x.From-joined[n-1].To <= int64(s.half()) { // shorter than what is late takes
			joined[n-1].To = x.To
		} else {
			joined = append(joined, x)
		}
	}
	if s.times = joined; s.more || len(joined) > 1 {
		s.change()
	}
	return true
}

// change takes as the time of it that in which commands took many times as long in the mean on each connection, where there is one: late ones may be of
// many times, as where few are sent a second.
func (s *slowPhase) change() {
	all := upper.LateTime{}
	var changes []timing.Change
	for _, c := range s.on {
		if c.Upper.Answers < fewestUneven {
			continue
		}
		k, ok := c.Timing.Commands.Change()
		if !ok || k.Then < unevenAfter || k.Then < slowPhaseTimes*k.Usual {
			return
		}
		if changes = append(changes, k); all.To == 0 {
			all = upper.LateTime{From: k.From, To: k.To}
		}
		if overlap := min(all.To, k.To) - max(all.From, k.From); 2*overlap < max(all.To, k.To)-min(all.From, k.From) {
			return // they were slow at other times
		}
		all = upper.LateTime{From: min(all.From, k.From), To: max(all.To, k.To)}
	}
	if changes != nil {
		s.changes, s.times, s.more = changes, []upper.LateTime{all}, false
	}
}

// slowPhaseTimes is how many times as long commands took in the mean at least in a time that is told for that.
const slowPhaseTimes = 10

// holdsPhase reports whether a good part of its commands were late, of each client, in one time, the others were far faster, and some of them show
// when it began or ended.
func (t *teller) holdsPhase(s *slowPhase) bool {
	if len(s.times) != 1 || s.more || s.slowest == nil || s.late < fewestUneven || s.answers-s.late < fewestUneven || s.late*lateShare <= s.answers ||
		s.usual()*lateTimes > time.Duration(upper.LateAfter) || 4*s.acked > s.half() {
		return false
	}
	for _, c := range s.on {
		if c.Upper.Answers >= fewestUneven && c.Upper.Late.Count*lateShare <= c.Upper.Answers || movesMuch(c, s.half()) {
			return false
		}
		s.before += commandsAnswered(c, c.First, s.times[0].From)
		s.since += commandsAnswered(c, s.times[0].To, s.end)
	}
	return max(s.before, s.since) >= slowSinceLeast
}

// half is what half of those that were late took at least, and usual what half of the others took at most.
func (s *slowPhase) half() time.Duration {
	return s.took.Quantile(1 - float64(s.late)/float64(2*s.answers))
}

func (s *slowPhase) usual() time.Duration {
	return s.took.Quantile(float64(s.answers-s.late) / float64(2*s.answers))
}

// tellSlowPhase tells of it.
func (t *teller) tellSlowPhase(s *slowPhase) {
	i := t.slowAt(&s.slowSet)
	x := s.times[0]
	i.Begin, i.End, i.slowOf = x.From, x.To, s.on
	i.show(s.slowest.Frame, s.slowest.Answer)
	var none string
	switch {
	case s.before >= slowSinceLeast && s.since >= slowSinceLeast:
		none = fmt.Sprintf("before (%d at least) and since (%d at least) none did", s.before, s.since)
	case s.before >= slowSinceLeast:
		none = fmt.Sprintf("before (%d at least) none did", s.before)
	default:
		none = fmt.Sprintf("since (%d at least) none did", s.since)
	}
	on := "the connection"
	if n := len(s.on); n > 1 {
		on = fmt.Sprintf("%d connections", n)
	}
	i.What = fmt.Sprintf("%v was slow from %s to %s, for %s: %s of at most %s commands in that time, on %s, took %v or longer, "+
		"half of them %s or longer, up to %s; %s, and the others usually took %s.",
		s.server, t.offset(x.From), t.offset(x.To), sorted(slices.Clone(s.clients)), number(s.late), number(s.answers-s.before-s.since), on,
		time.Duration(upper.LateAfter), span(int64(s.half())), span(s.slowest.Ended-s.slowest.Since), none, span(int64(s.usual())))
	if s.changes != nil {
		i.What = s.slower(t, on)
	}
	i.slowFacts(&s.slowSet, "elsewhere", t.otherServers(s))
	if o := s.slowest; o.Others+o.Own > 0 {
		i.fact("answered", t.otherClasses(s.of.Upper, o, &i.Peer))
	}
	i.FitsWith = []string{"a server that waited itself: for its disks, its file system, a lock, or another host", "a server that was busy"}
	i.Next = []string{lookBelow(s.server, "", s.protocol, fmt.Sprintf(", from %s to %s", t.offset(x.From), t.offset(x.To)))}
	t.tell(i, "phase")
}

// slower says how long commands took in the mean in that time, and else.
func (s *slowPhase) slower(t *teller, on string) string {
	first := s.changes[0]
	least, most, usual, before, after := first.Then, first.Then, first.Usual, true, true
	for _, k := range s.changes {
		least, most, usual = min(least, k.Then), max(most, k.Then), max(usual, k.Usual)
		before, after = before && k.Before, after && k.After
	}
	when, mean := "else", span(int64(least))
	switch {
	case before && after:
		when = "before and since"
	case before:
		when = "before"
	case after:
		when = "since"
	}
	if span(int64(most)) != mean {
		mean += " to " + span(int64(most))
	}
	return fmt.Sprintf("%v was slow from about %s to %s, for %s: commands on %s took %s in the mean in that time, up to %s; %s %s in the mean, or less.",
		s.server, t.offset(s.times[0].From), t.offset(s.times[0].To), sorted(slices.Clone(s.clients)), on, mean, span(s.slowest.Ended-s.slowest.Since), when, span(int64(usual)))
}

// otherServers says how soon other servers answered the same clients, before, in and after the time; "": none did.
func (t *teller) otherServers(s *slowPhase) string {
	var list []exchange
	for n := range t.run.Connections {
		d := &t.run.Connections[n]
		u := d.Upper
		if u == nil || u.Protocol != s.protocol || u.Slowest == nil || !slices.Contains(s.clients, d.Ends[u.Slowest.From].Addr) {
			continue
		}
		server := d.Ends[1-u.Slowest.From].Addr
		if server == s.server || commandsAnswered(d, s.times[0].From, s.times[0].To) == 0 {
			continue
		}
		x := exchange{server, packet.Addr{}, u.Answers, u.Slowest.Ended - u.Slowest.Since}
		if k := slices.IndexFunc(list, func(y exchange) bool { return y.server == server }); k >= 0 {
			list[k].answers, list[k].longest = list[k].answers+x.answers, max(list[k].longest, x.longest)
		} else {
			list = append(list, x)
		}
	}
	slices.SortFunc(list, func(a, b exchange) int { return a.server.Compare(b.server) })
	var told []string
	for _, x := range list[:min(len(list), mostClientTold)] {
		told = append(told, fmt.Sprintf("%v answered commands in that time, too: of all %s in the capture, none took longer than %s",
			x.server, number(x.answers), span(x.longest)))
	}
	return enumerate(told)
}
