package cq

import (
	"fmt"

	"ibwitness/rule"
)

// contents compares what READs, atomics and the consumer find in the memory of a device with what was put there, as soon as a tap anywhere has seen what may
// have changed it. That takes a log which tells of what its consumer writes, and the clock of the packets.
func (a *Agent) contents(s *Source) {
	c := s.content
	if c == nil {
		return
	}
	if c.lost || !c.written || a.Lossy {
		c.observations, c.covers = nil, nil
		return
	}
	n := 0
	for n < len(c.observations) && (a.ended || c.observations[n].to+slackRecord < a.wire) {
		a.observe(s, c.observations[n])
		n++
	}
	clear(c.observations[:n])
	c.observations = c.observations[n:]
	for n = 0; n < len(c.covers) && (len(c.observations) == 0 || c.observations[0].to > c.covers[n].to); n++ {
		c.forget(c.covers[n])
	}
	clear(c.covers[:n])
	c.covers = c.covers[n:]
	n = 0
	for n < len(c.wrong) && (a.ended || c.wrong[n].x.to+settled < a.wire) {
		a.reportWrongData(s, contentRule(c.wrong[n].x, c.wrong[n].p), c.wrong[n])
		n++
	}
	c.wrong = c.wrong[n:]
}

// observe compares what was found in a range with what was put there.
func (a *Agent) observe(s *Source, x *observation) {
	c := s.content
	p, quiet := c.source(x)
	if p == nil {
		if quiet && x.event != nil {
			x.self.idle = false // what was found is known from now on
		}
		return
	}
	a.covered(contentRule(x, p))
	shown := p.mustShow(x)
	if shown {
		a.covered(rule.RCRSP035)
	}
	switch {
	case p.same(&x.stored):
		left := c.wrong[:0]
		for _, w := range c.wrong {
			if w.p == p {
				a.reportWrongData(s, rule.RCRSP035, w)
			} else {
				left = append(left, w)
			}
		}
		c.wrong = left
	case shown:
		c.wrong = append(c.wrong, wrongData{x, p})
	default:
		a.reportWrongData(s, contentRule(x, p), wrongData{x, p})
	}
}

// mustShow reports whether the consumer looked at what a WRITE put there after it was told of a later message.
func (p *stored) mustShow(x *observation) bool { return p.write && x.event != nil && p.seen < x.from }

// contentRule is the rule that an observation of a range is judged by.
func contentRule(x *observation, p *stored) rule.ID {
	switch {
	case x.read:
		return rule.RCRSP012
	case x.atomic || p.atomic:
		return rule.RCRSP011
	}
	return rule.CPLMEM001
}

// watched is the class of a finding that rests on everything that has changed the memory of a device: a tap that is near neither it nor all of its peers may have
// missed some of that.
func (a *Agent) watched(s *Source) (class rule.Class, why string) {
	if !a.Lossy && !a.near(s.addr) {
		for _, lives := range s.qps {
			for _, q := range lives {
				if q.attr.DestAddr.IsZero() || !a.near(q.attr.DestAddr) {
					return rule.Unproven, notShown
				}
			}
		}
	}
	a.assumes = rule.AssumesNear | rule.AssumesWhole
	return rule.Violation, ""
}

// reportWrongData makes the finding that a range holds other data than it should.
func (a *Agent) reportWrongData(s *Source, id rule.ID, w wrongData) {
	x, p := w.x, w.p
	if p.reported && x.event != nil {
		return
	}
	p.reported = true
	class, why := a.watched(s)
	v := verdict{
		Verdict: rule.Verdict{
			Rule: id, Class: class, Detail: why, Role: rule.Responder,
			Expected: fmt.Sprintf("data with CRC-32 %#08x in %d bytes of memory at %#x", p.crc, x.hi-x.lo, x.lo),
			Actual:   fmt.Sprintf("%#08x", x.crc),
		},
		event: x.event,
	}
	q := x.q
	switch {
	case x.q != nil:
		v.expects = found(x, p.crc)
		v.at, v.Evidence = x.m.Response.At, []uint64{x.m.Begin.Frame}
	case p.q != nil:
		q, v.at = p.q, p.m.End
	default:
		a.add(s, rule.Finding{
			Rule: id, Class: class, Detail: why, Time: x.event.Time, Expected: v.Expected, Actual: v.Actual, Log: s.name, Line: x.event.Line,
			Accused: rule.Endpoint{Addr: s.addr}, Assumes: a.assumes,
		})
		a.assumes = 0
		return
	}
	if x.q != nil && p.q != nil {
		v.Evidence = append(v.Evidence, p.m.End.Frame)
	}
	if id == rule.RCRSP035 {
		v.Expected += ": a later message has completed"
	}
	a.accuse(q, v)
}
