package incident_test

import (
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/incident"
	"ibwitness/packet"
	"ibwitness/qp"
)

// TestOvertakings: packets of several hosts to one that came late are told together, with how many of each; those of one host are not called so. Where the receiver has asked for them, that it is
// the capture which holds them in another order is not offered.
func TestOvertakings(t *testing.T) {
	const scene = `
about: WRITEs of two hosts to one
hcas: {a: 10.1.0.1, b: 10.1.0.2, c: 10.1.0.3}
attributes: {pmtu: 256, timeout: 14}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, c1: {hca: c, peer: b2}, b2: {hca: b, peer: c1}}
work:
  - {qp: a1, op: write, length: 4000, repeat: 4, every: 1ms}
  - {qp: c1, op: write, length: 4000, repeat: 4, every: 1ms, at: 300us}
taps: [b]
errors:
`
	const one, two = "  - {do: delay, from: a, to: b, op: write_middle, nth: 7, delay: 20us}\n", "  - {do: delay, from: c, to: b, op: write_middle, nth: 9, delay: 20us}\n"
	numbered := func(list []fabricagent.Frame) []fabricagent.Frame { // as hosts do that count packets as they leave
		for k := range list {
			changed(&list[k], func(p *packet.Packet) { p.IPID = uint16(p.PSN) })
		}
		return list
	}
	for name, tt := range map[string]struct {
		errors string
		want   string
	}{
		"two hosts": {one + two, "2 packets that 2 hosts sent to 10.1.0.2 came after later ones. "},
		"one host":  {one, "reordered (proven): 1 packet that 10.1.0.1 QP 0x9bc sent to 10.1.0.2 QP 0xa32 came after later ones"},
	} {
		r := judged(t, numbered(frames(t, scene+tt.errors)), agent.Options{})
		got := toldOf(r)
		if !strings.Contains(got, tt.want) || strings.Contains(got, "hosts: from 10.1.0.1: 1 of ") != (name == "two hosts") || strings.Count(got, "reordered (") != 1 {
			t.Errorf("%s: %s", name, got)
		}
		for _, i := range incident.Of(r) {
			if i.Kind == incident.Reordered && strings.Contains(strings.Join(i.FitsWith, "; "), "a capture that holds them") == strings.Contains(got, "the receiver took that for a loss") {
				t.Errorf("%s: fits %q\n%s", name, i.FitsWith, got)
			}
		}
	}
}

// TestOvertakenAlike: of two connections between the same hosts, that whose receiver took late packets for lost is told first, and the one that lost nothing by itself.
func TestOvertakenAlike(t *testing.T) {
	r := &agent.Result{First: second(1), Last: second(3)}
	for n, asked := range []uint32{0, 5} {
		a, b := packet.IPv4Addr([]byte{10, 0, 0, 1}), packet.IPv4Addr([]byte{10, 0, 0, 2})
		c := agent.Connection{Service: packet.RC, First: second(1), FirstFrame: uint64(n + 1)}
		o := qp.Overtaken{Packets: 20, Numbered: 20, Depth: 3, First: second(1), Last: second(2), Frame: uint64(10 + n), Newest: uint64(100 + n), Asked: asked}
		c.Ends[0], c.Ends[1] = agent.End{Addr: a, QPN: uint32(n), Packets: 900, Last: second(2), Trouble: &qp.Trouble{}}, agent.End{Addr: b, QPN: uint32(n), Packets: 90, Last: second(2), NAKs: asked}
		c.Ends[0].Trouble.Overtaking = &qp.Overtaking{Sum: o}
		r.Connections = append(r.Connections, c)
	}
	list := incident.Of(r)
	if len(list) != 2 {
		t.Fatalf("%d are told", len(list))
	}
	for n, want := range []string{"cost: the receiver took that for a loss 5 times, and", "lost: nothing: every PSN came once"} {
		got := ""
		for _, f := range list[n].Facts {
			got += f.Label + ": " + f.Text + "\n"
		}
		if !strings.Contains(got, want) || strings.Contains(got, "likewise") || strings.Contains(list[n].What, "2 hosts") {
			t.Errorf("%s\n%s", list[n].What, got)
		}
	}
}

