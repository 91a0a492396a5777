package rc

import (
	"testing"
	"time"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier"
)

// TestSilentOnce: a requester that lets its timer run out is found silent once, however often one looks, and again when it falls silent again.
func TestSilentOnce(t *testing.T) {
	for _, near := range []bool{false, true} {
		g := newGround()
		end := &g.c.Ends[0]
		end.Near = near
		end.Attr = &qp.Attr{Known: qp.KnowsTimeout | qp.KnowsRetryCnt, Timeout: 10, RetryCnt: 3}
		ask := func(now time.Duration) {
			p := at(g.packet(packet.SendOnly, g.q.Next, 8), now)
			p.AckReq = true
			g.Packet(g.c, 0, p)
		}
		found := func(now time.Duration) (n int) {
			g.Silent(g.c, int64(now))
			for _, f := range g.Rec.Findings {
				if f.Rule == rule.RCTMO004 {
					n++
				}
			}
			return n
		}
		for _, step := range []struct {
			now  time.Duration
			asks bool
			want int
		}{{time.Millisecond, true, 0}, {15 * time.Millisecond, false, 0}, {time.Second, false, 1}, {2 * time.Second, false, 1}, {3 * time.Second, true, 1}, {4 * time.Second, false, 2}} {
			if step.asks {
				ask(step.now)
			}
			if !near {
				step.want = 0
			}
			if n := found(step.now); n != step.want {
				t.Errorf("near %v, after %v: found %d times, not %d", near, step.now, n, step.want)
			}
		}
	}
}

// TestHardwareTimers: a device whose timers are those of hardware is silent as soon as four timer values have passed; where none is known, when the profile says. A response that
// comes after all takes the proof away.
func TestHardwareTimers(t *testing.T) {
	const four = 4 * 4194304 * time.Nanosecond // of ACK timeout 10
	for _, k := range []struct {
		near    int
		timeout uint8 // 0: not known
		profile verifier.Profile
		rule    rule.ID
		within  time.Duration
	}{
		{0, 10, verifier.Profile{HardwareTimers: true}, rule.RCTMO004, four},
		{0, 10, verifier.Profile{}, rule.RCTMO004, four + 10*time.Millisecond},
		{1, 10, verifier.Profile{HardwareTimers: true, Answer: time.Millisecond}, rule.RCRSP005, four},
		{1, 10, verifier.Profile{}, rule.RCRSP005, four + 10*time.Millisecond},
		{1, 0, verifier.Profile{HardwareTimers: true, Answer: time.Millisecond}, rule.RCRSP005, time.Millisecond},
		{1, 0, verifier.Profile{HardwareTimers: true}, rule.RCRSP005, time.Second},
		{1, 0, verifier.Profile{Answer: time.Millisecond}, rule.RCRSP005, time.Second},
	} {
		g := newGround()
		g.Profile = k.profile
		g.LifeAt = func(packet.Addr, uint32, int64) qp.Life { return qp.Alive }
		g.respond(5)
		g.c.Ends[k.near].Near, g.c.Ends[0].Numbered, g.c.Ends[1].Numbered = true, true, true
		if k.timeout != 0 {
			g.c.Ends[0].Attr = &qp.Attr{Known: qp.KnowsTimeout | qp.KnowsRetryCnt, Timeout: k.timeout, RetryCnt: 3}
		}
		const asked = time.Second
		p := at(g.packet(packet.SendOnly, g.q.Next, 8), asked)
		p.AckReq = true
		g.Packet(g.c, 0, p)
		over := int64(asked + k.within)
		if due := g.Silent(g.c, over); due != over || len(g.Rec.Findings) != 0 {
			t.Errorf("%+v: due at %d, not %d; found %+v", k, due, over, g.Rec.Findings)
		}
		if g.Silent(g.c, over+1); len(g.Rec.Findings) != 1 || g.Rec.Findings[0].Rule != k.rule || g.Rec.Findings[0].Class != rule.Violation {
			t.Fatalf("%+v: found %+v", k, g.Rec.Findings)
		}
		if soonest := max(g.Soonest(), g.Patience(g.c)); soonest > over-int64(asked) {
			t.Errorf("%+v: nothing is due within %d, and something was after %d", k, soonest, over-int64(asked))
		}
		if k.rule != rule.RCRSP005 {
			continue
		}
		p = at(g.packet(packet.Acknowledge, p.PSN, 0), asked+2*k.within)
		p.MSN = 7
		if g.Packet(g.c, 1, p); g.Rec.Findings[0].Class != rule.Unproven || len(g.Rec.Findings) != 1 {
			t.Errorf("%+v: after a response: %+v", k, g.Rec.Findings)
		}
	}
}

