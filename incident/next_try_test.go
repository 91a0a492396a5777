package incident_test

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/incident"
	"ibwitness/mad"
	"ibwitness/packet"
)

// TestNextTry: a client that is refused once for want of a program, and accepted soon after, was not refused for good; one that was accepted later, or refused twice, was. Where
// that is how each connection of SMB Direct begins, nothing is told.
func TestNextTry(t *testing.T) {
	const iwarp, infiniband, other = 0x1061545, 0x10601bd, 0x1064853
	ask := func(n uint32, service mad.ServiceID) *mad.REQ {
		return &mad.REQ{Header: mad.CMHeader(mad.AttrREQ, uint64(n)), LocalCommID: 0xA0 + n, ServiceID: service, LocalQPN: 0x11 + n, PathMTU: 3, MaxCMRetries: 15, RemoteCMTimeout: 20, LocalCMTimeout: 20}
	}
	story := func(service mad.ServiceID, refusals uint32, wait time.Duration) (list []fabricagent.Frame) {
		for n := uint32(1); n <= refusals; n++ {
			list = append(list, asked(t, ask(n, service), &mad.REJ{Header: mad.CMHeader(mad.AttrREJ, uint64(n)), RemoteCommID: 0xA0 + n, Reason: mad.RejInvalidService})...)
		}
		last := list[len(list)-1].Time
		for k, f := range asked(t, ask(9, infiniband), &mad.REP{Header: mad.CMHeader(mad.AttrREP, 9), LocalCommID: 0xB9, RemoteCommID: 0xA9, LocalQPN: 0x22}, &mad.RTU{Header: mad.CMHeader(mad.AttrRTU, 9), LocalCommID: 0xA9, RemoteCommID: 0xB9}) {
			f.Time = last + int64(wait) + int64(k)*int64(time.Millisecond)
			list = append(list, f)
		}
		return list
	}
	const then = "then: 10.0.0.2 accepted a connection of 10.0.0.1 21ms later"
	for _, tt := range []struct {
		name      string
		list      []fabricagent.Frame
		told      bool
		protocol  string
		incidents int
	}{
		{"the next port", story(other, 1, 20*time.Millisecond), true, "", 1},
		{"much later", story(other, 1, time.Second), false, "", 1},
		{"refused twice", story(other, 2, 20*time.Millisecond), false, "", 1},
		{"SMB Direct", story(iwarp, 1, 20*time.Millisecond), true, "SMB Direct", 0},
		{"another port, and then SMB Direct", story(other, 1, 20*time.Millisecond), true, "SMB Direct", 1},
	} {
		r := judged(t, tt.list, agent.Options{})
		for k := range r.Connections {
			if c := &r.Connections[k]; tt.protocol != "" && c.Service == packet.RC {
				c.Upper = &agent.Upper{Protocol: tt.protocol}
			}
		}
		list := incident.Of(r)
		if len(list) != tt.incidents || len(list) > 0 && (list[0].Failed() == tt.told || strings.Contains(toldOf(r), then) != tt.told) {
			t.Errorf("%s: %s", tt.name, toldOf(r))
		}
	}
}
