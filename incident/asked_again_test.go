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
	"ibwitness/packet"
)

// TestAskedAgain: that a requester asked for connections in vain after nothing answered it any more is told with that: refused, or not answered; not what came before.
func TestAskedAgain(t *testing.T) {
	const scene = `
about: a connection that nothing answers any more
hcas: {a: 10.0.0.1, b: 10.0.0.2}
attributes: {timeout: 12, retry_cnt: 3}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
work:
  - {qp: a1, op: write, length: 100, repeat: 2, every: 5ms}
taps: [middle]
errors:
  - {do: drop, from: a, psn: 0x100001, count: all, where: after}
`
	lost := frames(t, scene)
	req := &mad.REQ{Header: mad.CMHeader(mad.AttrREQ, 77), LocalCommID: 0xA0, ServiceID: 0x1064853, LocalQPN: 0x11, PathMTU: 3, MaxCMRetries: 15, RemoteCMTimeout: 10, LocalCMTimeout: 10}
	rej := &mad.REJ{Header: mad.CMHeader(mad.AttrREJ, 77), RemoteCommID: 0xA0, Reason: mad.RejInvalidService}
	busy := &mad.REJ{Header: rej.Header, RemoteCommID: rej.RemoteCommID, Reason: mad.RejNoResources}
	at := func(list []fabricagent.Frame, by time.Duration) []fabricagent.Frame {
		list = slices.Clone(list)
		for k := range list {
			list[k].Time = lost[0].Time + int64(by) + int64(k)*int64(time.Millisecond)
		}
		return list
	}
	const (
		unanswered = "then: 10.0.0.1 asked 10.0.0.2 for a connection (REQ) "
		refused    = "then: 10.0.0.2 refused 1 REQ of 10.0.0.1, first "
		listens    = ": invalid service ID (reason 8), see there"
	)
	ask := asked(t, req)
	for name, tt := range map[string]struct {
		list      []fabricagent.Frame
		want, not string
	}{
		"nothing listened":   {slices.Concat(lost, at(asked(t, req, rej), time.Second), at(asked(t, req, rej), 2*time.Second)), listens, unanswered},
		"of several reasons": {slices.Concat(lost, at(asked(t, req, rej), time.Second), at(asked(t, req, busy), 2*time.Second)), ": see there", listens},
		"nothing answered":   {slices.Concat(lost, at(ask, time.Second), at(ask, 20*time.Second), at(ask, 40*time.Second)), unanswered, refused},
		"refused":            {slices.Concat(lost, at(asked(t, req, rej), time.Second)), refused, unanswered},
		"before":             {slices.Concat(at(asked(t, req, rej), -time.Second), lost), "unanswered (", "then: 10."},
		"it did not":         {lost, "unanswered (", "then: 10."},
	} {
		if got := happened(t, tt.list, agent.Options{}); !strings.Contains(got, tt.want) || strings.Contains(got, tt.not) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestOtherKey: a connection that nothing answers, with another P_Key than those between the same hosts that are answered, may be so by that; not where one of these has it too.
func TestOtherKey(t *testing.T) {
	const scene = `
about: a connection that nothing answers, beside two that are
hcas: {a: 10.0.0.1, b: 10.0.0.2}
attributes: {timeout: 12, retry_cnt: 3}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, a2: {hca: a, peer: b2}, b2: {hca: b, peer: a2}, a3: {hca: a, peer: b3}, b3: {hca: b, peer: a3}}
work:
  - {qp: a1, op: write, length: 100, repeat: 30, every: 5ms}
  - {qp: a2, op: write, length: 100, repeat: 30, every: 5ms}
  - {qp: a3, op: write, length: 100}
taps: [middle]
errors:
  - {do: drop, from: a, psn: 0x500000, count: all, where: after}
`
	var other uint32 // the QP of b that answers the second
	list := frames(t, scene)
	for k := range list {
		var p packet.Packet
		packet.DecodeIP(&p, list[k].Data[14:], int(list[k].Len)-14)
		switch p.PSN {
		case 0x500000:
			changed(&list[k], func(p *packet.Packet) { p.PKey = 0x8002 })
		case 0x300000:
			if p.Opcode.Fn() != packet.Acknowledge {
				other = p.DestQP
			}
		}
	}
	same := slices.Clone(list)
	for k := range same {
		changed(&same[k], func(p *packet.Packet) {
			if p.DestQP == other {
				p.PKey = 0x8002
			}
		})
	}
	const fact, fits = "P_Key: 0x8002 on this connection, and 0xffff on 2 others between the same hosts, which carry packets both ways", "a P_Key that the port or queue pair of 10.0.0.2 does not have"
	for want, frames := range map[bool][]fabricagent.Frame{true: list, false: same} {
		r := judged(t, frames, agent.Options{})
		for _, i := range incident.Of(r) {
			if i.Kind == incident.NeverAnswered && (strings.Contains(toldOf(r), fact) != want || strings.HasPrefix(i.FitsWith[0], fits) != want) {
				t.Errorf("%v: %s\n%s", want, toldOf(r), i.FitsWith[0])
			}
		}
		if !strings.Contains(toldOf(r), "never-answered (") {
			t.Error(toldOf(r))
		}
	}
}
