package incident_test

import (
	"fmt"
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
	const disconnected, shown = "unanswered (proven): 10.0.0.2 QP 0xa32 disconnected while 1 request of 10.0.0.1 QP 0x9bc had no answer", "DREQ: by 10.0.0.2, as frame %d shows"
	for _, tt := range []struct {
		name   string
		midway bool // CM had connected them before the capture
		list   []fabricagent.Frame
		frame  int // of the DREQ; 0: no such incident
	}{
		{"by the responder", false, append(unanswered, later(endB[1])...), 15},
		{"by the responder, of an older connection", true, append(unanswered, later(endB[1])...), 12},
		{"by the requester", false, append(unanswered, at(endA[0], 2*time.Millisecond), at(endA[1], 3*time.Millisecond), at(endA[0], time.Second)), 0},
		{"by the requester, of an older connection", true, append(unanswered, at(endA[0], 2*time.Millisecond), at(endA[1], 3*time.Millisecond), at(endA[0], time.Second)), 0},
		{"at once", false, append(unanswered, at(endB[1], 20*time.Microsecond), at(endB[2], time.Millisecond), at(endB[1], time.Second)), 0},
		{"at the end of the capture", false, append(unanswered, later(endB[1])[:2]...), 0},
		{"after the last answer", false, append(work[:len(work):len(work)], later(endB[1])...), 0},
	} {
		list := append(setUp[:3:3], tt.list...)
		for k := range setUp {
			list[k].Time = work[0].Time - int64(time.Millisecond)
		}
		if tt.midway {
			list = tt.list
		}
		got := happened(t, list, agent.Options{})
		if told := strings.Contains(got, disconnected) && strings.Contains(got, fmt.Sprintf(shown, tt.frame)); told != (tt.frame > 0) || !told && strings.Contains(got, "DREQ") {
			t.Errorf("%s: %s", tt.name, got)
		}
	}
	next, reply := at(work[0], 1100*time.Millisecond), at(work[1], 1101*time.Millisecond)
	changed(&next, func(p *packet.Packet) { p.PSN += 6 })
	changed(&reply, func(p *packet.Packet) { p.PSN += 6 })
	for name, list := range map[string][]fabricagent.Frame{
		"ends":                   append(unanswered, later(endB[1])...),
		"ends, and one end asks": append(unanswered, append(later(endB[1]), next)...),
		"goes on":                append(unanswered, append(later(endB[1]), next, reply)...),
	} {
		if c := judged(t, list, agent.Options{}).Connections[0]; (c.Closed.At != 0) != (name != "goes on") {
			t.Errorf("a connection that %s after a DREQ: %+v", name, c.Closed)
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
