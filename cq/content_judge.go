package cq

import (
	"fmt"

	"ibwitness/rule"
)

// contents holds what READs, atomics and the consumer find in the memory of a device against what was put there. That takes a log which
// tells of what its consumer writes, and the clock of the packets.
func (a *Agent) contents(s *Source) {
	if !s.exact || !s.tells || a.Lossy {
		return
	}
	c, ok := a.remember(s)
	if !ok || len(c.sights) == 0 {
		return
	}
	c.order()
	right := map[*stored]int64{} // when a range was last found as it should be
	type wrong struct {
		x *sight
		p *stored
	}
	var list []wrong
	for i := range c.sights {
		x := &c.sights[i]
		p, quiet := c.source(x)
		switch {
		case p == nil:
			if quiet && x.event != nil {
				c.pieces[x.self].idle = false // what was found is known from now on
			}
			continue
		case p.same(&x.stored):
			right[p] = x.from
		default:
			list = append(list, wrong{x, p})
		}
		a.covered(contentRule(x, p))
		if p.mustShow(x) {
			a.covered(rule.RCRSP035)
		}
	}
	told := map[*stored]bool{}
	for _, w := range list {
		x, p := w.x, w.p
		if told[p] && x.event != nil {
			continue
		}
		told[p] = true
		id := contentRule(x, p)
		if p.mustShow(x) && right[p] > x.from {
			id = rule.RCRSP035
		}
		a.otherData(s, id, x, p)
	}
}

// mustShow reports whether the consumer looked at what a WRITE put there after it was told of a later message.
func (p *stored) mustShow(x *sight) bool { return p.write && x.event != nil && p.seen < x.from }

// contentRule is the rule that a sight of a range is judged by.
func contentRule(x *sight, p *stored) rule.ID {
	switch {
	case x.read:
		return rule.RCRSP012
	case x.atomic || p.atomic:
		return rule.RCRSP011
	}
	return rule.CPLMEM001
}

// otherData makes the finding that a range holds other data than it should.
func (a *Agent) otherData(s *Source, id rule.ID, x *sight, p *stored) {
	v := verdict{
		rule: id, class: rule.Violation, role: rule.Responder,
		expected: fmt.Sprintf("data with CRC-32 %#08x in %d bytes of memory at %#x", p.crc, x.hi-x.lo, x.lo),
		actual:   fmt.Sprintf("%#08x", x.crc), event: x.event,
	}
	q := x.q
	switch {
	case x.q != nil:
		v.at, v.evidence = x.m.read.at, []uint64{x.m.begin.frame}
	case p.q != nil:
		q, v.at = p.q, p.m.end
	default:
		a.device(s, id, x.event, v.expected, v.actual)
		return
	}
	if x.q != nil && p.q != nil {
		v.evidence = append(v.evidence, p.m.end.frame)
	}
	if id == rule.RCRSP035 {
		v.expected += ": a later message has completed"
	}
	a.accuse(q, v)
}
