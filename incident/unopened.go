package incident

import (
	"fmt"
	"strings"

	"ibwitness/agent"
)

// unopened tells that a peer failed the command with which a session of the protocol above begins, or disconnected without an answer to it:
// the connection was there, and the session
// was refused.
func (t *teller) unopened(c *agent.Connection) {
	u := c.Upper
	for k := range u.Failures {
		if f := &u.Failures[k]; f.Opens {
			t.sessionRefused(c, f)
		}
	}
	if o := u.Oldest; o != nil && o.Opens && !o.Unsure && !t.lossy() && t.transported(c) && c.Closed.At != 0 && c.Closed.By == c.Ends[1-o.From].Addr {
		t.sessionEnded(c, o)
	}
}

// session makes an incident of the command that begins a session.
func (t *teller) session(c *agent.Connection, o *agent.Operation, end int64) *Incident {
	i := t.between(Rejected, c, o.From)
	i.Begin, i.End, i.Tap = o.Since, end, o.Tap
	i.show(o.Frame)
	return i
}

// sessionRefused tells of one that failed.
func (t *teller) sessionRefused(c *agent.Connection, f *agent.Failed) {
	i := t.session(c, f.Operation, f.Ended)
	i.show(f.Answer)
	i.What = fmt.Sprintf("%v refused the %s of %v: %s.", &i.Peer, opening(f.Operation), &i.Local, f.Status)
	more := ""
	if f.Count > 1 {
		more = "; " + times(f.Count) + " so on this connection"
	}
	i.fact("command", fmt.Sprintf("%s, in frame %d, answered in frame %d%s%s",
		protocolOf(c.Upper), f.Frame, f.Answer, t.within(", %s later", f.Ended-f.Since), more))
	i.fact("names", c.Upper.Sought)
	i.fact("transport", "the connection itself was accepted, and the command and its answer went through")
	i.FitsWith = sessionFits(f.Status)
	i.Next = []string{fmt.Sprintf("on %v: the log of its target, and its configuration: the names that it serves, and which initiators it lets in",
		i.Peer.Addr)}
	t.tell(i, "session "+f.Status+c.Upper.Sought)
}

// opening names a command that begins a session.
func opening(o *agent.Operation) string {
	name, _, _ := strings.Cut(o.Name, ",")
	return name
}

// sessionFits is what a status means with which the command that begins a session fails.
func sessionFits(status string) []string {
	for _, k := range [...]struct{ prefix, means string }{
		{"Connect Invalid Host", "a subsystem that does not let this host NQN in (allowed hosts)"},
		{"Connect Invalid Parameters", "a subsystem NQN that the target does not serve on this port, or another field of the Connect that it does not take"},
		{"Controller Busy", "a controller that has no queue left, or whose former controller of this host is not gone yet"},
		{"Authentication", "credentials (CHAP, DH-HMAC-CHAP) that are missing or wrong"},
		{"Authorization", "a target that does not let this initiator name in (ACL)"},
		{"Not found", "a target name that is not served there"},
	} {
		if strings.HasPrefix(status, k.prefix) {
			return []string{k.means}
		}
	}
	return []string{"a target that refuses the session, or can not begin it"}
}

// sessionEnded tells of one that had no answer when its peer disconnected.
func (t *teller) sessionEnded(c *agent.Connection, o *agent.Operation) {
	i := t.session(c, o, c.Closed.At)
	i.show(c.Closed.Frame)
	i.What = fmt.Sprintf("%v disconnected%s after the %s of %v, without an answer to it.",
		&i.Peer, t.within(" %s", c.Closed.At-o.Since), opening(o), &i.Local)
	i.fact("command", fmt.Sprintf("%s, in frame %d; it disconnected in frame %d", protocolOf(c.Upper), o.Frame, c.Closed.Frame))
	i.fact("transport", "every request on the connection was acknowledged")
	i.fact("then", t.unusedAfter(c, o))
	i.FitsWith = []string{"a target that can not begin the session, and drops the connection: what it lacks is in its log (a module, as for digests; memory; its configuration)"}
	i.Next = []string{fmt.Sprintf("the log and dmesg of %v at that time", i.Peer.Addr), fmt.Sprintf("the log of the initiator at %v", i.Local.Addr)}
	t.tell(i, "session "+opening(o))
}

// unusedAfter says how many connections of the same hosts that were accepted after c carried nothing, and who ended them; "": there are none.
func (t *teller) unusedAfter(c *agent.Connection, o *agent.Operation) string {
	n, ended, longest, first := uint64(0), uint64(0), int64(0), uint64(0)
	for _, d := range t.siblings(c) {
		if d.First <= c.Closed.At || d.Ends[0].Addr != c.Ends[o.From].Addr || d.Ends[0].Packets+d.Ends[1].Packets > 0 || d.PairedBy != agent.ByCM {
			continue
		}
		if n++; first == 0 || d.FirstFrame < first {
			first = d.FirstFrame
		}
		if d.Closed.At != 0 && d.Closed.By == d.Ends[0].Addr {
			ended, longest = ended+1, max(longest, d.Closed.At-d.First)
		}
	}
	if n == 0 {
		return ""
	}
	text := fmt.Sprintf("%v accepted %s of %v, the first in frame %d, on which nothing was sent",
		c.Ends[1-o.From].Addr, count(n, "more connection"), c.Ends[o.From].Addr, first)
	switch {
	case ended == n:
		text += fmt.Sprintf("; %v ended each%s", c.Ends[o.From].Addr, t.within(", after %s at most", longest))
	case ended > 0:
		text += fmt.Sprintf("; %v ended %s of them%s", c.Ends[o.From].Addr, number(ended), t.within(", after %s at most", longest))
	}
	return text
}
