package report

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/timing"
	"ibwitness/verifier"
	"ibwitness/wqe"
)

// oneAtATime is a connection with so many READs, one after the other.
func oneAtATime(took time.Duration, n int) agent.Connection {
	c := busy(wqe.Read, 0, 0)
	e, o, gaps := &c.Timing.Ends[0], &timing.Operation{Count: uint64(n), Bytes: uint64(n) * 4096}, new(verifier.Histogram)
	for range n {
		o.Observe(took)
		gaps.Observe(took)
	}
	e.Ops[wqe.Read], e.Gaps, e.Reads = o, gaps, 1
	for k := range c.Ends {
		c.Ends[k].Last = c.First + int64(n)*int64(took)
	}
	return c
}

// TestAgreedOnDepth: of an end that has one READ outstanding at a time it is told that CM agreed on no more, which frame granted that, and who was granted more; where CM agreed on more, or is not seen, the program may be why.
func TestAgreedOnDepth(t *testing.T) {
	const (
		us      = time.Microsecond
		program = "(max_rd_atomic, or a program that waits for each?)"
	)
	for _, k := range []struct {
		name          string
		agreed, asked uint8
		want          string
	}{
		{"one", 1, 16, "65.5 Mbit/s. It may have no more: CM agreed on 1 with 10.0.0.99: its REP in frame 3 granted 1, though the REQ asked for 16; it granted 2 to 10.0.0.7 QP 0x20 in frame 4. To have more, raise the responder_resources that the program on 10.0.0.99 accepts with"},
		{"one, as asked for", 1, 1, "65.5 Mbit/s. It may have no more: CM agreed on 1 with 10.0.0.99, and the REQ of 10.0.0.1 asked for no more (REP in frame 3); it granted 2 to 10.0.0.7 QP 0x20 in frame 4. To have more, raise initiator_depth (max_rd_atomic) on 10.0.0.1, and responder_resources on 10.0.0.99 where that is 1 too. Larger READs would be faster, too."},
		{"one, and what was asked for is not known", 1, 0, "65.5 Mbit/s. It may have no more: CM agreed on 1 with 10.0.0.99; it granted 2 to 10.0.0.7 QP 0x20 in frame 4."},
		{"more", 4, 16, "(CM agreed on 4 with 10.0.0.99: a lower max_rd_atomic of its own, or a program that waits for each?)."},
		{"not known", 0, 16, program},
	} {
		c, other := oneAtATime(500*us, 300), reader(7, 2, 2, time.Millisecond)
		slow := &timing.Operation{Count: 2000, Bytes: 2000 * 4096, Sizes: other.Timing.Ends[0].Ops[wqe.Read].Sizes}
		for range 2000 {
			slow.Observe(500 * us)
		}
		other.Timing.Ends[0].Ops[wqe.Read] = slow
		c.Ends[1].Addr, other.Ends[0].AskedDepth = packet.IPv4Addr([]byte{10, 0, 0, 99}), 16
		if c.Ends[0].AskedDepth = k.asked; k.agreed > 0 {
			c.Ends[0].Known, c.Ends[0].InitiatorDepth = other.Ends[0].Known, k.agreed
		}
		var found []rule.Finding
		for n, x := range []*agent.Connection{&c, &other} {
			found = append(found, rule.Finding{
				Rule: rule.EvConnect, Class: rule.Event, Frame: uint64(3 + n),
				Accused: rule.Endpoint{Addr: x.Ends[0].Addr, QPN: x.Ends[0].QPN, QPNKnown: true}, Peer: rule.Endpoint{Addr: x.Ends[1].Addr, QPN: x.Ends[1].QPN, QPNKnown: true},
			})
		}
		got := reportOf(t, &agent.Result{RDMA: 6, Packets: 6, Connections: []agent.Connection{c, other}, Findings: found})
		if !strings.Contains(got, k.want) || strings.Contains(got, program) != (k.want == program) || strings.Contains(got, "To have more") != (k.asked >= k.agreed && k.agreed == 1) || !strings.Contains(got, "as many as CM agreed on with 10.0.0.99 (its REP in frame 4 granted 2, though the REQ asked for 16)") {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}
