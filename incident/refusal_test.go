package incident_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/incident"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// reasons are what a scenario tells with what it fits and what to look at.
func reasons(t *testing.T, text string) string {
	t.Helper()
	return toldReasons(t, frames(t, text))
}

// toldReasons is reasons of frames.
func toldReasons(t *testing.T, frames []fabricagent.Frame) string {
	t.Helper()
	return reasonsOf(incident.Of(judged(t, frames, agent.Options{})))
}

// reasonsOf is what is told of incidents, with what fits, and what is to be looked at.
func reasonsOf(list []incident.Incident) string {
	var b strings.Builder
	told(&b, "frames", list)
	for i := range list {
		x := &list[i]
		for _, f := range x.Found {
			b.WriteString("found: " + f.Rule.String() + "\n")
		}
		b.WriteString("fits: " + strings.Join(x.FitsWith, "; or ") + "\nnext: " + strings.Join(x.Next, "; ") + "\n")
	}
	return b.String()
}

// moves is work of an operation on bytes that move on, and at last of another one somewhere else.
func moves(op, last string, back uint64) string {
	var b strings.Builder
	for n := range 20 {
		fmt.Fprintf(&b, "  - {at: %dms, qp: a1, op: %s, length: 100, offset: %d}\n", 2+2*n, op, 4096*n)
	}
	fmt.Fprintf(&b, "  - {at: 90ms, qp: a1, op: %s, length: 100, offset: %d}\n", last, back)
	return b.String()
}

