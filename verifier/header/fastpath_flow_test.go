package header

import (
	"testing"

	"pgregory.net/rapid"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier"
	"ibwitness/verifier/congestion"
)

// TestUsualFlow: what the fast path for the second packet of a flow lets pass is plain, and agrees with the first.
func TestUsualFlow(t *testing.T) {
	passed, differed := 0, 0
	check := func(t *rapid.T) {
		var first packet.Packet
		if !decodeAny(&first, odd(t)) || first.Encap != packet.RoCEv2IPv4 {
			return
		}
		var rec rule.Recorder
		shared := verifier.New(&rec, func(packet.Addr) bool { return false })
		marks := new(congestion.Marks)
		v := New(shared, &congestion.Verifier{Verifier: shared, Marks: func(_, _ packet.Addr) **congestion.Marks { return &marks }})
		c := qp.NewPair(packet.RC)
		c.Encap = first.Encap
		for range 2 {
			v.Packet(c, 0, &first)
			v.Flow(c, 0, &first)
		}
		if (c.Ends[0].Flow.State == qp.FlowPlain) != plain(&first) {
			t.Fatalf("a packet that is plain %t leaves the flow %d", plain(&first), c.Ends[0].Flow.State)
		}
		for range 20 {
			var p packet.Packet
			if !decodeAny(&p, odd(t)) || first.Src != p.Src || first.Dst != p.Dst || first.DestQP != p.DestQP {
				continue
			}
			taken, same := agreesWithFlow(&c.Ends[0].Flow, &p), p.Encap == c.Encap && p.Opcode.Service() == packet.RC && plain(&first) && plain(&p) && c.Ends[0].Agrees(&p)
			if taken != same {
				t.Fatalf("taken %t, but plain %t, agrees %t:\n%+v", taken, plain(&p), c.Ends[0].Agrees(&p), p)
			}
			if taken {
				passed++
			} else {
				differed++
			}
		}
	}
	for range 20 { // now and then chance has none taken
		if rapid.Check(t, check); passed > 0 && differed > 0 {
			return
		}
	}
	t.Errorf("%d packets taken, %d not: the property was not tested", passed, differed)
}