// TestSequenceNakOwed: a responder that gets a request after a gap, and neither asks for what is missing nor responds, is told when its time is over. A response that comes after all takes
// the proof away; where its requester has retransmitted and it goes on, it is told once.
func TestSequenceNakOwed(t *testing.T) {
	for _, k := range []struct {
		name   string
		before bool // what comes before the gap is not acknowledged
		asks   bool
		then   func(g *ground, missing packet.PSN)
		class  rule.Class // in the end
	}{
		{"silent", false, true, nil, rule.Violation},
		{"nothing asks", false, false, nil, rule.Unproven},
		{"a late NAK", false, true, func(g *ground, missing packet.PSN) {
			p := at(g.packet(packet.Acknowledge, missing, 0), 2*time.Second)
			p.Syndrome, p.MSN = 0x60, 6
			g.Packet(g.c, 1, p)
		}, rule.Unproven},
		{"a late ACK of what comes before", true, true, func(g *ground, missing packet.PSN) {
			p := at(g.packet(packet.Acknowledge, missing.Add(-1), 0), 2*time.Second)
			p.MSN = 6
			g.Packet(g.c, 1, p)
		}, rule.Violation},
		{"it goes on after a retransmission", false, true, func(g *ground, missing packet.PSN) {
			for i := range 2 {
				p := at(g.packet(packet.SendOnly, missing.Add(i), 8), 2*time.Second)
				p.AckReq = i > 0
				g.Packet(g.c, 0, p)
			}
			p := at(g.packet(packet.Acknowledge, missing.Add(1), 0), 2*time.Second+time.Millisecond)
			p.MSN = 8
			g.Packet(g.c, 1, p)
		}, rule.Violation},
	} {
		g := newGround()
		g.Profile = verifier.Profile{HardwareTimers: true, Answer: time.Millisecond}
		g.LifeAt = func(packet.Addr, uint32, int64) qp.Life { return qp.Alive }
		g.c.Ends[0].Numbered, g.c.Ends[1].Numbered, g.c.Ends[1].Near = true, true, true
		if ack := g.respond(5); !k.before {
			g.Packet(g.c, 1, ack)
		}
		missing := g.q.Next
		p := at(g.packet(packet.SendOnly, missing.Add(1), 8), time.Second)
		p.AckReq = k.asks
		g.Packet(g.c, 0, p)
		found := func() (list []rule.Finding) {
			for _, f := range g.Rec.Findings {
				if f.Rule == rule.RCRSP002 {
					list = append(list, f)
				}
			}
			return list
		}
		over := int64(time.Second + time.Millisecond)
		if due := g.Silent(g.c, over); due != over || len(found()) != 0 {
			t.Errorf("%s: due at %d, not %d; found %+v", k.name, due, over, found())
		}
		for range 2 {
			g.Silent(g.c, over+1)
		}
		if k.then != nil {
			k.then(g, missing)
		}
		g.Silent(g.c, int64(5*time.Second))
		if list := found(); len(list) != 1 || list[0].Class != k.class || list[0].Accused.Role != rule.Responder {
			t.Errorf("%s: found %+v", k.name, list)
		}
	}
}
