package incident

import (
	"fmt"
	"slices"
	"time"

	"ibwitness/agent"
	"ibwitness/upper"
)

// heldCommands returns those of the slow commands of a connection whose answers were held until their client sent a message, right after which they left in one
// burst: they waited for that, and not for a disk. They are not among those of slowCommands.
func (t *teller) heldCommands(c *agent.Connection) []*agent.Operation {
	return slices.DeleteFunc(t.slowOf(c), func(o *agent.Operation) bool { return !t.held(o) })
}

// held reports whether the answer to a command was.
func (t *teller) held(o *agent.Operation) bool { return o.Freed.Frame != 0 && !o.Lossy && !t.lossy() }

// holds reports whether answers to slow commands of a connection were held.
func (t *teller) holds(c *agent.Connection) bool {
	return slices.ContainsFunc(c.SlowCommands(), t.held)
}

// heldBack tells of answers that were held, of which those to some commands were longest, the longest first.
func (t *teller) heldBack(c *agent.Connection, list []*agent.Operation) {
	if len(list) == 0 {
		return
	}
	o, u := list[0], c.Upper
	kind := 0
	if o.Freed.Dry {
		kind = 1
	}
	s := &u.Releases[1-o.From][kind]
	of := &s.Longest
	for _, r := range []*upper.Release{&s.First, &s.Newest} {
		if r.Freed.Frame == o.Freed.Frame {
			of = r
		}
	}
	i := t.between(Slow, c, o.From)
	i.Begin, i.End, i.Lost, i.Tap, i.protocol = min(o.Since, s.First.Last.Time), s.Newest.First, time.Duration(o.Ended-o.Since), o.Tap, u.Protocol
	i.episodic, i.ungranted = s.Count > 1, o.Freed.Dry
	i.show(o.Frame, o.Answer, of.Last.Frame, of.Freed.Frame)
	i.What = fmt.Sprintf("%v took %s to answer %s of %v", &i.Peer, span(o.Ended-o.Since), o.Name, &i.Local)
	i.fact("command", fmt.Sprintf("%s, in frame %d, answered in frame %d, sent at %s", protocolOf(u), o.Frame, o.Answer, t.offset(o.Since)))
	if o.Freed.Dry {
		i.noCredit(s, of)
	} else {
		i.heldUntil(of, o)
	}
	i.fact("answers", t.releases(s))
	if u.Slow > 0 {
		i.fact("others", othersTook(c, false))
	}
	i.fact("elsewhere", t.answeredElsewhere(c, o))
	i.fact("data", i.moved(o))
	_, text := heldDuring(c, o)
	i.fact("transport", text)
	t.tell(i, "")
}

// releases says how often an end held answers, for how long, and how they left.
func (t *teller) releases(s *upper.Releases) string {
	if s.Count == 1 && s.Held == 1 {
		return ""
	}
	left := fmt.Sprintf("%s that it had held left in one burst, the first of them %s after a message of its client, in frame %d",
		count(uint64(s.First.Held), "answer"), span(s.First.First-s.First.Freed.Time), s.First.Freed.Frame)
	if s.Count == 1 {
		return left
	}
	apart := span(s.Shortest) + " to " + span(s.Longest.Lasted())
	if span(s.Shortest) == span(s.Longest.Lasted()) {
		apart = span(s.Shortest)
	}
	slow := ""
	switch {
	case s.Slow == s.Held:
		slow = ", all of them to commands that took 1s or longer"
	case s.Slow > 0:
		slow = fmt.Sprintf(", %s of them to commands that took 1s or longer", number(uint64(s.Slow)))
	}
	return fmt.Sprintf("%s, each time for %s, it sent no message until one of its client came, right after which the answers left that it had held: first at %s (frame %d), last at %s (frame %d); %s%s",
		times(uint64(s.Count)), apart, t.offset(s.First.Freed.Time), s.First.Freed.Frame, t.offset(s.Newest.Freed.Time), s.Newest.Freed.Frame, count(uint64(s.Held), "answer"), slow)
}

// Ungranted reports whether it is that Local granted Peer no credits to send its answers with.
func (i *Incident) Ungranted() bool { return i.ungranted }

// noCredit says that an end might not send answers, as its peer granted it no credits.
func (i *Incident) noCredit(s *upper.Releases, of *upper.Release) {
	i.What += fmt.Sprintf(", as it had no credit to send: %v granted none for %s.", i.Local.Addr, span(of.Freed.Time-of.Since))
	i.fact("credits", fmt.Sprintf("after frame %d, its last message before, %v had at most one send credit left, which it keeps for a message that grants credits itself; %v granted it %d in frame %d, and the answers left %s after that",
		of.Last.Frame, &i.Peer, &i.Local, of.Freed.Count, of.Freed.Frame, span(of.First-of.Freed.Time)))
	again := ""
	if s.Count > 1 {
		again = " in these times"
	}
	i.FitsWith = []string{fmt.Sprintf("a program or driver of %v that posted no receives%s, and so granted no credits: %v might not send the answers, whatever it had", i.Local.Addr, again, i.Peer.Addr)}
	i.Next = []string{fmt.Sprintf("on %v: what keeps its SMB client from posting receives and granting credits (its log, driver, memory, CPU)", i.Local.Addr)}
}

// heldUntil says that answers left right after a message of the client, of which it is not known that it granted the credits that were lacking.
func (i *Incident) heldUntil(of *upper.Release, o *agent.Operation) {
	grants := ""
	if of.Freed.Frame == o.Freed.Frame && of.Freed.Count > 0 {
		grants = fmt.Sprintf(", which granted it %s", count(uint64(of.Freed.Count), "credit"))
	}
	i.What += fmt.Sprintf(": it sent it in one burst with others that it had held, right after a message of %v%s.", i.Local.Addr, grants)
	i.show(o.Freed.Frame)
	i.FitsWith = []string{
		fmt.Sprintf("a server that has no credits left to send its answers with, until %v grants it some", i.Local.Addr),
		"a server whose program takes notice of what has completed only when a message comes (an event or interrupt that was lost)",
	}
	i.Next = []string{
		fmt.Sprintf("on %v: whether its client posts receives and grants credits in time", i.Local.Addr),
		fmt.Sprintf("on %v: completion events and interrupts of %v", i.Peer.Addr, &i.Peer),
	}
}
