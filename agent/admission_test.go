package agent_test

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/internal/testkit/sample"
	"ibwitness/internal/testkit/traffic"
	"ibwitness/packet"
	"ibwitness/rule"
)

// turnedAway is how many packets a result says were not judged since very many connections began at once.
func turnedAway(r *agent.Result) uint64 {
	for _, n := range r.NotJudged {
		if strings.Contains(n.Reason, "while very many others did") {
			return n.Count
		}
	}
	return 0
}

// near are the hosts of generated traffic between two.
var near = []packet.Addr{packet.IPv4Addr([]byte{10, 0, 0, 0}), packet.IPv4Addr([]byte{10, 0, 0, 1})}

// unaccused fails where a result accuses anybody.
func unaccused(t *testing.T, r *agent.Result) {
	t.Helper()
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Class == rule.Violation {
			t.Errorf("frame %d: %v, expected %s, actual %s", f.Frame, f.Rule, f.Expected, f.Actual)
		}
	}
}

// TestAdmission: of very many connections between two hosts that begin at once the first packets of most are not judged, which is said. Nobody is accused for
// what was not seen, also near the tap, and all of them are followed in the end. The number of workers makes no difference.
func TestAdmission(t *testing.T) {
	const connections = 20_000
	shape := traffic.Small(connections)
	shape.Hosts = 2
	raw := traffic.Capture(shape, connections*sample.Part(40, 4))
	var last *agent.Result
	for _, opt := range []agent.Options{{Workers: 1}, {Workers: 2}, {Workers: 1, Near: near}, {Workers: 2, Near: near[:1]}} {
		r := run(t, raw, opt)
		if n := turnedAway(r); n < connections || n > 16*2*connections || n != r.Unjudged {
			t.Errorf("%d packets were turned away, %d not judged", n, r.Unjudged)
		}
		unaccused(t, r)
		if last != nil && (r.Cover != last.Cover && opt.Near == nil || turnedAway(r) != turnedAway(last)) {
			t.Errorf("%+v: another result", opt)
		}
		last = r
	}
	if n := len(last.Connections); !testing.Short() && n < connections || n > connections*21/20 {
		t.Errorf("%d connections are listed of %d", n, connections)
	}
}

// TestAdmissionGrows: connections that go on make room for others, and a flow that goes on during a flood is followed.
func TestAdmissionGrows(t *testing.T) {
	flood := traffic.Floods[0].Capture(10_000)
	n := uint64(len(run(t, flood, agent.Options{Workers: 1}).Connections))
	if turned := turnedAway(run(t, flood, agent.Options{Workers: 1})); n < 1000 || n+turned != 10_000 {
		t.Errorf("of 10,000 new connections %d are followed, %d turned away", n, turned)
	}
	// Each one sends 16 packets before the next begins.
	raw := append([]byte(nil), flood[:24]...)
	for rest := flood[24:]; len(rest) > 0; {
		size := 16 + int(binary.LittleEndian.Uint32(rest[8:]))
		for range 16 {
			raw = append(raw, rest[:size]...)
		}
		rest = rest[size:]
	}
	r := run(t, raw, agent.Options{Workers: 1})
	if turned := turnedAway(r); turned > 2000 || len(r.Connections) < 9900 {
		t.Errorf("%d of 160,000 packets of connections that go on were turned away, %d connections are followed", turned, len(r.Connections))
	}
}

// TestJoinMany: a capture that begins in the middle of 20,000 connections between two hosts accuses nobody, also where it was taken near both: a response to a
// request of before may have the PSN that another connection expects.
func TestJoinMany(t *testing.T) {
	sample.Skip(t, "nothing runs beside it")
	const connections = 20_000
	shape := traffic.Small(connections)
	shape.Hosts = 2
	raw := traffic.Capture(shape, connections*50)
	at := 24
	for range connections * 30 {
		at += 16 + int(binary.LittleEndian.Uint32(raw[at+8:]))
	}
	unaccused(t, run(t, append(raw[:24:24], raw[at:]...), agent.Options{Workers: 1, Near: near}))
}

// TestWatchMore: a run that goes on counts the findings beyond those that it tells.
func TestWatchMore(t *testing.T) {
	const packets = 20_000
	i := slices.IndexFunc(traffic.Floods, func(f traffic.Flood) bool { return f.Name == "retransmissions" })
	told, more := 0, uint64(0)
	run(t, traffic.Floods[i].Capture(packets), agent.Options{Workers: 1, Watch: &agent.Watch{
		Every: 50 * time.Millisecond,
		Found: func(list []rule.Finding) { told += len(list) },
		More: func(list []rule.More) {
			for _, m := range list {
				more += m.Count
			}
		},
	}})
	if told < 4000 || more < 4000 || told+int(more) != 2*(packets-1) { // its responder gets each as a duplicate
		t.Errorf("%d events are told and %d counted, of %d retransmissions", told, more, packets-1)
	}
}
