package incident

import (
	"fmt"
	"slices"
	"time"

	"ibwitness/agent"
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/verifier/cm"
)

// acceptedSoon is within what time, in nanoseconds, a client that is refused for lack of a program gets a connection with its next try.
const acceptedSoon = int64(250 * time.Millisecond)

// Linux's client of SMB Direct asks for the port of iWARP first, then for that of InfiniBand and RoCE; when it connects again, for the first only.
const (
	smbIWARP      = "TCP port 5445"
	smbInfiniBand = "TCP port 445"
)

// acceptedElse returns the connection that the client of a REJ got from the same host for another service, the first after the REJ or else the last before it; nil: it got none, or what it
// asked for is not known.
func (t *teller) acceptedElse(i *Incident, r *cm.Refusal) *rule.Finding {
	if r.Reason != mad.RejInvalidService || r.Service == "" || r.ByAsker || !t.timed() {
		return nil
	}
	var before *rule.Finding
	for _, f := range t.accepted(i.Peer.Addr) {
		switch {
		case f.Accused.Addr != i.Local.Addr || f.Detail == "" || f.Detail == r.Service:
		case f.Time > i.Begin:
			return f
		default:
			before = f
		}
	}
	return before
}

// accepted returns the connections that a host has accepted, in order.
func (t *teller) accepted(host packet.Addr) []*rule.Finding {
	if t.accepts == nil {
		t.accepts = map[packet.Addr][]*rule.Finding{}
		for k := range t.run.Findings {
			if f := &t.run.Findings[k]; f.Rule == rule.EvConnect && f.Class == rule.Event {
				t.accepts[f.Peer.Addr] = append(t.accepts[f.Peer.Addr], f)
			}
		}
	}
	return t.accepts[host]
}

// nextTry reports whether a client got a connection soon after it was refused, as one that tries one port after the other does.
func nextTry(i *Incident, f *rule.Finding) bool {
	return f != nil && f.Time > i.Begin && f.Time-i.Begin < acceptedSoon
}

// tellElse says which other service a host has accepted a connection of the same client for.
func (i *Incident) tellElse(r *cm.Refusal, f *rule.Finding) {
	if f == nil {
		return
	}
	i.show(f.Frame)
	i.accepted = nextTry(i, f)
	what, after := "accepted", f.Time-i.Begin
	when := span(after) + " later"
	if after < 0 {
		what, when = "had accepted", span(-after)+" before"
	}
	i.fact("other", fmt.Sprintf("%v %s a connection of %v for %s, %s, in frame %d", i.Peer.Addr, what, i.Local.Addr, f.Detail, when, f.Frame))
	fits := "a client that asks for another port than the program listens on"
	switch {
	case i.accepted:
		fits = "a client that tries one port after the other"
	case r.Service == smbIWARP && f.Detail == smbInfiniBand:
		fits = "a client of SMB Direct that, when it connects again, asks for the port of iWARP (5445) only, where the server listens on that of InfiniBand and RoCE (445), as Linux's does: it has to be mounted again"
	}
	i.FitsWith = append([]string{fits}, i.FitsWith...)
}

// firstFrame names the frame with which a connection began: of one that CM connected it is the REP.
func (t *teller) firstFrame(c *agent.Connection) string {
	by := func(f *rule.Finding) bool { return f.Tap == c.FirstTap && f.Frame == c.FirstFrame }
	if c.PairedBy == agent.ByCM && slices.ContainsFunc(t.accepted(c.Ends[1].Addr), by) {
		return fmt.Sprintf("%d (REP)", c.FirstFrame)
	}
	return fmt.Sprint(c.FirstFrame)
}