// TestRefusalReasons: a refusal is told with the causes that its operation and the requests beside it leave open, and with no others.
func TestRefusalReasons(t *testing.T) {
	const head = `
about: a request that is refused
hcas:
  a: 10.0.0.1
  b: 10.0.0.2
taps: [middle]
qps:
  a1: {hca: a, peer: b1}
  b1: {hca: b, peer: a1ACCESS}
work:
  - {qp: b1, op: receive, length: 100}
`
	const three = "  - {qp: a1, op: write, length: 200, repeat: 3}\n"
	tests := []struct {
		name, access, work string
		want, not          []string
	}{
		{
			"a wrong R_Key for an address that was accepted", "", three + "  - {at: 1ms, qp: a1, op: write, length: 100, bad_key: true}\n",
			[]string{"R_Key: the address was accepted with R_Key 0x", " in frame 3: R_Key 0x", "fits: a wrong R_Key"},
			[]string{"outside", "right to"},
		},
		{
			"a wrong R_Key before the right one", "",
			"  - {qp: a1, op: write, length: 200, offset: 4096}\n  - {at: 1ms, qp: a1, op: write, length: 200, bad_key: true}\n  - {at: 1ms, qp: a1, op: write, length: 200}\n",
			[]string{"R_Key: frame 1, which was accepted, has R_Key 0x", ", and so has frame 4, for the same address: it seems that R_Key 0x", "fits: a wrong R_Key"},
			[]string{"address was accepted"},
		},
		{
			"a wrong R_Key, and nothing else was accepted", "", "  - {qp: a1, op: write, length: 200, bad_key: true}\n",
			[]string{"fits: an R_Key that is not valid (any more), or of another protection domain; or an address or length outside"},
			[]string{"R_Key: "},
		},
		{
			"an address outside", "", three + "  - {at: 1ms, qp: a1, op: write, length: 100, offset: 4294967296}\n",
			[]string{"was accepted at 0x80000000 to 0x800000c7, last in frame 3: it was valid then", "address: 0x180000000 to 0x180000063 is not within that", "fits: an address or length outside"},
			[]string{"fits: a wrong R_Key", "right to", "deregistered"},
		},
		{
			"an address outside, later", "", three + "  - {qp: b1, op: receive, length: 100, repeat: 20}\n  - {at: 500us, qp: a1, op: send, length: 50, repeat: 20}\n" +
				"  - {at: 1ms, qp: a1, op: write, length: 100, offset: 4294967296}\n",
			[]string{"address: 0x180000000 to 0x180000063 is not within that", "fits: an address or length outside", "or a region or window that was deregistered or invalidated since"},
			nil,
		},
		{
			"a right that the region lacks", ", access: [write, atomic, flush]", three + "  - {at: 1ms, qp: a1, op: read, length: 100}\n",
			[]string{"fits: a queue pair of 10.0.0.2 without the right to remote read; or a responder without resources", "max_rd_atomic of 10.0.0.1"},
			[]string{"misaligned", "the receive"},
		},
		{
			"a misaligned atomic", "", "  - {qp: a1, op: fetch_add, offset: 8}\nerrors:\n  - {do: corrupt, from: a, to: b, op: atomic, set: {va: 0x80000004}}\n",
			[]string{"is not a multiple of 8", "fits: a misaligned atomic: that explains the refusal", "found: RC-ATM-001"},
			[]string{"the receive"},
		},
		{
			"an atomic that is not", ", access: [write, read]", "  - {qp: a1, op: fetch_add, offset: 8}\n",
			[]string{"fits: a queue pair of 10.0.0.2 without the right to remote atomic access; or a responder without resources"},
			[]string{"misaligned", "the receive"},
		},
		{
			"an ATOMIC WRITE that is wrong itself", "", "  - {qp: a1, op: atomic_write, offset: 8}\nerrors:\n  - {do: corrupt, from: a, to: b, op: atomic_write, set: {pad_cnt: 1}}\n",
			[]string{"fits: a request that is wrong itself: it breaks "},
			[]string{"misaligned"},
		},
		{
			"a SEND that is too long", "", "  - {qp: a1, op: send, length: 200}\n",
			[]string{"fits: a message longer than the receive that was posted", "next: the length of the receives that 10.0.0.2 posts"},
			[]string{"misaligned", "max_dest_rd_atomic"},
		},
		{
			"an R_Key that a SEND with Invalidate named", "",
			"  - {qp: a1, op: write, length: 100, spare: true}\n  - {qp: a1, op: send_inv, length: 50, spare: true}\n  - {at: 1ms, qp: a1, op: write, length: 100}\n" +
				"errors:\n  - {do: corrupt, from: a, to: b, op: write, nth: 2, set: {rkey: 0x85e47}}\n",
			[]string{"R_Key: a SEND with Invalidate of this queue pair named R_Key 0x85e47 in frame 2: it is not valid any more (RC-INV-001)", "found: RC-INV-001", "fits: a requester that goes on with an R_Key"},
			[]string{"outside", "right to"},
		},
		{
			"the same operation on the same bytes, long ago", "",
			three + moves("write", "write", 0) + "errors:\n  - {do: corrupt, from: b, to: a, op: ack, nth: 24, set: {syndrome: 0x62}}\n",
			[]string{"was accepted for RDMA WRITEs at 0x80000000 to 0x80013063 in frames 1 and ", ": the address was right, and the R_Key valid then", "fits: a region or window that was deregistered or invalidated since\n"},
			[]string{"outside", "right to", "not within"},
		},
		{
			"another operation on the same bytes, long ago", "",
			strings.ReplaceAll(three, "write", "read") + moves("read", "write", 0) +
				"errors:\n  - {do: corrupt, from: b, to: a, op: ack, set: {syndrome: 0x62}}\n",
			[]string{"was accepted for RDMA READs at 0x80000000 to 0x80013063 in frames 1 and ", "access: no RDMA WRITEs are known that were accepted with it", "fits: a region or queue pair without the right to remote write; or a region"},
			[]string{"outside", "not within"},
		},
		{
			"another operation on the same bytes, of a queue pair that had the right to the other", "",
			"  - {qp: a1, op: write, length: 100, spare: true}\n" + strings.ReplaceAll(three, "write", "read") + moves("read", "write", 0) +
				"errors:\n  - {do: corrupt, from: b, to: a, op: ack, nth: 2, set: {syndrome: 0x62}}\n",
			[]string{"right: RDMA WRITEs of its queue pair were accepted with another R_Key, as in frame 1", "fits: a region without the right to remote write; or a region"},
			[]string{"outside", "not within", "queue pair without"},
		},
		{
			"bytes that were never accepted", "",
			three + moves("write", "write", 1<<32),
			[]string{"was accepted at 0x80000000 to 0x80013063, last in frame ", "is not within that", "fits: an address or length outside"},
			[]string{"right to"},
		},
		{
			"what was accepted before", "", three + "errors:\n  - {do: corrupt, from: b, to: a, op: ack, nth: 3, set: {syndrome: 0x62}}\n",
			[]string{"R_Key: was accepted for these bytes in frame 2: the address was right, and R_Key 0x", "fits: a region or window that was deregistered or invalidated since"},
			[]string{"outside", "right to"},
		},
	}
	for _, tt := range tests {
		got := reasons(t, strings.Replace(head, "ACCESS", tt.access, 1)+tt.work)
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

// TestRefusedThoughAcceptedBefore: an atomic of a queue pair that has answered others is not told to be one that it does not support, and no other waited, so that there were not too many.
func TestRefusedThoughAcceptedBefore(t *testing.T) {
	c := agent.Connection{Service: packet.RC, First: second(1), FirstFrame: 1}
	k := &qp.Trouble{Refusal: qp.Refusal{Code: packet.NAKInvalidRequest, Time: second(2), Frame: 22, Request: qp.StalledRequest{Op: wqe.FetchAdd, VA: 8, Frame: 21}}}
	c.Ends[0] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, 1}), Packets: 9, Last: second(2), Trouble: k}
	c.Ends[1] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, 2}), Packets: 9, Last: second(2)}
	fits := func(b qp.Beside) string {
		k.Refusal.Beside = b
		return strings.Join(incident.Of(&agent.Result{Last: second(3), Connections: []agent.Connection{c}})[0].FitsWith, "; or ")
	}
	const many, unsupported, again = "more READs and atomics at once", "does not support FetchAdd", "refuses what it accepted before"
	for _, tt := range []struct {
		beside    qp.Beside
		want, not []string
	}{
		{qp.Beside{AtOnce: 1}, []string{"max_dest_rd_atomic 0", unsupported}, []string{again, many}},
		{qp.Beside{AtOnce: 2}, []string{many, unsupported}, []string{again}},
		{qp.Beside{AtOnce: 1, SameOp: qp.KeyAt{Frame: 16}}, []string{again}, []string{many, unsupported, "right to"}},
		{qp.Beside{AtOnce: 3, SameOp: qp.KeyAt{Frame: 16}}, []string{many, again}, []string{unsupported, "right to"}},
	} {
		got := fits(tt.beside)
		for _, want := range tt.want {
			if !strings.Contains(got, want) {
				t.Errorf("%+v: %s: want %q", tt.beside, got, want)
			}
		}
		for _, not := range tt.not {
			if strings.Contains(got, not) {
				t.Errorf("%+v: %s: and not %q", tt.beside, got, not)
			}
		}
	}
	// A WRITE of a queue pair that had WRITEs accepted does not lack the right.
	k.Refusal.Request.Op = wqe.Write
	if got := fits(qp.Beside{AtOnce: 1}); !strings.Contains(got, "without the right to remote write") || strings.Contains(got, again) {
		t.Error(got)
	}
	if got := fits(qp.Beside{AtOnce: 1, SameOp: qp.KeyAt{Frame: 16}}); strings.Contains(got, "right to") || !strings.Contains(got, again) {
		t.Error(got)
	}
}

