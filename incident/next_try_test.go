package incident_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/incident"
	"ibwitness/mad"
)

// TestNextTry: a client that is refused once for lack of a program, and accepted soon after for another port, was not refused for good; one that was accepted later, or refused twice, was.
// Where that is how each connection of SMB Direct begins, nothing is told; of a client of it that goes on asking for the wrong port, that is.
func TestNextTry(t *testing.T) {
	const iwarp, infiniband, other = 0x1061545, 0x10601bd, 0x1064853
	id := uint32(0)
	ask := func(service mad.ServiceID, yes bool, at time.Duration) (list []fabricagent.Frame) {
		id++
		req := &mad.REQ{Header: mad.CMHeader(mad.AttrREQ, uint64(id)), LocalCommID: 0xA0 + id, ServiceID: service, LocalQPN: 0x11 + id, PathMTU: 3, MaxCMRetries: 15, RemoteCMTimeout: 20, LocalCMTimeout: 20}
		if yes {
			list = asked(t, req, &mad.REP{Header: mad.CMHeader(mad.AttrREP, uint64(id)), LocalCommID: 0xB0 + id, RemoteCommID: 0xA0 + id, LocalQPN: 0x22 + id}, &mad.RTU{Header: mad.CMHeader(mad.AttrRTU, uint64(id)), LocalCommID: 0xA0 + id, RemoteCommID: 0xB0 + id})
		} else {
			list = asked(t, req, &mad.REJ{Header: mad.CMHeader(mad.AttrREJ, uint64(id)), RemoteCommID: 0xA0 + id, Reason: mad.RejInvalidService})
		}
		for k := range list {
			list[k].Time = int64(time.Hour) + int64(at) + int64(k)*int64(time.Millisecond)
		}
		return list
	}
	const ms, soon, wrong = time.Millisecond, "other: 10.0.0.2 accepted a connection of 10.0.0.1 for TCP port 445, 20ms later, in frame 4", "a client of SMB Direct that, when it connects again"
	for _, tt := range []struct {
		name      string
		list      [][]fabricagent.Frame
		failed    bool
		told      string
		fits      string
		incidents int
	}{
		{"the next port", [][]fabricagent.Frame{ask(other, false, 0), ask(infiniband, true, 20*ms)}, false, soon, "a client that tries one port after the other", 1},
		{"much later", [][]fabricagent.Frame{ask(other, false, 0), ask(infiniband, true, 1000*ms)}, true, "10.0.0.1 for TCP port 445, 1s later", "a client that asks for another port", 1},
		{"the same port", [][]fabricagent.Frame{ask(other, false, 0), ask(other, true, 5000*ms)}, true, "", "no program of 10.0.0.2", 1},
		{"some are accepted", [][]fabricagent.Frame{ask(other, true, 0), ask(other, false, 20*ms), ask(other, true, 40*ms)}, true, "others: 10.0.0.2 accepted 2 connections of 10.0.0.1 for the same service beside them", "a limit of how many connections", 1},
		{"as many with each try", [][]fabricagent.Frame{ask(other, true, 0), ask(other, true, 10*ms), ask(other, false, 20*ms), ask(other, true, 5000*ms), ask(other, true, 5010*ms), ask(other, false, 5020*ms)}, true, "others: 10.0.0.2 accepted 2 connections of 10.0.0.1 for the same service beside each of them\n        open: 2 connections of 1 host for the same service, which began in the capture, when it refused the first time, and 4 the last", "a limit of how many connections", 1},
		{"not as many", [][]fabricagent.Frame{ask(other, true, 0), ask(other, true, 10*ms), ask(other, false, 20*ms), ask(other, true, 5000*ms), ask(other, false, 5020*ms)}, true, "others: 10.0.0.2 accepted 3 connections of 10.0.0.1 for the same service beside them\n", "a limit of how many connections", 1},
		{"refused twice", [][]fabricagent.Frame{ask(other, false, 0), ask(other, false, 10*ms), ask(infiniband, true, 30*ms)}, true, "again: refused so twice", "", 1},
		{"SMB Direct", [][]fabricagent.Frame{ask(iwarp, false, 0), ask(infiniband, true, 20*ms)}, false, "", "", 0},
		{"SMB Direct, and again", [][]fabricagent.Frame{ask(iwarp, false, 0), ask(infiniband, true, 20*ms), ask(iwarp, false, 5000*ms), ask(iwarp, false, 9000*ms)}, true, "again: refused so twice in 4s", wrong, 1},
		{"another port, and then SMB Direct", [][]fabricagent.Frame{ask(other, false, 0), ask(infiniband, true, 20*ms)}, false, soon, "a client that tries one port after the other", 1},
	} {
		r := judged(t, slices.Concat(tt.list...), agent.Options{})
		list := incident.Of(r)
		if got := toldOf(r); len(list) != tt.incidents || len(list) > 0 && (list[0].Failed() != tt.failed || !strings.Contains(got, tt.told) || !strings.HasPrefix(list[0].FitsWith[0], tt.fits)) {
			t.Errorf("%s: %s", tt.name, got)
		}
	}
}
