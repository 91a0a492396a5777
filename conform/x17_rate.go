package conform

import (
	"fmt"

	"ibwitness/packet"
	"ibwitness/wqe"
)

var slowsDown = &Test{
	ID: "X17_015", Title: "rate of a queue pair to which CNPs come",
	Abstract: "CNPs slow down the requests of the queue pair that they name, and without them these become faster again. A CNP is not answered, and takes no PSN.",
	Covers:   []Statement{{"CA17-45", Stated}, {"CA17-46", Stated}}, Topology: pairTopology, Needs: Control | Notifies,
	Setup: []string{"Connect a queue pair of RC, ECN-capable: ACK timeout 0."},
	Procedure: []string{
		"Have the device post 30 WRITEs of 8 PMTU, acknowledge each, and measure the time from the first packet to the last.", "Send eight CNPs, 50 us apart.", "Measure as before, with a CNP each 50 us.", "Send none for 1 s, and measure as before.",
	},
	Assertions: []Assertion{
		{"ours#01", "With CNPs the rate is lower than before, by a tenth at least."},
		{"ours#02", "A second without them it is higher again."},
		{"ours#03", "The CNPs are not answered."},
		{"ours#04", "They take no PSN: those of the requests are consecutive."},
	},
	Decisions: []Decision{{"The plan: rate falls, rises again.", "Ours. How far and how fast is left to the device; that the rate rises is one of should. Where the device is not faster than the tester can measure, nothing is proved."}},
	Breaks:    []string{"CNG-CNP-002"},
	run: func(r *run) {
		c := r.connect(pathed(capable, 64))
		r.at(1)
		before := c.transfer(nil)
		if before == 0 {
			return
		}
		r.at(2)
		for range 8 {
			p := c.notification(0)
			r.wait(50_000)
			if !r.check("ours#03", len(c.arrived) == 0, "no answer", fmt.Sprintf("%d packets", len(c.arrived)), append(c.arrived, p)...) {
				r.why = "the device answers a CNP"
				return
			}
		}
		r.at(3)
		next := r.now()
		slow := c.transfer(func() {
			if r.now() >= next {
				c.notification(0)
				next = r.now() + 50_000
			}
		})
		if slow == 0 || !r.check("ours#01", slow*10 >= before*11, "more than "+exact(before*11/10)+" for the WRITEs", exact(slow)) {
			r.why = "the rate was never lower"
			return
		}
		r.at(4)
		r.wait(endWindow)
		if after := c.transfer(nil); after > 0 {
			r.check("ours#02", after < slow, "less than "+exact(slow)+" for the WRITEs", exact(after))
		}
	},
}

// transfer has the device post 30 WRITEs, acknowledges each, and returns how long they take, in nanoseconds; 0: they did not come as they should.
// between is called after each packet.
func (c *conn) transfer(between func()) int64 {
	const writes, packets = 30, 8
	for range writes {
		c.posts(wqe.OpWrite, packets*pmtu, nil)
	}
	var first, last *packet.Packet
	for range writes * packets {
		p := c.answer()
		if !c.r.check("ours#04", p != nil && p.PSN == c.expects && p.Info().Request, fmt.Sprintf("a request, PSN %v", c.expects), happened(p, nil), p) {
			c.r.why = "a request has not come in its turn"
			return 0
		}
		if first == nil {
			first = p
		}
		c.expects, last = c.expects.Add(1), p
		if p.Info().Last {
			c.taken++
			c.ack(p.PSN, positive, c.taken)
		}
		if between != nil {
			between()
		}
	}
	c.r.settle()
	return last.Time - first.Time
}

var markedNotification = &Test{
	ID: "X17_016", Title: "CNPs that have met congestion",
	Abstract: "Nothing is sent for a CNP, also where the network has marked it.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control | Notifies,
	Setup:      []string{"Connect a queue pair of RC, ECN-capable."},
	Procedure:  []string{"Send a CNP with ECN 10 and wait for 10 ms.", "Send CNPs with ECN 11, and wait for 10 ms after each.", "Have the device post a SEND, and receive it."},
	Assertions: []Assertion{{"ours#01", "Nothing is sent for the CNP."}, {"ours#02", "The SEND has the first PSN."}},
	Decisions:  ours,
	Breaks:     []string{"CNG-CNP-002", "ROC-V2-005"},
	run: func(r *run) {
		c := r.connect(pathed(capable, 64))
		for i, tclass := range []uint8{capable, met, met, met} {
			r.again(1 + min(i, 1))
			p := c.notification(48<<2 | tclass)
			got := c.quiet()
			if !r.check("ours#01", got == nil, "nothing", happened(got, nil), p, got) {
				r.why = "the device answers a CNP"
				return
			}
		}
		r.at(3)
		c.posts(wqe.OpSend, 64, nil)
		p := c.answer()
		r.check("ours#02", p != nil && p.PSN == c.expects, fmt.Sprintf("PSN %v", c.expects), happened(p, nil), p)
	},
}
