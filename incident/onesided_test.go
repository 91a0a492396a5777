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
	"ibwitness/verifier/cm"
)

// sentBy are the frames that the host 10.0.0.n has sent.
func sentBy(list []fabricagent.Frame, n byte) (out []fabricagent.Frame) {
	const source = 14 + 12 // of IPv4 after Ethernet
	for _, f := range list {
		if f.Data[source+3] == n {
			out = append(out, f)
		}
	}
	return out
}

// TestOneSided: of what the capture holds one direction, and which went on, it is told that it does so, and not that nothing was answered; of a peer that is gone the latter is told.
func TestOneSided(t *testing.T) {
	const scene = `
about: WRITEs of which some are lost
hcas: {a: 10.0.0.1, b: 10.0.0.2}
attributes: {pmtu: 1024, timeout: 10, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
work:
  - {qp: a1, op: write, length: 8000, repeat: 100, every: 20us}
taps: [middle]
errors:
`
	const (
		lost    = scene + "  - {do: drop, from: a, psn: +200, where: after}\n  - {do: drop, from: a, psn: +799, where: after, count: 3}\n"
		dead    = scene + "  - {do: drop, from: a, count: all, where: after}\n"
		clean   = scene + "  - {do: drop, from: a, nth: 5000}\n"
		said    = "capture (proven): The capture holds one direction of each connection: which requests were answered is not in it."
		never   = "the capture holds nothing of 10.0.0.2 QP 0xa32 on this connection"
		another = "in it.\n        again: "
	)
	late := func(list []fabricagent.Frame) []fabricagent.Frame {
		f := list[len(list)-1]
		f.Time += int64(2 * time.Second)
		return append(list, f)
	}
	for _, tt := range []struct {
		name string
		list []fabricagent.Frame
		want []string
		not  []string
	}{
		{"one direction", sentBy(frames(t, lost), 1), []string{said, another}, []string{never, "interrupted", "loss", "unanswered"}},
		{"both", frames(t, lost), []string{"loss (proven)"}, []string{"one direction"}},
		{"a peer that is gone", sentBy(frames(t, dead), 1), []string{never}, []string{"one direction"}},
		{"that waits for long", late(sentBy(frames(t, clean), 1)), []string{said}, []string{never, "waits for"}},
		{"of answers", sentBy(frames(t, lost), 2), nil, []string{never, "waits for", "loss"}},
	} {
		got := happened(t, tt.list, agent.Options{})
		for _, want := range tt.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %s\nwant %q", tt.name, got, want)
			}
		}
		for _, not := range tt.not {
			if strings.Contains(got, not) {
				t.Errorf("%s: %s\nand not %q", tt.name, got, not)
			}
		}
	}
}

