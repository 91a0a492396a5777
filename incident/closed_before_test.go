package incident_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
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
		if joined := strings.Contains(got, "1 more connection between the same hosts likewise"); joined != (by == "a") || by == "b" && strings.Index(got, said) < strings.Index(got, "PSN 0x300001") {
			t.Errorf("by %s, beside another connection: %s", by, got)
		}
	}
}
