package incident

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/verifier/cm"
)

// TestAcceptedLater: a client that is refused its third connection each time, and gets all of them later, has them since then; which connections of another host ended before that is told, too. Not
// where it gets as many as beside its refusals, or for another service.
func TestAcceptedLater(t *testing.T) {
	addr := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	end := func(n byte, qpn uint32) rule.Endpoint {
		return rule.Endpoint{Addr: addr(n), QPN: qpn, QPNKnown: true}
	}
	const service, other = "TCP port 4420", "TCP port 4421"
	var list []rule.Finding
	add := func(id rule.ID, ms int, accused, peer rule.Endpoint, detail string) {
		list = append(list, rule.Finding{Rule: id, Class: rule.Event, Time: int64(ms) * int64(time.Millisecond), Frame: uint64(len(list) + 1), Accused: accused, Peer: peer, Detail: detail})
	}
	connect := func(ms int, client byte, qpn uint32, service string) {
		add(rule.EvConnect, ms, end(client, qpn), end(9, qpn+100), service)
	}
	ended := func(ms int, client byte, qpn uint32) {
		add(rule.EvDisconnect, ms, end(client, qpn), end(9, qpn+100), "")
	}
	try := func(ms int, qpn uint32) {
		connect(ms, 1, qpn, service)
		connect(ms+10, 1, qpn+1, service)
		add(rule.EvReject, ms+20, rule.Endpoint{Addr: addr(9)}, rule.Endpoint{Addr: addr(1)}, cm.Refusal{Reason: mad.RejConsumer, Service: service}.String())
		ended(ms+30, 1, qpn)
		ended(ms+31, 1, qpn+1)
	}
	all := func(ms int, qpn uint32, service string) {
		for n := range 3 {
			connect(ms+10*n, 1, qpn+uint32(n), service)
		}
	}
	pair := func(ms int, qpn uint32) { // fewer than beside the last refusal
		connect(10005, 1, 36, service)
		ended(10035, 1, 36)
		connect(ms, 1, qpn, service)
		connect(ms+10, 1, qpn+1, service)
	}
	again := func(ms int) { // as many as beside the last refusal
		connect(ms, 1, 40, service)
		connect(ms+10, 1, 41, service)
	}
	var reqs []cm.Unanswered
	const refused = "was refused: consumer reject (reason 28)."
	const fewer = "was refused: consumer reject (reason 28); a later attempt with 2 connections was accepted."
	const limit = "a limit of how many connections the program on 10.0.0.9 takes"
	const told = "was refused: consumer reject (reason 28); 10s after the last refusal, 3 connections for the same service were accepted."
	for _, k := range []struct {
		name       string
		scene      func()
		what, then string
		fits       string
	}{
		{"all later", func() { all(20020, 7, service) }, told, "10.0.0.9 accepted 3 connections of 10.0.0.1 from 20s of the capture on, in frame 13", limit + ", or takes of one client"},
		{
			"after others ended", func() { ended(15000, 2, 1); ended(15001, 2, 2); all(20020, 7, service) }, told,
			"10.0.0.9 accepted 3 connections of 10.0.0.1 from 20s of the capture on, in frame 15; before that, from frame 13 on, 2 connections of 10.0.0.2 with it ended", limit + ", which had room again when those of 10.0.0.2 had ended",
		},
		{"others that ended were of another service", func() { ended(15000, 3, 3); all(20020, 7, service) }, told, "10.0.0.9 accepted 3 connections of 10.0.0.1 from 20s of the capture on, in frame 14", limit + ", or"},
		{"refused again", func() { try(20000, 7) }, "was refused: consumer reject (reason 28).", "", limit + ", or"},
		{"fewer", func() { pair(20000, 40) }, fewer, "10.0.0.9 accepted 2 connections of 10.0.0.1 from 20s of the capture on, in frame 15, and refused none: so many work", limit + ", or"},
		{"fewer, and given up", func() { pair(20000, 40); ended(20500, 1, 40) }, refused, "", limit + ", or"},
		{"all but the one that was refused", func() { again(20000) }, fewer, "10.0.0.9 accepted 2 connections of 10.0.0.1 from 20s of the capture on, in frame 13, and refused none: so many work", limit + ", or"},
		{"and the next one waits", func() {
			again(20000)
			reqs = []cm.Unanswered{{From: addr(1), To: addr(9), Waits: cm.ForRefusal, First: 21e9, Last: 21e9}}
		}, refused, "", limit + ", or"},
		{"as many", func() { connect(20000, 1, 7, service) }, "was refused: consumer reject (reason 28).", "", limit + ", or"},
		{"of another service", func() { all(20020, 7, other) }, "was refused: consumer reject (reason 28).", "", limit + ", or"},
		{"not at all", func() { ended(15000, 2, 1) }, "was refused: consumer reject (reason 28).", "", limit + ", or"},
	} {
		list, reqs = nil, nil
		connect(1, 2, 1, service)
		connect(2, 3, 3, other)
		try(100, 20)
		try(10000, 30)
		k.scene()
		r := Of(&agent.Result{First: 1, Last: int64(30 * time.Second), Findings: list, REQs: reqs})
		then := ""
		for _, f := range r[0].Facts {
			if f.Label == "then" {
				then = f.Text
			}
		}
		if len(r) != 1 || !strings.HasSuffix(r[0].What, k.what) || then != k.then || !strings.HasPrefix(r[0].FitsWith[0], k.fits) {
			t.Errorf("%s: %+v", k.name, r)
		}
	}
}

// TestGaveUpThenAccepted: a client that gave up to wait twice is told to have done so, and when it was accepted; one that gave up for good is not.
func TestGaveUpThenAccepted(t *testing.T) {
	client, server := rule.Endpoint{Addr: packet.IPv4Addr([]byte{10, 0, 0, 1})}, rule.Endpoint{Addr: packet.IPv4Addr([]byte{10, 0, 0, 9})}
	const service = "TCP port 4420"
	for _, accepted := range []bool{true, false} {
		var list []rule.Finding
		for _, s := range []int64{2, 9} {
			list = append(list, rule.Finding{
				Rule: rule.EvReject, Class: rule.Event, Time: s * 1e9, Frame: uint64(s), Accused: client, Peer: server,
				Detail: cm.Refusal{Reason: mad.RejTimeout, Service: service, ByAsker: true}.String(),
			})
		}
		want := "and gave up: timeout (reason 4)"
		if accepted {
			list = append(list, rule.Finding{Rule: rule.EvConnect, Class: rule.Event, Time: 13e9, Frame: 13, Accused: client, Peer: server, Detail: service})
			want += "; 4s after it gave up for the last time, 1 connection for the same service was accepted"
		}
		r := Of(&agent.Result{First: 1, Last: 30e9, Findings: list})
		again := ""
		for _, f := range r[0].Facts {
			if f.Label == "again" {
				again = f.Text
			}
		}
		if len(r) != 1 || !strings.HasSuffix(r[0].What, want+".") || again != "gave up so twice in 7s, the last time in frame 9" {
			t.Errorf("%+v, want %q", r, want)
		}
	}
}
