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

// TestServedElse: of a connection that is refused, as no program listens, it is told for which service the host accepted others, and that
// the port may be wrong where it is near; not where it accepted any for the one that it refuses.
func TestServedElse(t *testing.T) {
	addr := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	const (
		near = "10.0.0.9 accepted others for TCP port 4421 (2 connections of 10.0.0.3, the first in frame 10)"
		far  = "10.0.0.9 accepted others for TCP port 20049 (2 connections of 10.0.0.3, the first in frame 10)"
		port = "a client that asks for the wrong port: perhaps it is to ask for TCP port 4421"
	)
	for _, k := range []struct{ name, service, fact, fits string }{
		{"near", "TCP port 4421", near, port},
		{"far", "TCP port 20049", far, "no program of 10.0.0.9 that listens on TCP port 4420"},
		{"the same", "TCP port 4420", "", "no program of 10.0.0.9 that listens on TCP port 4420"},
	} {
		r := &agent.Result{RDMA: 6, Packets: 6, First: 1, Last: int64(time.Minute)}
		accepted := func(frame uint64) rule.Finding {
			return rule.Finding{
				Rule: rule.EvConnect, Class: rule.Event, Time: int64(frame) * int64(time.Second), Frame: frame, Detail: k.service,
				Accused: rule.Endpoint{Addr: addr(3), QPN: uint32(frame), QPNKnown: true}, Peer: rule.Endpoint{Addr: addr(9), QPN: uint32(frame), QPNKnown: true},
			}
		}
		r.Findings = []rule.Finding{accepted(10), accepted(11), {
			Rule: rule.EvReject, Class: rule.Event, Time: int64(5 * time.Second), Frame: 5,
			Accused: rule.Endpoint{Addr: addr(9)}, Peer: rule.Endpoint{Addr: addr(2)},
			Detail: cm.Refusal{Reason: mad.RejInvalidService, Service: "TCP port 4420"}.String(),
		}}
		list := Of(r)
		if len(list) != 1 || list[0].Kind != Rejected {
			t.Fatalf("%s: %+v", k.name, list)
		}
		got := ""
		for _, f := range list[0].Facts {
			if f.Label == "accepts" {
				got = f.Text
			}
		}
		if got != k.fact || !strings.HasPrefix(list[0].FitsWith[0], k.fits) {
			t.Errorf("%s: %q, %q", k.name, got, list[0].FitsWith)
		}
	}
}
