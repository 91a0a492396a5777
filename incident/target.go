package incident

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/upper"
)

const (
	lateTimes      = 20 // times as long as usual upper.LateAfter is at least, so that commands are late which take that long
	lateShare      = 4  // and no more of them are than one in so many
	lateTimesTold  = 4
	mostClientTold = 3
)

// targetOf returns what a command works on; nil: that is not known.
func targetOf(u *agent.Upper, o *agent.Operation) *agent.Target {
	if o == nil || o.Target < 1 || o.Target > len(u.Targets) {
		return nil
	}
	return &u.Targets[o.Target-1]
}

// beside is what is known of the commands of a server that work on anything else than one target.
type beside struct {
	answered uint64
	longest  time.Duration
	names    []string
	clients  []packet.Addr
}

// add takes the commands of a connection that work on something else, where some that began after a time were answered.
func (b *beside) add(u *agent.Upper, target string, client packet.Addr, since int64) {
	for n := range u.Targets {
		k := &u.Targets[n]
		if k.Name == target || k.Newest <= since {
			continue
		}
		b.answered += k.Answers
		b.longest = max(b.longest, k.Longest)
		if !slices.Contains(b.names, k.Name) {
			b.names = append(b.names, k.Name)
		}
		if !slices.Contains(b.clients, client) {
			b.clients = append(b.clients, client)
		}
	}
}

// onlyTarget says that all commands of c that wait work on one target, on which the server has answered none that began later, while it answered others soon, of any client. target is that; "": they do not, or nothing shows that it matters.
// The oldest has waited for a time, in nanoseconds.
func (t *teller) onlyTarget(c *agent.Connection, waited int64) (only, target string) {
	u := c.Upper
	k := targetOf(u, u.Oldest)
	if k == nil || k.Open != u.Open || k.Newest > u.Oldest.Since {
		return "", ""
	}
	open, on := u.Open, ""
	if open < fewestOfClass {
		if open, on = t.openOn(c, k.Name); open < fewestOfClass {
			return "", ""
		}
	}
	var b beside
	own := u.Oldest.Later
	if b.add(u, k.Name, c.Ends[u.Oldest.From].Addr, u.Oldest.Since); len(b.names) == 0 {
		if ofOneFile(k.Name) && onlyOf(u, k.Name) {
			return "", "" // as all that this client asked for
		}
		for _, d := range t.commandsOfServer(c) {
			if c.Closed.At != 0 && d.First >= c.Closed.At {
				continue
			}
			b.add(d.Upper, k.Name, d.Ends[fromOf(d.Upper)].Addr, u.Oldest.Since)
		}
		own = b.answered
	}
	if len(b.names) == 0 || own < fewestOfClass || classTimes*int64(b.longest) > waited {
		return "", ""
	}
	others := number(own) + " others"
	if len(b.clients) > 1 || b.clients[0] != c.Ends[u.Oldest.From].Addr {
		others = "others of " + sorted(b.clients)
	}
	return fmt.Sprintf(": all %d that are open%s work on %s%s; %s were answered meanwhile, at most %s later", open, on, k.Name, byHandle(k.Name), others, span(int64(b.longest))), k.Name
}

// ofOneFile reports whether a target is one file, or may be.
func ofOneFile(target string) bool {
	return strings.HasPrefix(target, "file id") || strings.HasPrefix(target, "the file handle")
}

// onlyOf reports whether all commands of a connection work on one target.
func onlyOf(u *agent.Upper, target string) bool {
	return !slices.ContainsFunc(u.Targets, func(k agent.Target) bool { return k.Name != target && (k.Open > 0 || k.Answers > 0) })
}

// byHandle says how it is known what commands of NFS work on.
func byHandle(target string) string {
	if strings.HasPrefix(target, "the file system") || strings.HasPrefix(target, "the export") {
		return ", as their file handles say"
	}
	return ""
}

// fromOf is the end of a connection that sends its commands, as far as one is known.
func fromOf(u *agent.Upper) int {
	switch {
	case u.Oldest != nil:
		return u.Oldest.From
	case u.Slowest != nil:
		return u.Slowest.From
	}
	return 0
}

// commandsOfServer lists the connections on which the server of c has commands of the same protocol.
func (t *teller) commandsOfServer(c *agent.Connection) (list []*agent.Connection) {
	if len(t.run.Connections) > mostOthers {
		return nil
	}
	server := c.Ends[1-fromOf(c.Upper)].Addr
	for n := range t.run.Connections {
		d := &t.run.Connections[n]
		if u := d.Upper; u != nil && u.Protocol == c.Upper.Protocol && (u.Oldest != nil || u.Slowest != nil) && d.Ends[1-fromOf(u)].Addr == server {
			list = append(list, d)
		}
	}
	return list
}

