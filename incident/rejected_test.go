package incident_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/incident"
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/verifier/cm"
)

const datagrams = `
about: datagrams to and fro
hcas:
  a: 10.0.0.1
  b: 10.0.0.2
attributes: {type: UD}
taps: [middle]
qps:
  a1: {hca: a}
  b1: {hca: b}
work:
  - {qp: b1, op: receive, length: 1000, repeat: 3}
  - {qp: a1, op: receive, length: 1000, repeat: 3}
  - {qp: a1, op: send, length: 256, to: b1}
  - {qp: b1, op: send, length: 256, to: a1, at: 5us}
  - {qp: a1, op: send, length: 256, to: b1, at: 10us}
  - {qp: b1, op: send, length: 256, to: a1, at: 15us}
  - {qp: a1, op: send, length: 256, to: b1, at: 20us}
`

// asked are the datagrams of an exchange of the communication manager, which the hosts send by turns, the first one first.
func asked(t *testing.T, list ...interface{ Encode([]byte) error }) []fabricagent.Frame {
	t.Helper()
	out := frames(t, datagrams)[:len(list)]
	for k, m := range list {
		b := make([]byte, 256)
		if err := m.Encode(b); err != nil {
			t.Fatal(err)
		}
		changed(&out[k], func(p *packet.Packet) {
			p.DestQP, p.SrcQP, p.QKey, p.Payload, p.PSN = 1, 1, 0x80010000, b, 0
		})
	}
	return out
}

// TestRejected tells why a connection was refused, by whom, and what was asked for.
func TestRejected(t *testing.T) {
	req := &mad.REQ{Header: mad.CMHeader(mad.AttrREQ, 77), LocalCommID: 0xA0, ServiceID: 0x1064853, LocalQPN: 0x11, PathMTU: 3, MaxCMRetries: 15, RemoteCMTimeout: 20, LocalCMTimeout: 20}
	rep := &mad.REP{Header: mad.CMHeader(mad.AttrREP, 77), LocalCommID: 0xB0, RemoteCommID: 0xA0, LocalQPN: 0x22}
	rej := &mad.REJ{Header: mad.CMHeader(mad.AttrREJ, 77), RemoteCommID: 0xA0, Reason: mad.RejConsumer}
	takenBack := &mad.REJ{Header: mad.CMHeader(mad.AttrREJ, 77), LocalCommID: 0xA0, RemoteCommID: 0xB0, Reason: mad.RejConsumer, Rejected: mad.AnsweredREP}
	rtu := &mad.RTU{Header: mad.CMHeader(mad.AttrRTU, 77), LocalCommID: 0xA0, RemoteCommID: 0xB0}
	for _, tt := range []struct {
		name string
		list []fabricagent.Frame
		want []string
	}{
		{"by the peer", asked(t, req, rej), []string{"The connection that 10.0.0.1 asked 10.0.0.2 for was refused: consumer reject (reason 28).", "service: TCP port 18515"}},
		{"by the side that asked", asked(t, req, rep, takenBack), []string{"10.0.0.1 asked 10.0.0.2 for a connection, and then refused the answer: consumer reject (reason 28)."}},
		{"not at all", asked(t, req, rep, rtu), []string{"frames: 0"}},
	} {
		got := happened(t, tt.list, agent.Options{})
		for _, want := range tt.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %s\nwant %q", tt.name, got, want)
			}
		}
	}
}

// TestRejectedHasNoQP: who rejected a connection has no QP for it, also where the QP of its peer is connected to another of that host later.
func TestRejectedHasNoQP(t *testing.T) {
	ask := func(tid uint64, id uint32) *mad.REQ {
		return &mad.REQ{Header: mad.CMHeader(mad.AttrREQ, tid), LocalCommID: id, ServiceID: 0x1064853, LocalQPN: 0x11, PathMTU: 3, MaxCMRetries: 15, RemoteCMTimeout: 20, LocalCMTimeout: 20}
	}
	list := asked(t, ask(77, 0xA0), &mad.REJ{Header: mad.CMHeader(mad.AttrREJ, 77), RemoteCommID: 0xA0, Reason: mad.RejConsumer},
		ask(78, 0xA1), &mad.REP{Header: mad.CMHeader(mad.AttrREP, 78), LocalCommID: 0xB1, RemoteCommID: 0xA1, LocalQPN: 0x22},
		&mad.RTU{Header: mad.CMHeader(mad.AttrRTU, 78), LocalCommID: 0xA1, RemoteCommID: 0xB1})
	n := 0
	for _, f := range judged(t, list, agent.Options{}).Findings {
		if f.Rule != rule.EvReject {
			continue
		}
		if n++; f.Accused.QPNKnown || f.Peer.QPN != 0x11 {
			t.Errorf("rejected by QP %d (known: %v), of QP %d", f.Accused.QPN, f.Accused.QPNKnown, f.Peer.QPN)
		}
	}
	if n != 1 {
		t.Errorf("%d rejections", n)
	}
}

