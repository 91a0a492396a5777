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

// TestClosedBefore: where the peer had asked to disconnect before a request was sent that is never answered, that is told first of all, and apart from requests of other connections; not where the requester had.
func TestClosedBefore(t *testing.T) {
	const scene = `
about: WRITEs to a queue pair that is gone at last
hcas: {a: 10.0.0.1, b: 10.0.0.2}
attributes: {timeout: 12, retry_cnt: 3}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, a2: {hca: a, peer: b2}, b2: {hca: b, peer: a2}}
taps: [middle]
work:
  - {qp: a1, op: write, length: 100, repeat: 6, every: 10ms}
  - {qp: a2, op: write, length: 100, repeat: 2, every: 10ms, at: 60ms}
errors:
  - {do: drop, from: a, psn: 0x100005, count: all, where: after}
  - {do: drop, from: a, psn: 0x300001, count: all, where: after}
`
	list := frames(t, scene)
	first, answer := decoded(&list[0]), decoded(&list[1])
	byB := &mad.DREQ{Header: mad.CMHeader(mad.AttrDREQ, 79), LocalCommID: 0xB0, RemoteCommID: 0xA0, RemoteQPN: answer.DestQP}
	byA := &mad.DREQ{Header: mad.CMHeader(mad.AttrDREQ, 79), LocalCommID: 0xA0, RemoteCommID: 0xB0, RemoteQPN: first.DestQP}
	rep := &mad.REP{Header: mad.CMHeader(mad.AttrREP, 77), LocalCommID: 0xB0, RemoteCommID: 0xA0, LocalQPN: first.DestQP, StartingPSN: first.PSN}
	req := &mad.REQ{Header: mad.CMHeader(mad.AttrREQ, 77), LocalCommID: 0xA0, ServiceID: 0x1061144, LocalQPN: answer.DestQP, PathMTU: 3, MaxCMRetries: 15, RemoteCMTimeout: 20, LocalCMTimeout: 20}
	setUp := asked(t, req, rep, &mad.RTU{Header: mad.CMHeader(mad.AttrRTU, 77), LocalCommID: 0xA0, RemoteCommID: 0xB0})
	const said = "DREQ: 10.0.0.2 had asked to disconnect 1ms before that request, in frame "
	for by, dreq := range map[string]fabricagent.Frame{"b": asked(t, &mad.DREP{}, byB)[1], "a": asked(t, byA)[0]} {
		dreq.Time = list[10].Time - int64(time.Millisecond) // the WRITE that nothing answers
		all := slices.Concat(setUp, list[:10], []fabricagent.Frame{dreq}, list[10:])
		for k := range setUp {
			all[k].Time = list[0].Time - int64(time.Millisecond)
		}
		got := happened(t, all, agent.Options{})
		if strings.Contains(got, said) != (by == "b") {
			t.Errorf("by %s: %s", by, got)
		}
		if joined := strings.Contains(got, "Its QP 0xa33 "); joined != (by == "a") || by == "b" && strings.Index(got, said) < strings.Index(got, "PSN 0x300001") {
			t.Errorf("by %s, beside another connection: %s", by, got)
		}
	}
}

// TestClosedAtOnce: where the peer asks to disconnect soon after a request that is never answered, that is why, and the incident lasts as long as the request was retransmitted; not where the requester asked, or the peer long after.
func TestClosedAtOnce(t *testing.T) {
	const scene = `
about: WRITEs to a queue pair that is gone at last
hcas: {a: 10.0.0.1, b: 10.0.0.2}
attributes: {timeout: 12, retry_cnt: 3}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
taps: [middle]
work:
  - {qp: a1, op: write, length: 100, repeat: 6, every: 10ms}
errors:
  - {do: drop, from: a, psn: 0x100005, count: all, where: after}
`
	list := frames(t, scene)
	first, answer := decoded(&list[0]), decoded(&list[1])
	byB := asked(t, &mad.DREP{}, &mad.DREQ{Header: mad.CMHeader(mad.AttrDREQ, 79), LocalCommID: 0xB0, RemoteCommID: 0xA0, RemoteQPN: answer.DestQP})[1]
	byA := asked(t, &mad.DREQ{Header: mad.CMHeader(mad.AttrDREQ, 79), LocalCommID: 0xA0, RemoteCommID: 0xB0, RemoteQPN: first.DestQP})[0]
	rep := &mad.REP{Header: mad.CMHeader(mad.AttrREP, 77), LocalCommID: 0xB0, RemoteCommID: 0xA0, LocalQPN: first.DestQP, StartingPSN: first.PSN}
	req := &mad.REQ{Header: mad.CMHeader(mad.AttrREQ, 77), LocalCommID: 0xA0, ServiceID: 0x1061144, LocalQPN: answer.DestQP, PathMTU: 3, MaxCMRetries: 15, RemoteCMTimeout: 20, LocalCMTimeout: 20}
	setUp := asked(t, req, rep, &mad.RTU{Header: mad.CMHeader(mad.AttrRTU, 77), LocalCommID: 0xA0, RemoteCommID: 0xB0})
	for _, tt := range []struct {
		name  string
		dreq  fabricagent.Frame
		after time.Duration
		fits  bool
	}{
		{"by the peer", byB, 500 * time.Microsecond, true},
		{"by the requester", byA, 500 * time.Microsecond, false},
		{"by the peer, long after", byB, 15 * time.Millisecond, false},
	} {
		tt.dreq.Time = list[10].Time + int64(tt.after) // after the WRITE that nothing answers
		all := slices.Concat(setUp, list[:11], []fabricagent.Frame{tt.dreq}, list[11:])
		for k := range setUp {
			all[k].Time = list[0].Time - int64(time.Millisecond)
		}
		told := incident.Of(judged(t, all, agent.Options{}))
		if len(told) == 0 || told[0].Kind != incident.Unanswered {
			t.Fatalf("%s: %+v", tt.name, told)
		}
		i := &told[0]
		if fits := strings.HasPrefix(i.FitsWith[0], "a queue pair of 10.0.0.2 that was destroyed when it disconnected"); fits != tt.fits || slices.Contains(i.FitsWith, "a responder that hangs") && tt.fits {
			t.Errorf("%s: %q", tt.name, i.FitsWith)
		}
		if last := list[len(list)-1].Time; i.End != last || int64(i.Lost) != last-i.Begin {
			t.Errorf("%s: for %v of %v", tt.name, i.Lost, time.Duration(last-i.Begin))
		}
	}
}
