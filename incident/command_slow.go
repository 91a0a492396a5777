package incident

import (
	"fmt"
	"slices"
	"time"

	"ibwitness/agent"
	"ibwitness/timing"
)

// inTimes has commands that were late begin with the first of the times in which some were, and end with the last, and tell when the one was that is
// named.
func (t *teller) inTimes(i *Incident, o *agent.Operation, l *lateCommands) {
	n := len(l.times)
	if n == 0 {
		return
	}
	i.episodic = n > 1
	i.Begin, i.End = min(i.Begin, l.times[0].From), max(i.End, l.times[n-1].To)
	if k := slices.IndexFunc(i.Facts, func(f Fact) bool { return f.Label == "command" }); k >= 0 && o.Since > i.Begin {
		i.Facts[k].Text += ", sent at " + t.offset(o.Since)
	}
}

// slow tells that commands took long, the longest of which are given, the longest first. on is what all that were late work on, of several
// clients; nil: there is no such.
func (t *teller) slow(c *agent.Connection, u *agent.Upper, slow []*agent.Operation, on *slowTarget) {
	o := slow[0]
	i := t.between(Slow, c, o.From)
	i.Begin, i.End, i.Lost, i.Tap, i.protocol = o.Since, o.Ended, time.Duration(o.Ended-o.Since), o.Tap, u.Protocol
	i.show(o.Frame, o.Answer)
	only := ""
	if o == u.Slowest {
		only = t.ofClass(c, on)
	}
	late, rare := t.lateOf(c, o)
	counts := rare // the late commands
	if only == "" && on == nil {
		only = late.only()
		counts = counts || only != ""
	}
	i.What = fmt.Sprintf("%v took %s to answer %s of %v%s.", &i.Peer, span(o.Ended-o.Since), o.Name, &i.Local, only)
	i.fact("command", fmt.Sprintf("%s, in frame %d, answered in frame %d", protocolOf(u), o.Frame, o.Answer))
	t.interim(i, o)
	switch {
	case u.Slow == 0:
		i.fact("others", "usually "+span(int64(c.UsualCommand()))+", of "+count(u.Answers, "command"))
	default:
		i.fact("others", othersTook(c, only != ""))
	}
	if rare {
		t.lateTold(i, &late, u)
	}
	if counts {
		t.inTimes(i, o, &late)
	}
	if rare && u.Slow == 0 {
		slow = slow[:1]
	}
	for _, k := range slow[1:] {
		if u.Slow == 0 {
			i.fact("also", fmt.Sprintf("%s for %s, from %s on, in frame %d, answered in frame %d", span(k.Ended-k.Since), k.Name, t.offset(k.Since), k.Frame, k.Answer))
		}
	}
	beside := t.answeredBeside(c, o.From, o.Since, beforeBurst(o))
	i.fact("meanwhile", beside)
	i.fact("elsewhere", t.answeredElsewhere(c, o))
	held, text := heldDuring(c, o)
	if held == 0 && !o.Lossy && !t.lossy() { // else it may have moved before
		i.fact("data", i.moved(o))
	}
	i.fact("transport", text)
	t.maybeReused(i, o)
	i.FitsWith = []string{"a server that waited itself: for its disks, its file system, a lock, or another host", "a server that was stopped or busy, while its adapter acknowledged"}
	switch {
	case o.Others+o.Own > 0 && !o.Lossy && t.answersAllAlong(c, o):
		i.fact("answered", t.otherClasses(u, o, &i.Peer)+": it had not stopped")
		i.FitsWith = i.FitsWith[:1]
	case beside != "":
		i.FitsWith[1] = "a thread of its program that serves this queue pair, and not the others, that was stopped or busy"
	}
	switch {
	case late.target != "":
		i.FitsWith = []string{onlyOn(late.target)}
	case only != "":
		i.FitsWith = []string{neededBy(o.Name)}
	}
	i.Next = []string{"the disks and the log of " + i.Peer.Addr.String() + " at that time"}
	if late.target != "" {
		i.Next = []string{lookBelow(i.Peer.Addr, late.target, u.Protocol, ", at these times")}
	}
	if on != nil {
		t.onSlowTarget(i, c, o, on)
	}
	t.tell(i, "")
}

// answersAllAlong reports whether the peer of slow command o of c answered others well within its wait: it sent messages on the connection, and for no large part
// of the wait none. What it answered soon after o began, or in one burst with it, does not show that it had not stopped.
func (t *teller) answersAllAlong(c *agent.Connection, o *agent.Operation) bool {
	if c.Timing != nil {
		if own, all := c.Timing.Ends[1-o.From].Messages(); all && own.First != 0 {
			return !slices.ContainsFunc(own.Silences, func(s timing.Silence) bool { return 2*(min(s.To, o.Ended)-max(s.From, o.Since)) > o.Ended-o.Since })
		}
	}
	return commandsAnswered(c, wellInside(o.Since, o.Ended), beforeBurst(o)) > 0
}

// wellInside is from when on in a wait another command counts as answered meanwhile: a server that has stopped may have answered some before.
func wellInside(since, end int64) int64 { return since + (end-since)/4 }

// otherClasses says how many other commands the peer of slow command o answered meanwhile, on the same connection, and of which opcodes or procedures, where that is
// certain.
func (t *teller) otherClasses(u *agent.Upper, o *agent.Operation, peer *Party) string {
	var names []string
	others := 0
	for n := range u.Classes {
		k := &u.Classes[n]
		switch {
		case k.Newest <= o.Since:
		case n != o.Class && o.Others > 0:
			others++ // of several, it is not known which had an answer before it had
			names = append(names, k.Name)
		case n == o.Class && o.Own > 0:
			names = append(names, k.Name)
		}
	}
	least := ""
	if u.GivenUp > 0 {
		least = "at least "
	}
	of := ""
	if len(names) > 0 && others < 2 {
		of = inBrackets(names)
	}
	return fmt.Sprintf("%v answered %s%s%s that began after it meanwhile, on this connection", peer, least,
		count(o.Others+o.Own, "other command"), of)
}