// refusals are connections that were refused: n of the same reason.
func refusals(r cm.Refusal, n int) *agent.Result {
	out := &agent.Result{Last: int64(time.Second)}
	for k := range n {
		out.Findings = append(out.Findings, rule.Finding{
			Rule: rule.EvReject, Class: rule.Event, Frame: uint64(k + 1), Detail: r.String(),
			Accused: rule.Endpoint{Addr: packet.IPv4Addr([]byte{10, 0, 0, 2})}, Peer: rule.Endpoint{Addr: packet.IPv4Addr([]byte{10, 0, 0, 1}), QPN: uint32(k + 16), QPNKnown: true},
		})
	}
	return out
}

// TestRejectAdvice: each reason has advice of its own that names the hosts, and nothing is said of time that none lost.
func TestRejectAdvice(t *testing.T) {
	for r := mad.RejReason(0); r < 40; r++ {
		list := incident.Of(refusals(cm.Refusal{Reason: r, Service: "TCP port 7"}, 2))
		if len(list) != 1 {
			t.Fatalf("reason %d: %d incidents", r, len(list))
		}
		i := &list[0]
		text := fmt.Sprint(i.What, i.FitsWith, i.Next)
		if strings.Contains(text, "{") {
			t.Errorf("reason %d: %s", r, text)
		}
		text += fmt.Sprint(i.Facts)
		if r.Defined() && len(i.FitsWith) == 0 || len(i.Next) == 0 {
			t.Errorf("reason %d: %s", r, text)
		}
		if strings.Contains(text, "most time") || !strings.Contains(text, "again refused so twice") {
			t.Errorf("reason %d: %s", r, text)
		}
		if want := fmt.Sprintf("(reason %d)", r); !strings.Contains(i.What, want) {
			t.Errorf("%s lacks %s", i.What, want)
		}
	}
	list := incident.Of(refusals(cm.Refusal{Reason: mad.RejInvalidService, Service: "TCP port 7"}, 1))
	if got := fmt.Sprint(list[0].FitsWith, list[0].Next); !strings.Contains(got, "no program of 10.0.0.2 that listens on TCP port 7") {
		t.Error(got)
	}
}

// TestServiceUnresolved: a SIDR_REQ that nothing answers is told as what it is; one that is answered is not told.
func TestServiceUnresolved(t *testing.T) {
	req := &mad.SIDRReq{Header: mad.CMHeader(mad.AttrSIDRReq, 77), RequestID: 0xA0, PKey: 0xFFFF, ServiceID: 0x1064853}
	rep := &mad.SIDRRep{Header: mad.CMHeader(mad.AttrSIDRRep, 77), RequestID: 0xA0, QPN: 0x22, ServiceID: 0x1064853, QKey: 1}
	list := asked(t, req, rep, req)
	for k := range list {
		list[k].Time = list[0].Time + int64(k)*int64(time.Second)
	}
	const want = "10.0.0.1 asked 10.0.0.2 for a queue pair of UD (SIDR_REQ) twice in 2s; nothing answered."
	if got := happened(t, []fabricagent.Frame{list[0], list[2]}, agent.Options{}); !strings.Contains(got, want) {
		t.Errorf("%s\nwant %q", got, want)
	}
	late := list[2]
	changed(&late, func(p *packet.Packet) { p.DestQP, p.SrcQP = 2, 2 })
	late.Time += int64(time.Minute)
	if got := happened(t, []fabricagent.Frame{list[0], list[1], late}, agent.Options{}); strings.Contains(got, "SIDR_REQ") {
		t.Errorf("answered: %s", got)
	}
}
