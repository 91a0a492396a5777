package report

import (
	"bufio"
	"bytes"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/incident"
	"ibwitness/packet"
	pair "ibwitness/qp"
	"ibwitness/timing"
)

// TestStalls: stalls of two causes are listed, the longest first; not those of one, nor beside what failed, nor what is not proven.
func TestStalls(t *testing.T) {
	host := func(n byte) incident.Party {
		return incident.Party{Addr: packet.IPv4Addr([]byte{10, 0, 0, n}), QPN: 0x20, QPNKnown: true}
	}
	of := func(k incident.Kind, lost time.Duration, c incident.Certainty) incident.Incident {
		return incident.Incident{Kind: k, Certainty: c, Local: host(1), Peer: host(2), Begin: 1 + int64(time.Second), Lost: lost}
	}
	const both = "  Stalls of 2 kinds, the longest first:\n" +
		"    400ms     from +1.000000 s: 10.0.0.1 QP 0x20 had no progress with 10.0.0.2 QP 0x20\n" +
		"    300ms     from +1.000000 s: 10.0.0.2 QP 0x20 had not answered a command\n\n"
	slow, out := of(incident.Slow, 300*time.Millisecond, incident.Proven), of(incident.Interrupted, 400*time.Millisecond, incident.Proven)
	for _, k := range []struct {
		name string
		list []incident.Incident
		want string
	}{
		{"two causes", []incident.Incident{slow, out}, both},
		{"one cause", []incident.Incident{out, out}, ""},
		{"one is not proven", []incident.Incident{slow, of(incident.Interrupted, 400*time.Millisecond, incident.Likely)}, ""},
		{"something failed", []incident.Incident{of(incident.Unanswered, time.Second, incident.Proven), slow, out}, ""},
	} {
		var b bytes.Buffer
		r := &agent.Result{First: 1}
		x := &text{out: bufio.NewWriter(&b), res: r, run: &Run{Result: r, told: true, incidents: k.list}}
		x.stalls(k.list)
		x.out.Flush()
		if got := b.String(); got != k.want {
			t.Errorf("%s: %s", k.name, strings.TrimSpace(got))
		}
	}
}

// TestStallsOfProgram: a time in which an end sent no command and waited for none is among the stalls of its connection, and not of another one.
func TestStallsOfProgram(t *testing.T) {
	const pause = "    3s        from +2.000000 s: 10.0.0.1 QP 0x20 sent no command and waited for none\n"
	for _, k := range []struct {
		name string
		qpn  uint32
		want bool
		lost time.Duration // by what else stalled
		kind incident.Kind
		span time.Duration // of that
	}{
		{"its own", 0x20, true, 2 * time.Second, incident.Interrupted, 2 * time.Second},
		{"of another connection", 0x21, false, 2 * time.Second, incident.Interrupted, 2 * time.Second},
		{"it was idle", 0x20, false, 400 * time.Millisecond, incident.Interrupted, 400 * time.Millisecond},
		{"beside a slow command", 0x20, true, 2 * time.Second, incident.Slow, 2 * time.Second},
		{"beside a server that was slow for longer", 0x20, false, 2 * time.Second, incident.Slow, 6 * time.Second},
	} {
		c := pausing(timing.Silence{From: 2000, To: 5000})
		c.Ends[0].Trouble = &pair.Trouble{}
		list := []incident.Incident{{
			Kind: k.kind, Certainty: incident.Proven, Local: incident.Party{Addr: c.Ends[0].Addr, QPN: k.qpn, QPNKnown: true}, Peer: incident.Party{Addr: c.Ends[1].Addr, QPN: 0x20, QPNKnown: true},
			Begin: c.First + int64(time.Second), End: c.First + int64(time.Second+k.span), Lost: k.lost,
		}}
		var b bytes.Buffer
		r := &agent.Result{First: c.First, Last: c.First + int64(9*time.Second), Connections: []agent.Connection{c}}
		x := &text{out: bufio.NewWriter(&b), res: r, run: &Run{Result: r, told: true, incidents: list}}
		x.stalls(list)
		x.out.Flush()
		if got := b.String(); strings.Contains(got, pause) != k.want {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}