// common says what the commands of c that wait have in common, after a time in nanoseconds, and on what they work, where that is it; "": nothing.
func (t *teller) common(i *Incident, c *agent.Connection, waited int64) (only, target string) {
	if only = onlyClasses(c.Upper, waited); only == "" {
		only, target = t.onlyTarget(c, waited)
	}
	i.What = strings.TrimSuffix(i.What, ".") + only + "."
	if target != "" {
		t.waitsLikewise(i, c, target)
	}
	return only, target
}

// below says where to look for what commands on a target wait for; "": they have none in common.
func (i *Incident) below(target string) {
	if target != "" {
		i.FitsWith = []string{"what is below " + target + " there: its disk, RAID or volume, or the file system itself, that hangs"}
		i.Next[0] = "on " + i.Peer.Addr.String() + ": what that is on (iostat, dmesg for hung tasks, stacks of tasks in state D)"
	}
}

// waitsLikewise tells how many commands of which clients work on a target on other connections, which the server of c does not answer either.
func (t *teller) waitsLikewise(i *Incident, c *agent.Connection, target string) {
	open, on := map[packet.Addr]int{}, map[packet.Addr]int{}
	var clients []packet.Addr
	for _, d := range t.commandsOfServer(c) {
		if k := targetOf(d.Upper, d.Upper.Oldest); d != c && k != nil && k.Name == target && waitsUntil(d, t.run.Last) != 0 && k.Newest <= d.Upper.Oldest.Since {
			a := d.Ends[d.Upper.Oldest.From].Addr
			if on[a] == 0 {
				clients = append(clients, a)
			}
			open[a], on[a] = open[a]+k.Open, on[a]+1
		}
	}
	said, all := make([]string, 0, len(clients)), 0
	for n, a := range clients {
		all += open[a]
		if n >= mostClientTold {
			continue
		}
		k := fmt.Sprintf("%s of %v", count(uint64(open[a]), "command"), a)
		if on[a] > 1 {
			k += fmt.Sprintf(" on %d other connections", on[a])
		}
		said = append(said, k)
	}
	if n := len(clients) - mostClientTold; n > 0 {
		said = append(said, "those of "+count(uint64(n), "more client"))
	}
	if len(said) > 0 {
		have := map[bool]string{true: "has", false: "have"}[all == 1]
		i.fact("waits", fmt.Sprintf("%s, on the same, %s no answer either", enumerate(said), have))
	}
}

// lateCommands is how many commands between two hosts were late, and when.
type lateCommands struct {
	count, answers uint64
	connections    int
	times          []upper.LateTime
	more           bool
	target         string // that all of them work on; "": that is not known, or nothing was done on others meanwhile
	b              beside
	spared         []classSpared
}

// lateOf finds them for the connections of the two hosts of c, on one of which o was slow. false: what is late is not rare there.
func (t *teller) lateOf(c *agent.Connection, o *agent.Operation) (l lateCommands, ok bool) {
	if len(t.siblings(c)) > mostOthers {
		return l, false
	}
	target, client := "", c.Ends[o.From].Addr
	if k := targetOf(c.Upper, o); k != nil {
		target = k.Name
	}
	on, others, classes := uint64(0), uint64(0), map[string]bool{} // whether some of a class were late
	elsewhere := uint64(0)                                         // of those classes, commands that surely work on something else
	for _, d := range t.siblings(c) {
		u := d.Upper
		if u == nil || u.Protocol != c.Upper.Protocol || u.Late.Count == 0 || d.Ends[fromOf(u)].Addr != client {
			continue
		}
		for n := range u.Classes {
			k := &u.Classes[n]
			classes[k.Name] = classes[k.Name] || k.Longest >= time.Duration(upper.LateAfter)
			l.spare(k)
		}
		l.add(u)
		n, beside := lateOn(u, target)
		on, others = on+n, max(others, beside)
		l.b.add(u, target, client, 0)
		elsewhere += ofLateElsewhere(u, target)
	}
	l.times = upper.JoinLate(l.times)
	l.spared = slices.DeleteFunc(l.spared, func(k classSpared) bool { return classes[k.name] || k.answers < fewestOfClass })
	its := !oneOfSeveral(classes) || min(elsewhere, l.count) >= fewestOfClass // and not what these commands are
	low := int64(c.UsualCommand())*lateTimes <= upper.LateAfter
	far := low || unevenTimes*int64(l.b.longest) <= o.Ended-o.Since
	if on == l.count && on > 0 && its && others >= fewestOfClass && far && l.b.longest < time.Duration(upper.LateAfter) && len(l.b.names) > 0 {
		l.target = target
	}
	return l, low && l.count > 1 && l.count*lateShare <= l.answers
}

