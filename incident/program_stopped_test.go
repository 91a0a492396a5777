package incident

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/timing"
)

// served is a connection on which a client asks each 2 ms, and the time after which its request is acknowledged, and answered; no answer: it asks
// nothing then.
func served(c *agent.Connection, times func(at time.Duration) (ack, answer time.Duration)) {
	k, p := timing.New(nil), &qp.Pair{Service: packet.RC, Paired: true}
	for e := range p.Ends {
		p.Ends[e].Direction = qp.NewDirection()
	}
	var sent [2]uint32
	frame := uint64(0)
	message := func(from int, at, ack time.Duration) {
		psn := packet.PSN(sent[from])
		sent[from]++
		frame += 2
		k.Packet(p, from, &packet.Packet{Opcode: packet.Op(packet.RC, packet.SendOnly), PSN: psn, AckReq: true, Time: int64(time.Hour + at), Frame: frame})
		p.Ends[from].SQ.Una = psn.Add(1)
		k.Packet(p, 1-from, &packet.Packet{Opcode: packet.Op(packet.RC, packet.Acknowledge), Syndrome: 0x1f, MSN: sent[from], PSN: psn, Time: int64(time.Hour + at + ack), Frame: frame + 1})
	}
	for at := time.Millisecond; at < 3*time.Second; at += 2 * time.Millisecond {
		ack, answer := times(at)
		if answer == 0 {
			continue
		}
		message(0, at, ack)
		message(1, at+answer, time.Microsecond)
		at += answer
	}
	c.Timing = k
}

// TestProgramStopped: a host that sent no message on any connection, though its adapter acknowledged what came, and then went on on all, is one
// incident, which comes before a stall that cost less; not where the
// adapter was silent too, where it went on elsewhere, where nothing or little waited for it, or where it is often so.
func TestProgramStopped(t *testing.T) {
	const (
		told = "Twice, for 301ms to 400ms, no program of 10.0.0.1 sent a message on any of its 3 busy connections, while its adapter acknowledged what came within 5µs: " +
			"its software stopped or waited, and not its adapter or the network; then all went on."
		ms    = time.Millisecond
		usual = 40 * time.Microsecond
	)
	stops := func(at time.Duration) (ack, answer time.Duration) {
		ack, answer = 5*time.Microsecond, usual
		for _, stop := range [][2]time.Duration{{1000 * ms, 1300 * ms}, {2000 * ms, 2400 * ms}} {
			if at >= stop[0] && at < stop[1] {
				answer = stop[1] - at + usual
			}
		}
		return ack, answer
	}
	type times = func(at time.Duration) (ack, answer time.Duration)
	goesOn := func(time.Duration) (ack, answer time.Duration) { return 5 * time.Microsecond, usual }
	asksNothing := func(at time.Duration) (ack, answer time.Duration) {
		if ack, answer = stops(at); answer > usual {
			answer = 0
		}
		return ack, answer
	}
	silent := func(at time.Duration) (ack, answer time.Duration) {
		if ack, answer = stops(at); answer > usual {
			ack = answer - usual
		}
		return ack, answer
	}
	often := func(at time.Duration) (ack, answer time.Duration) {
		if ack, answer = stops(at); answer == usual && at/ms%64 < 6 {
			answer = 40 * ms
		}
		return ack, answer
	}
	for _, k := range []struct {
		name string
		of   [3]times
		set  func(r *agent.Result)
		want bool
	}{
		{"its programs stop", [3]times{stops, stops, stops}, nil, true},
		{"a client asks nothing meanwhile", [3]times{stops, stops, asksNothing}, nil, true},
		{"it goes on with a client", [3]times{stops, stops, goesOn}, nil, false},
		{"one client waits", [3]times{stops, asksNothing, asksNothing}, nil, false},
		{"its adapter stops, too", [3]times{silent, silent, silent}, nil, false},
		{"it is slow often", [3]times{often, often, often}, nil, false},
		{"the capture lost packets", [3]times{stops, stops, stops}, func(r *agent.Result) { r.Dropped = 1 }, false},
		{"the clock stepped", [3]times{stops, stops, stops}, func(r *agent.Result) { r.Clock.Count = 1 }, false},
	} {
		r := &agent.Result{RDMA: 8000, Packets: 8000, First: int64(time.Hour), Last: int64(time.Hour + 3*time.Second), Taps: make([]fabricagent.Tap, 1)}
		for n := range byte(5) {
			c := agent.Connection{Service: packet.RC, First: int64(time.Hour), FirstFrame: uint64(1 + n)}
			server, of := byte(1), goesOn
			if n < 3 {
				of = k.of[n]
			} else {
				server = 9
			}
			for e, host := range []byte{2 + n, server} {
				c.Ends[e] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, host}), QPN: uint32(16 + n), QPNKnown: true, Packets: 1000, Messages: 500, Last: int64(time.Hour + 3*time.Second)}
			}
			served(&c, of)
			r.Connections = append(r.Connections, c)
		}
		stall := qp.Stall{Request: qp.StalledRequest{Frame: 5}, Since: int64(time.Hour + 1500*ms), Begun: int64(time.Hour + 1700*ms), Last: int64(time.Hour + 1700*ms), Ended: int64(time.Hour + 1701*ms), Packets: 1}
		stall.Rounds[qp.TimerExpired] = 1
		r.Connections[4].Ends[0].Trouble = &qp.Trouble{Longest: [len(qp.Trouble{}.Longest)]qp.Stall{stall}, Sum: qp.Stalls{Count: 1, Lost: stall.Lost()}}
		if k.set != nil {
			k.set(r)
		}
		var all []string
		for _, i := range Of(r) {
			all = append(all, i.What)
		}
		got := strings.Join(all, "\n")
		if k.want && (!strings.HasPrefix(got, told) || len(all) < 2) || !k.want && strings.Contains(got, "no program of") {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}