// TestTooManyReads: where more READs waited than the responder has resources for, as it told, that is the cause, and the sentence says it; not where no more did, or where that is not known.
func TestTooManyReads(t *testing.T) {
	for _, k := range []struct {
		atOnce uint32
		known  qp.Known
		gaps   uint64
		want   bool
	}{{5, qp.KnowsMaxDestRdAtomic, 0, true}, {4, qp.KnowsMaxDestRdAtomic, 0, false}, {5, 0, 0, false}, {5, qp.KnowsMaxDestRdAtomic, 3, false}} {
		c := agent.Connection{Service: packet.RC, First: second(1), FirstFrame: 1}
		x := &qp.Trouble{Refusal: qp.Refusal{Code: packet.NAKInvalidRequest, Time: second(2), Frame: 22, Request: qp.StalledRequest{Op: wqe.Read, Frame: 21}}}
		x.Refusal.Beside.AtOnce = k.atOnce
		c.Ends[0] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, 1}), Packets: 9, Last: second(2), Trouble: x}
		c.Ends[1] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, 2}), Packets: 9, Last: second(2), Settings: agent.Settings{Known: k.known, ResponderResource: 4}}
		r := &agent.Result{Last: second(3), Dropped: k.gaps, Connections: []agent.Connection{c}}
		i := incident.Of(r)[0]
		got := i.What + strings.Join(i.FitsWith, "; or ")
		if strings.Contains(got, "10.0.0.1 had 5 READs and atomics outstanding, where 10.0.0.2 has resources for 4.a queue pair of 10.0.0.1 with a max_rd_atomic above 4") != k.want {
			t.Errorf("%+v: %s", k, got)
		}
	}
}