// TestOvertakenUnlike: of packets that came late to several hosts, those are told first whose receiver sent NAKs for them, with how many were copies, and the hosts that did not; no receiver is told to take them for lost
// that sent no NAK, and none to be unlike others where there are none.
func TestOvertakenUnlike(t *testing.T) {
	const (
		what   = " came after later ones, up to 3 PSNs ahead, though they had left first. 10.0.1.3 takes such for lost: it sent 9 NAKs, and 100 of 1,000 packets (10 %) were copies."
		others = "others: 10.0.1.1 and 10.0.1.2 got 60 packets that came late, and sent no NAK: an adapter that takes packets out of order does so, at no cost"
	)
	for _, k := range []struct {
		name   string
		asked  [3]uint32
		copies uint32 // at the second
		what   bool
		others bool
	}{
		{"one asks", [3]uint32{0, 0, 9}, 1, true, true},
		{"none asks", [3]uint32{0, 0, 0}, 1, false, false},
		{"each asks", [3]uint32{5, 7, 9}, 1, true, false},
		{"another has copies", [3]uint32{0, 0, 9}, 90, true, false},
	} {
		r := &agent.Result{First: second(1), Last: second(3)}
		for n, asked := range k.asked {
			a, b := packet.IPv4Addr([]byte{10, 0, 0, byte(n + 1)}), packet.IPv4Addr([]byte{10, 0, 1, byte(n + 1)})
			c := agent.Connection{Service: packet.RC, First: second(1), FirstFrame: uint64(n + 1)}
			o := qp.Overtaken{Packets: 30, Numbered: 30, Depth: 3, First: second(1), Last: second(2), Frame: uint64(10 + n), Newest: uint64(100 + n), Asked: asked}
			c.Ends[0], c.Ends[1] = agent.End{Addr: a, QPN: 5, Packets: 1000, Last: second(2), Trouble: &qp.Trouble{}}, agent.End{Addr: b, QPN: 5, Packets: 90, Last: second(2), NAKs: asked}
			c.Ends[0].Retransmissions = []uint32{0, k.copies, 100}[n]
			if n == 2 && asked == 0 {
				c.Ends[0].Retransmissions = 0
			}
			c.Ends[0].Trouble.Overtaking = &qp.Overtaking{Sum: o}
			r.Connections = append(r.Connections, c)
		}
		got := toldOf(r)
		_, first, _ := strings.Cut(got, "reordered (proven): ")
		if strings.Contains(got, what) != k.what || strings.Contains(got, others) != k.others || k.what && !strings.HasPrefix(first, "30 packets that 10.0.0.3 ") {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}

// TestOvertakenToAnother: beside a receiver that takes late packets of several hosts for lost, another that takes them is named; not one that asked, too.
func TestOvertakenToAnother(t *testing.T) {
	const others = "others: 10.0.1.2 got 30 packets that came late, and sent no NAK"
	for _, asked := range []uint32{0, 3} {
		r := &agent.Result{First: second(1), Last: second(3)}
		for n, k := range []struct {
			from, to byte
			asked    uint32
		}{{1, 1, 5}, {2, 1, 7}, {1, 2, asked}} {
			a, b := packet.IPv4Addr([]byte{10, 0, 0, k.from}), packet.IPv4Addr([]byte{10, 0, 1, k.to})
			c := agent.Connection{Service: packet.RC, First: second(1), FirstFrame: uint64(n + 1)}
			o := qp.Overtaken{Packets: 30, Numbered: 30, Depth: 3, First: second(1), Last: second(2), Frame: uint64(10 + n), Newest: uint64(100 + n), Asked: k.asked}
			c.Ends[0] = agent.End{Addr: a, QPN: uint32(5 + n), Packets: 1000, Last: second(2), Retransmissions: min(10*k.asked, 100), Trouble: &qp.Trouble{}}
			c.Ends[1] = agent.End{Addr: b, QPN: uint32(5 + n), Packets: 90, Last: second(2), NAKs: k.asked}
			c.Ends[0].Trouble.Overtaking = &qp.Overtaking{Sum: o}
			r.Connections = append(r.Connections, c)
		}
		if got := toldOf(r); strings.Contains(got, others) != (asked == 0) || !strings.Contains(got, "that 2 hosts sent to 10.0.1.1 came after later ones") {
			t.Errorf("%d: %s", asked, got)
		}
	}
}

// TestCopiesOfOvertaken: of packets that several hosts sent, and that came late, it is told how many NAKs and copies there were, and of how many packets that were sent once; and that none is missing at the
// tap only where the capture holds each identification of all these hosts. Where few of the NAKs are known to be for late packets, and packets may be missing, neither is told.
func TestCopiesOfOvertaken(t *testing.T) {
	for _, k := range []struct {
		name    string
		naks    uint32
		arrived byte
		counted bool
	}{{"all are there", 60, 2, true}, {"of one host some may be missing", 16, 1, true}, {"most NAKs may be for losses", 60, 1, false}} {
		r := &agent.Result{First: second(1), Last: second(3)}
		b := packet.IPv4Addr([]byte{10, 0, 0, 9})
		for n := range byte(2) {
			a := packet.IPv4Addr([]byte{10, 0, 0, n + 1})
			c := agent.Connection{Service: packet.RC, First: second(1), FirstFrame: uint64(n + 1)}
			o := qp.Overtaken{Packets: 20, Numbered: 20, Depth: 3, First: second(1), Last: second(2), Frame: uint64(10 + n), Newest: uint64(100 + n), Asked: 5}
			c.Ends[0], c.Ends[1] = agent.End{Addr: a, QPN: uint32(n), Packets: 900, Retransmissions: 500, Last: second(2), Trouble: &qp.Trouble{}}, agent.End{Addr: b, QPN: uint32(n), Packets: 90, Last: second(2), NAKs: k.naks}
			c.Ends[0].Trouble.Overtaking, c.Ends[0].Trouble.Missing.PSNs = &qp.Overtaking{Sum: o}, 1
			r.Connections = append(r.Connections, c)
			if n < k.arrived {
				r.Arrived = append(r.Arrived, a)
			}
		}
		got := toldOf(r)
		for want, is := range map[string]bool{
			"; no packet is missing at the tap": k.arrived == 2, "lost: nothing before the tap: the capture holds each IPv4 identification of these hosts": k.arrived == 2,
			"5 % of 400 packets; 500 more were retransmitted": true, "hosts: from 10.0.0.1: 20 of 400 and from 10.0.0.2: 20 of 400": true, ": 1,000 of 1,800 packets (56 %) were copies": false,
			" NAKs of 10.0.0.9; at most 1,000 of 1,800 packets (56 %) were copies": k.counted, " NAKs, and at most 1,000 of 1,800 packets (56 %) were copies": k.counted, " of them for what was only late": !k.counted,
		} {
			if strings.Contains(got, want) != is {
				t.Errorf("%s: %q is not %v: %s", k.name, want, is, got)
			}
		}
	}
}

// TestCopiesCounted: where all that had been missing has come, the copies are what came beyond each PSN once: what came late as the first of its PSN is none. Where some is still missing, they are at most so many.
func TestCopiesCounted(t *testing.T) {
	for missing, want := range map[uint32]string{40: ", and 460 of 900 packets (51 %) were copies; no packet is missing at the tap.", 41: ", and at most 460 of 900 packets (51 %) were copies; no packet is missing at the tap."} {
		r := &agent.Result{First: second(1), Last: second(3)}
		a, b := packet.IPv4Addr([]byte{10, 0, 0, 1}), packet.IPv4Addr([]byte{10, 0, 0, 9})
		c := agent.Connection{Service: packet.RC, First: second(1), FirstFrame: 1}
		o := qp.Overtaken{Packets: 20, Numbered: 20, Depth: 3, First: second(1), Last: second(2), Frame: 10, Newest: 100, Asked: 5}
		c.Ends[0], c.Ends[1] = agent.End{Addr: a, QPN: 3, QPNKnown: true, Packets: 900, Retransmissions: 500, Last: second(2), Trouble: &qp.Trouble{}}, agent.End{Addr: b, QPN: 7, QPNKnown: true, Packets: 90, Last: second(2), NAKs: 60}
		c.Ends[0].Trouble.Overtaking = &qp.Overtaking{Sum: o}
		c.Ends[0].Trouble.Missing = qp.Missing{PSNs: missing, Filled: qp.Filled{PSNs: 40, Packets: 40}}
		r.Connections, r.Arrived = append(r.Connections, c), []packet.Addr{a}
		if got := toldOf(r); !strings.Contains(got, want) || !strings.Contains(got, "At least 20 packets that 10.0.0.1 ") {
			t.Errorf("%d missing: no %q in %s", missing, want, got)
		}
	}
}

// TestArrivedOfPairs: where each queue pair of a host has a counter of identifications, and the capture holds each of what it sent to one, that is told as of a host with one counter; not where the end sent more than was numbered.
func TestArrivedOfPairs(t *testing.T) {
	for _, sent := range []uint64{900, 901} {
		r := &agent.Result{First: second(1), Last: second(3)}
		a, b := packet.IPv4Addr([]byte{10, 0, 0, 1}), packet.IPv4Addr([]byte{10, 0, 0, 9})
		c := agent.Connection{Service: packet.RC, First: second(1), FirstFrame: 1}
		o := qp.Overtaken{Packets: 20, Numbered: 20, Depth: 3, First: second(1), Last: second(2), Frame: 10, Newest: 100, Asked: 5}
		c.Ends[0], c.Ends[1] = agent.End{Addr: a, QPN: 3, QPNKnown: true, Packets: sent, Retransmissions: 500, Last: second(2), Trouble: &qp.Trouble{}}, agent.End{Addr: b, QPN: 7, QPNKnown: true, Packets: 90, Last: second(2), NAKs: 60}
		c.Ends[0].Trouble.Overtaking = &qp.Overtaking{Sum: o}
		r.Connections = append(r.Connections, c)
		r.ArrivedQPs = []agent.NumberedPair{{Host: a, DestQP: 7, Packets: 900}}
		got := toldOf(r)
		for _, want := range []string{"At least 20 packets that 10.0.0.1 ", "; no packet is missing at the tap.", "lost: nothing before the tap: the capture holds each IPv4 identification of 10.0.0.1 QP 0x3, which has a counter of its own"} {
			if is := sent == 900 || strings.HasPrefix(want, "At least"); strings.Contains(got, want) != is {
				t.Errorf("%d sent: %q is not %v: %s", sent, want, is, got)
			}
		}
	}
}

// TestOvertakenAtOneHost: a host whose receiver asked for nothing that came late is not told with one whose receiver sent NAKs, but as the one
// without harm, and how many of the NAKs are known to be for what was late is the least; of hosts that are all asked again nothing is said to do no
// harm.
func TestOvertakenAtOneHost(t *testing.T) {
	const (
		asks   = "10.0.0.9 QP 0x5 sent 100 NAKs, at least 19 of them for what was only late, and 600 of 1,000 packets (60 %) were copies."
		harm   = " No harm: 30 of 1,000 packets from 10.0.0.1 came late to 10.0.0.9 QP 0x4, which sent no NAK."
		merged = "packets that 2 hosts sent to 10.0.0.9 came after later ones"
		cost   = "cost: the receiver took that for a loss at least 19 times (it sent 100 NAKs)"
	)
	for _, k := range []struct {
		name   string
		asked  uint32 // of the first
		apart  bool
		naks   uint32 // of the second
		counts bool
	}{{"one asks", 0, true, 100, true}, {"both ask", 19, false, 100, false}, {"most NAKs may be for others", 0, true, 1000, false}} {
		r := &agent.Result{First: second(1), Last: second(3)}
		for n, asked := range []uint32{k.asked, 19} {
			a, b := packet.IPv4Addr([]byte{10, 0, 0, byte(n + 1)}), packet.IPv4Addr([]byte{10, 0, 0, 9})
			c := agent.Connection{Service: packet.RC, First: second(1), FirstFrame: uint64(n + 1)}
			o := qp.Overtaken{Packets: 30, Numbered: 30, Depth: 3, First: second(1), Last: second(2), Frame: uint64(10 + n), Newest: uint64(100 + n), Asked: asked}
			c.Ends[0], c.Ends[1] = agent.End{Addr: a, QPN: uint32(n + 4), QPNKnown: true, Packets: 1000, Last: second(2), Trouble: &qp.Trouble{}}, agent.End{Addr: b, QPN: uint32(n + 4), QPNKnown: true, Packets: 90, Last: second(2)}
			if c.Ends[0].Trouble.Overtaking = (&qp.Overtaking{Sum: o}); asked > 0 {
				c.Ends[1].NAKs, c.Ends[0].Retransmissions = k.naks, 600
			}
			r.Connections = append(r.Connections, c)
		}
		got := toldOf(r)
		if strings.Contains(got, asks) != k.counts || strings.Contains(got, cost) != (k.naks == 100) || strings.Contains(got, harm) != k.counts || strings.Contains(got, merged) == k.apart {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}
