package incident_test

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/mad"
	"ibwitness/packet"
)

// TestDeserted: requests that wait when the end which owes the answers disconnects are told of, and those which the other end leaves, or whose answers come, are not.
func TestDeserted(t *testing.T) {
	const scene = `
about: READs of two ends that CM has connected
hcas: {a: 10.0.0.1, b: 10.0.0.2}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
taps: [middle]
work:
  - {qp: a1, op: read, length: 100, repeat: 6, every: 1ms}
`
	work := frames(t, scene)
	first, answer := decoded(&work[0]), decoded(&work[1])
	req := &mad.REQ{Header: mad.CMHeader(mad.AttrREQ, 77), LocalCommID: 0xA0, ServiceID: 0x1061144, LocalQPN: answer.DestQP, PathMTU: 3, MaxCMRetries: 15, RemoteCMTimeout: 20, LocalCMTimeout: 20}
	rep := &mad.REP{Header: mad.CMHeader(mad.AttrREP, 77), LocalCommID: 0xB0, RemoteCommID: 0xA0, LocalQPN: first.DestQP, StartingPSN: first.PSN}
	rtu := &mad.RTU{Header: mad.CMHeader(mad.AttrRTU, 77), LocalCommID: 0xA0, RemoteCommID: 0xB0}
	byB := &mad.DREQ{Header: mad.CMHeader(mad.AttrDREQ, 79), LocalCommID: 0xB0, RemoteCommID: 0xA0, RemoteQPN: answer.DestQP}
	byA := &mad.DREQ{Header: mad.CMHeader(mad.AttrDREQ, 79), LocalCommID: 0xA0, RemoteCommID: 0xB0, RemoteQPN: first.DestQP}
	repB := &mad.DREP{Header: mad.CMHeader(mad.AttrDREP, 79), LocalCommID: 0xB0, RemoteCommID: 0xA0}
	repA := &mad.DREP{Header: mad.CMHeader(mad.AttrDREP, 79), LocalCommID: 0xA0, RemoteCommID: 0xB0}
	setUp, endB, endA := asked(t, req, rep, rtu), asked(t, repB, byB, repA), asked(t, byA, repB)
	at := func(f fabricagent.Frame, after time.Duration) fabricagent.Frame {
		f.Time = work[len(work)-1].Time + int64(after)
		return f
	}
	unanswered := work[: len(work)-1 : len(work)-1] // the last READ has no answer
	later := func(f fabricagent.Frame) []fabricagent.Frame {
		return []fabricagent.Frame{at(f, 2*time.Millisecond), at(endB[2], 3*time.Millisecond), at(f, time.Second)}
	}
	const told = "10.0.0.2 QP 0x"
	for _, tt := range []struct {
		name string
		list []fabricagent.Frame
		want string // "": no such incident
	}{
		{"by the responder", append(unanswered, later(endB[1])...), " disconnected while 1 request of 10.0.0.1 QP 0x"},
		{"by the requester", append(unanswered, at(endA[0], 2*time.Millisecond), at(endA[1], 3*time.Millisecond), at(endA[0], time.Second)), ""},
		{"at once", append(unanswered, at(endB[1], 20*time.Microsecond), at(endB[2], time.Millisecond), at(endB[1], time.Second)), ""},
		{"at the end of the capture", append(unanswered, later(endB[1])[:2]...), ""},
		{"after the last answer", append(work[:len(work):len(work)], later(endB[1])...), ""},
	} {
		list := append(setUp[:3:3], tt.list...)
		for k := range setUp {
			list[k].Time = work[0].Time - int64(time.Millisecond)
		}
		got := happened(t, list, agent.Options{})
		if tt.want == "" && strings.Contains(got, " disconnected while ") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s\nwant %q", tt.name, got, tt.want)
		}
		if tt.want != "" && (!strings.Contains(got, "unanswered (proven): "+told) || !strings.Contains(got, "DREQ: by 10.0.0.2, as frame 15 shows")) {
			t.Errorf("%s: %s", tt.name, got)
		}
	}
}

// decoded is the RoCEv2 packet of a frame.
func decoded(f *fabricagent.Frame) (p packet.Packet) {
	const ethernet = 14
	packet.DecodeIP(&p, f.Data[ethernet:], int(f.Len)-ethernet)
	p.Rest()
	return p
}