// ofLateElsewhere is how many commands at least of the classes of which some were late work on something else than a target: more of these classes
// were answered than commands on it.
func ofLateElsewhere(u *agent.Upper, target string) uint64 {
	of, on := uint64(0), uint64(0)
	for n := range u.Classes {
		if k := &u.Classes[n]; k.Longest >= time.Duration(upper.LateAfter) {
			of += k.Answers
		}
	}
	for n := range u.Targets {
		if k := &u.Targets[n]; k.Name == target {
			on += k.Answers
		}
	}
	return of - min(of, on)
}

// oneOfSeveral reports whether that is so for one of several, so that it is not known which of the two matters.
func oneOfSeveral(so map[string]bool) bool {
	n := 0
	for _, it := range so {
		if it {
			n++
		}
	}
	return n == 1 && len(so) > 1
}

// add takes the commands of a connection.
func (l *lateCommands) add(u *agent.Upper) {
	l.count, l.answers, l.connections, l.more = l.count+u.Late.Count, l.answers+u.Answers, l.connections+1, l.more || u.Late.More
	l.times = append(l.times, u.Late.Times...)
}

// lateOn is how many commands on a target were late, and how many on others were answered meanwhile: while one of them was, the most.
func lateOn(u *agent.Upper, target string) (n, others uint64) {
	for i := range u.Targets {
		if k := &u.Targets[i]; k.Name == target {
			n, others = n+k.Late.Count, max(others, k.Late.Others)
		}
	}
	return n, others
}

// on says on how many connections they are.
func (l *lateCommands) on() string {
	if l.connections > 1 {
		return fmt.Sprintf(" on %d connections", l.connections)
	}
	return ""
}

// only says that all that are late work on one target, while those on others were answered soon; "": that is not so.
func (l *lateCommands) only() string {
	if l.target == "" {
		return ""
	}
	names := "others"
	if len(l.b.names) <= mostClassNames {
		names = enumerate(l.b.names)
	}
	on := l.on()
	if n := len(l.times); n > 1 {
		on = fmt.Sprintf(", in %s%s,", l.episodes(), on)
	}
	return fmt.Sprintf(": all %d that took %v or longer%s work on %s; those on %s took at most %s%s", l.count, time.Duration(upper.LateAfter), on, l.target, names, span(int64(l.b.longest)), l.notOf())
}

// episodes says in how many times some were late.
func (l *lateCommands) episodes() string {
	if l.more {
		return "at least " + count(uint64(len(l.times)), "episode")
	}
	return count(uint64(len(l.times)), "episode")
}

// byTarget says how many of them work on what, where they are on one connection and work on several; "": they do not.
func (l *lateCommands) byTarget(u *agent.Upper) string {
	var list []string
	for n := range u.Targets {
		if k := &u.Targets[n]; k.Late.Count > 0 {
			list = append(list, fmt.Sprintf("%s on %s", number(k.Late.Count), k.Name))
		}
	}
	if l.connections > 1 || l.target != "" || len(u.Targets) < 2 || len(list) == 0 || len(list) > mostClassNames {
		return ""
	}
	return ": " + enumerate(list)
}

// lateTold tells how many commands were late, and in which times.
func (t *teller) lateTold(i *Incident, l *lateCommands, u *agent.Upper) {
	when := ""
	if len(l.times) == 1 {
		when = fmt.Sprintf(", from %s to %s", t.offset(l.times[0].From), t.offset(l.times[0].To))
	}
	i.fact("late", fmt.Sprintf("%s of %s%s took %v or longer%s%s", count(l.count, "command"), number(l.answers), l.on(), time.Duration(upper.LateAfter), when, l.byTarget(u)))
	var times []string
	for _, x := range l.times[:min(len(l.times), lateTimesTold)] {
		times = append(times, fmt.Sprintf("%s for %s", t.offset(x.From), span(x.To-x.From)))
	}
	if n := len(l.times) - len(times); n > 0 {
		times = append(times, fmt.Sprintf("%d more", n))
	}
	if len(l.times) > 1 {
		i.fact("episodes", enumerate(times))
	}
}
