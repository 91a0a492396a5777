package incident_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/incident"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/timing"
	"ibwitness/wqe"
)

// TestControlled: of a sender that pauses between its messages it is told how long these took around CNPs; where they took longer for a while, marks were answered and nothing was retransmitted, that is told as what congestion
// control is for. It is not where messages stayed as slow or as fast, or something was retransmitted; how long they took is not told where they are not all as long, or READs are among them.
func TestControlled(t *testing.T) {
	const us = int64(time.Microsecond)
	took := func(after ...int64) []int64 { return append([]int64{63, 62, 63, 64}, after...) }
	const (
		message = "rate: a message of 196,608 bytes took 63µs to be sent until the first CNP, on 1 queue pair"
		control = "control: the marks were answered, what was sent slowed down and was as fast as before again, and nothing was lost"
		enough  = "where throughput is enough, nothing, as nothing was retransmitted; else "
	)
	for _, tt := range []struct {
		name              string
		took              []int64 // each message, µs
		change            func(*agent.Connection)
		rate              string
		controlled, fewer bool // fewer: something was retransmitted
	}{
		{"slowed and recovered", took(63, 120, 100, 63), nil, message + ", up to 120µs after it, and as long as before again then", true, false},
		{"stayed slow", took(63, 120, 100, 90), nil, message + ", and up to 120µs after it", false, false},
		{"stayed as fast", took(63, 63, 64, 62), nil, message + ", and no longer after it", false, false},
		{"retransmitted", took(63, 120, 100, 63), func(c *agent.Connection) { c.Ends[0].Retransmissions = 1 }, "", false, true},
		{"of other sizes", took(63, 120, 100, 63), func(c *agent.Connection) { c.Timing.Ends[0].Ops[wqe.Write].Sizes.Least = 4096 }, "", false, false},
		{"with READs", took(63, 120, 100, 63), func(c *agent.Connection) { c.Timing.Ends[1].Reads = 1 }, "", false, false},
	} {
		const period = 10 * int64(time.Millisecond)
		c := agent.Connection{Service: packet.RC, First: second(1), FirstFrame: 1, PMTU: 4096, Timing: &timing.Connection{}}
		c.Timing.Ends[0].Ops[wqe.Write] = &timing.Operation{Sizes: timing.Sizes{Least: 196608, Most: 196608}}
		for n, x := range tt.took {
			begin := second(1) + int64(n)*period
			c.Timing.Ends[0].Sent = append(c.Timing.Ends[0].Sent, timing.Sent{Begin: begin, End: begin + x*us})
		}
		cnp := second(1) + 4*period
		c.Ends[0] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, 1}), Packets: 400, Messages: uint64(len(tt.took)), Last: second(2), Bytes: 8 * 196608, Trouble: &qp.Trouble{Notified: &qp.Notified{Count: 1, First: cnp, Last: cnp, Bytes: 4 * 196608, Until: 4 * 196608}}}
		c.Ends[1] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, 2}), Packets: 9, Last: second(2)}
		if tt.change != nil {
			tt.change(&c)
		}
		r := &agent.Result{First: second(1), Last: second(2), Connections: []agent.Connection{c}}
		for n := range int64(20) {
			r.Findings = append(r.Findings, rule.Finding{Rule: rule.EvCE, Class: rule.Event, Time: cnp - us + n, Frame: uint64(n) + 2, Accused: rule.Endpoint{Addr: c.Ends[0].Addr}, Peer: rule.Endpoint{Addr: c.Ends[1].Addr}})
		}
		r.Findings = append(r.Findings, rule.Finding{Rule: rule.EvCNP, Class: rule.Event, Time: cnp, Frame: 50, Accused: rule.Endpoint{Addr: c.Ends[1].Addr}, Peer: rule.Endpoint{Addr: c.Ends[0].Addr}})
		got, next := toldOf(r), fmt.Sprint(incident.Of(r)[0].Next)
		if !strings.Contains(got, tt.rate+"\n") || tt.rate == "" && strings.Contains(got, "rate: ") {
			t.Errorf("%s: %s\nwant %q", tt.name, got, tt.rate)
		}
		if strings.Contains(got, control) != tt.controlled || strings.Contains(next, enough) == tt.fewer {
			t.Errorf("%s: %s\nnext %s", tt.name, got, next)
		}
	}
}