// TestOneOfSeveralLinks: where the capture holds both directions of some connections, and one of others on which the requester went on without a retransmission, the
// tap may be at one of several links; not where it retransmitted between the same hosts, which may have been in vain.
func TestOneOfSeveralLinks(t *testing.T) {
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	const one, fits = "The capture holds one direction only of 1 of 2 connections", "a tap at one of several links (LAG, ECMP)"
	for name, again := range map[string]uint32{"answered elsewhere": 0, "retransmitted": 40} {
		conn := func(to byte, packets uint64) (c agent.Connection) {
			c = agent.Connection{Service: packet.RC, First: second(1)}
			c.Ends[0] = agent.End{Addr: host(1), QPN: 17, QPNKnown: true, Packets: 900, Messages: 900, Last: second(7)}
			c.Ends[1] = agent.End{Addr: host(to), QPN: 18, QPNKnown: true, Packets: packets, Last: second(7)}
			return c
		}
		lone := conn(2, 0)
		lone.Ends[0].Open, lone.Ends[0].OpenSince, lone.Ends[0].Retransmissions = 16, second(3), again
		r := &agent.Result{First: second(1), Last: second(9), Packets: 2700, RDMA: 2700, Connections: []agent.Connection{conn(2, 900), lone}}
		got := toldOf(r)
		there, back := conn(3, 0), conn(3, 0)
		back.Ends[0].Addr, back.Ends[1].Addr = back.Ends[1].Addr, back.Ends[0].Addr
		r.Connections = append(r.Connections, there, back)
		const of, halves = "The capture holds one direction only of 1 of 4 connections", "of 2 more it holds one direction each, between the same two hosts"
		if more := toldOf(r); strings.Contains(more, of) != (again == 0) || strings.Contains(more, halves) != (again == 0) {
			t.Errorf("%s, with halves: %s", name, more)
		}
		r.Connections = r.Connections[:2]
		for _, i := range incident.Of(r) {
			got += strings.Join(i.FitsWith, "; or ")
		}
		if strings.Contains(got, one) != (again == 0) || strings.Contains(got, fits) != (again == 0) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestConnectedUnseen: a REQ was answered, though that is not in the capture, where an RTU or packets of the peer on its queue pair come after it.
func TestConnectedUnseen(t *testing.T) {
	req := &mad.REQ{Header: mad.CMHeader(mad.AttrREQ, 77), LocalCommID: 0xA0, ServiceID: 0x1064853, LocalQPN: 0x11, PathMTU: 3, MaxCMRetries: 15, RemoteCMTimeout: 20, LocalCMTimeout: 20}
	rep := &mad.REP{Header: mad.CMHeader(mad.AttrREP, 77), LocalCommID: 0xB0, RemoteCommID: 0xA0, LocalQPN: 0x22}
	rtu := &mad.RTU{Header: mad.CMHeader(mad.AttrRTU, 77), LocalCommID: 0xA0, RemoteCommID: 0xB0}
	other := &mad.RTU{Header: mad.CMHeader(mad.AttrRTU, 78), LocalCommID: 0xA1, RemoteCommID: 0xB1}
	const said = "connection-unanswered"
	for last, told := range map[*mad.RTU]bool{rtu: false, other: true} {
		list := asked(t, req, rep, last)
		list[2].Time += int64(20 * time.Second)
		if got := happened(t, []fabricagent.Frame{list[0], list[2]}, agent.Options{}); strings.Contains(got, said) != told {
			t.Errorf("RTU of transaction %d: %s", last.TID, got)
		}
	}
	q := cm.Unanswered{From: packet.IPv4Addr([]byte{10, 0, 0, 1}), To: packet.IPv4Addr([]byte{10, 0, 0, 2}), QPN: 0x11, Times: 3, First: second(1), Last: second(6), Frame: 3}
	c := agent.Connection{Service: packet.RC, First: second(2)}
	c.Ends[0] = agent.End{Addr: q.To, Packets: 7, Last: second(7)}
	c.Ends[1] = agent.End{Addr: q.From, QPN: 0x11, QPNKnown: true}
	for qpn, told := range map[uint32]bool{0x11: false, 0x12: true} {
		q.QPN = qpn
		got := toldOf(&agent.Result{Last: second(8), Connections: []agent.Connection{c}, REQs: []cm.Unanswered{q}})
		if strings.Contains(got, said) != told {
			t.Errorf("QPN 0x%x: %s", qpn, got)
		}
	}
}

// TestIgnoredAmongOthers: a REQ that nothing answered, of a host that answered others meanwhile, is not told to be of a host that is down; of one that sent nothing it is.
func TestIgnoredAmongOthers(t *testing.T) {
	req := func(id uint32, tid uint64) *mad.REQ {
		return &mad.REQ{Header: mad.CMHeader(mad.AttrREQ, tid), LocalCommID: id, ServiceID: 0x1064853, LocalQPN: id, PathMTU: 3, MaxCMRetries: 15, RemoteCMTimeout: 10, LocalCMTimeout: 10}
	}
	rej := &mad.REJ{Header: mad.CMHeader(mad.AttrREJ, 78), RemoteCommID: 0xA1, Reason: mad.RejConsumer}
	const down, others = "a host that is down", "others: 10.0.0.2 answered 1 other REQ of 10.0.0.1 meanwhile"
	one, two := asked(t, req(0xA0, 77)), asked(t, req(0xA1, 78), rej)
	first, again := one[0], one[0]
	later := []fabricagent.Frame{two[0], two[1]}
	for k := range later {
		later[k].Time += int64(30 * time.Second)
	}
	pong := one[0]
	pong.Time += int64(5 * time.Second)
	pong.Data = append([]byte{12: 8, 13: 0}, []byte{0: 0x45, 3: 28, 8: 64, 9: 1, 12: 10, 15: 2, 16: 10, 19: 1, 27: 0}...)
	pong.Len = uint32(len(pong.Data))
	first.Time += int64(10 * time.Second)
	again.Time += int64(20 * time.Second)
	for name, tt := range map[string]struct {
		list      []fabricagent.Frame
		want, not string
	}{
		"others were answered": {[]fabricagent.Frame{one[0], two[0], two[1], again}, others, down},
		"others were after it": {append([]fabricagent.Frame{one[0], again}, later...), "then: 10.0.0.2 answered another REQ of 10.0.0.1, 10s after the last of these", "meanwhile"},
		"restarted":            {append([]fabricagent.Frame{one[0], again}, later...), "a host, a path or a program that was not there until then: a restart", down},
		"none was":             {[]fabricagent.Frame{one[0], again}, down, "others:"},
		"none was, by route":   {[]fabricagent.Frame{one[0], again}, "a route, VLAN", "others:"},
		"it answered a ping":   {[]fabricagent.Frame{one[0], pong, again}, "the capture holds no InfiniBand or RoCE packet of 10.0.0.2, but it answered 1 ping: it is up", "a route, VLAN"},
		"before it":            {[]fabricagent.Frame{two[0], two[1], first, again}, "nothing of 10.0.0.2 is in the capture since", "others:"},
	} {
		got := ""
		for _, i := range incident.Of(judged(t, tt.list, agent.Options{})) {
			if i.Kind == incident.Ignored {
				got += fmt.Sprint(i.What, i.Facts, i.FitsWith)
			}
		}
		got = strings.ReplaceAll(strings.ReplaceAll(got, "{others ", "others: "), "{then ", "then: ")
		if got = strings.ReplaceAll(got, "{peer ", "peer: "); !strings.Contains(got, tt.want) || strings.Contains(got, tt.not) {
			t.Errorf("%s: %s", name, got)
		}
	}
}