// TestOperationalError: a receive is blamed for the Remote Operational Error of a SEND, and for that of a WRITE if it has immediate data.
func TestOperationalError(t *testing.T) {
	c := agent.Connection{Service: packet.RC, First: second(1), FirstFrame: 1}
	k := &qp.Trouble{Refusal: qp.Refusal{Code: packet.NAKRemoteOp, Time: second(2), Frame: 22, Request: qp.StalledRequest{Frame: 21}}}
	c.Ends[0] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, 1}), Packets: 9, Last: second(2), Trouble: k}
	c.Ends[1] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, 2}), Packets: 9, Last: second(2)}
	const fault, receive = "a fault of the responder that it finds itself", "a receive of 10.0.0.2 that could not be completed: memory that is no longer registered, or a wrong L_Key"
	for op, want := range map[wqe.Op][]string{wqe.Send: {receive}, wqe.Write: {fault, receive + ", if the RDMA WRITE carries immediate data"}, wqe.Read: {fault}} {
		k.Refusal.Request.Op = op
		got := incident.Of(&agent.Result{Last: second(3), Connections: []agent.Connection{c}})[0].FitsWith
		if len(got) != len(want) || !strings.HasPrefix(got[0], want[0]) || got[len(got)-1] != want[len(want)-1] && op != wqe.Read {
			t.Errorf("%v: %q", op, got)
		}
	}
}

// TestLastRefusal: a process that ends is named for a Remote Operational Error where its host sends nothing more on any connection while others do; not where it does, or nobody does.
func TestLastRefusal(t *testing.T) {
	host := func(n byte, last int64) agent.End {
		return agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, n}), Packets: 9, Last: last}
	}
	k := &qp.Trouble{Refusal: qp.Refusal{Code: packet.NAKRemoteOp, Time: second(2), Frame: 22, Request: qp.StalledRequest{Frame: 21, Op: wqe.Send}}}
	for _, tt := range []struct {
		name        string
		peer, third int64
		want        bool
	}{
		{"others go on", second(1), second(3), true},
		{"it goes on", second(3), second(3), false},
		{"nobody goes on", second(1), second(1), false},
		{"on one connection only", 0, second(3), false},
	} {
		refused := agent.Connection{Service: packet.RC, First: second(1), FirstFrame: 1, Ends: [2]agent.End{host(1, second(2)), host(2, second(2))}}
		refused.Ends[0].Trouble = k
		beside := agent.Connection{Service: packet.RC, First: second(1), FirstFrame: 2, Ends: [2]agent.End{host(2, tt.peer), host(3, tt.third)}}
		got := incident.Of(&agent.Result{First: second(1), Last: second(4), Connections: []agent.Connection{refused, beside}})[0].FitsWith
		if told := slices.ContainsFunc(got, func(s string) bool {
			return strings.HasPrefix(s, "a process of 10.0.0.2 that ended or was killed: ")
		}); told != tt.want {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
}

// TestInvalidatedUnproven: that a requester had itself invalidated the R_Key is told, too, where a short snap length leaves the finding unproven: the NAK proves it. Of a plain SEND it is not.
func TestInvalidatedUnproven(t *testing.T) {
	const scene = `
about: a WRITE with an R_Key that a SEND with Invalidate named
hcas: {a: 10.0.0.1, b: 10.0.0.2}
taps: [middle]
attributes: {pmtu: 256, timeout: 14}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
work:
  - {qp: b1, op: receive, length: 100}
  - {qp: a1, op: write, length: 100, spare: true}
  - {qp: a1, op: send_inv, length: 50, spare: true}
  - {at: 1ms, qp: a1, op: write, length: 100}
errors:
  - {do: corrupt, from: a, to: b, op: write, nth: 2, set: {rkey: 0x85e47}}
`
	const said = "with an R_Key that it had itself invalidated"
	r := judged(t, frames(t, scene), agent.Options{})
	found := false
	for k := range r.Findings {
		if f := &r.Findings[k]; f.Rule == rule.RCINV001 {
			f.Class, found = rule.Unproven, true
		}
	}
	if got := toldOf(r); !found || !strings.Contains(got, said) {
		t.Errorf("unproven: %s", got)
	}
	plain := strings.Replace(strings.Replace(scene, "op: send_inv, length: 50, spare: true", "op: send, length: 50, spare: true", 1), "set: {rkey: 0x85e47}", "set: {rkey: 0x85e48}", 1)
	if got := toldReasons(t, frames(t, plain)); strings.Contains(got, said) || !strings.Contains(got, "Remote Access Error") {
		t.Errorf("not found: %s", got)
	}
}
