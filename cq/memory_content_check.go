package cq

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"ibwitness/expect"
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
	n := a.observed(s)
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

// observed compares what has been found in the memory of a device as far as all is known that may have changed it, and returns how much that is.
func (a *Agent) observed(s *Source) (n int) {
	c := s.content
	for ; n < len(c.observations) && (a.ended || c.observations[n].to+s.slackRecord() < a.wire); n++ {
		x := c.observations[n]
		if x.event == nil && s.comes(x.to) && len(c.observations)-n < mostWaiting {
			break
		}
		if x.event != nil || s.goesOn(x.to) { // else the log may end before the consumer wrote there
			a.observe(s, x)
		}
	}
	return n
}

// observe compares what was found in a range with what was put there.
func (a *Agent) observe(s *Source, x *observation) {
	c := s.content
	all, p, quiet := c.sources(x)
	if !quiet {
		return
	}
	w := wrongData{x: x, p: p}
	switch {
	case !p.is(x):
		if w = a.composed(s, x, all, p); w.p == nil {
			return
		}
		p = w.p
	case x.data != nil && p.data != nil && !p.same(&x.stored):
		w.want, w.at = bytes.Clone(p.data), differs(p.data, x.data)
	}
	a.covered(contentRule(x, p))
	shown := p.mustShow(x)
	if shown {
		a.covered(rule.RCRSP035)
	}
	switch {
	case w.want == nil && p.same(&x.stored):
		a.foundRight(s, x)
		a.foundLate(s, p)
	case shown:
		c.wrong = append(c.wrong, w)
	default:
		a.reportWrongData(s, contentRule(x, p), w)
	}
}

// composed compares what was found with what several ranges have put there, piece by piece. The result is without p where it shows what it should, or where that is not known.
func (a *Agent) composed(s *Source, x *observation, all []*stored, newest *stored) wrongData {
	w, known := x.wrong(all)
	if x.event != nil && w.p == nil {
		x.self.idle = false // what was found is known from now on
	}
	if known && w.p == nil {
		a.covered(contentRule(x, newest))
		a.foundRight(s, x)
	}
	return w
}

// foundLate reports that what a WRITE has put there was not there when the consumer looked before, although it had been told of a later message.
func (a *Agent) foundLate(s *Source, p *stored) {
	c := s.content
	left := c.wrong[:0]
	for _, o := range c.wrong {
		if o.p == p {
			a.reportWrongData(s, rule.RCRSP035, o)
		} else {
			left = append(left, o)
		}
	}
	c.wrong = left
}

// foundRight takes over that a READ or an atomic has found what memory held, where nothing that may have changed that is missing: what its requester then has in memory it is to blame for.
func (a *Agent) foundRight(s *Source, x *observation) {
	if x.q == nil {
		return
	}
	class, _ := a.watched(s)
	if class != rule.Violation {
		return
	}
	if x.m.held = true; !x.m.wrongInMemory {
		return
	}
	for i := range a.rec.Findings {
		if f := &a.rec.Findings[i]; x.wrongInMemoryOf(f) {
			f.Assumes |= a.assumes
			a.rec.Prove(i, "the response is what memory held")
		}
	}
}

// wrongInMemoryOf reports whether a finding is that the requester has other data in memory than the response to its READ or atomic has brought.
func (x *observation) wrongInMemoryOf(f *rule.Finding) bool {
	return f.Rule == rule.CPLMEM001 && f.Frame == x.m.Response.At.Frame && f.Accused.Addr != x.q.addr()
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
	v := verdict{Verdict: rule.Verdict{Rule: id, Class: class, Detail: why, Role: rule.Responder}, event: x.event}
	v.Expected, v.Actual = w.texts()
	q := x.q
	switch {
	case x.q != nil:
		x.m.departs = true
		for i := range a.rec.Findings {
			if f := &a.rec.Findings[i]; x.wrongInMemoryOf(f) {
				a.rec.Doubt(i, "the response is another than memory holds: it may have been changed before or after the tap")
			}
		}
		v.at, v.Evidence = x.m.Response.At, []uint64{x.m.Begin.Frame}
		if v.expects = found(x, p.crc); w.want != nil || p.numbered && x.numbered {
			v.at, v.expects, v.payload = w.response()
		}
	case p.q != nil:
		q, v.at = p.q, p.m.End
	default:
		a.add(s, rule.Finding{
			Rule: id, Class: class, Detail: why, Time: s.onWire(x.event.Time), Expected: v.Expected, Actual: v.Actual, Log: s.name, Line: x.event.Line,
			Accused: rule.Endpoint{Addr: s.addr}, Assumes: a.assumes,
		})
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

// texts are what was expected of memory, and what it holds.
func (w *wrongData) texts() (expected, actual string) {
	x, p := w.x, w.p
	switch {
	case x.numbered && w.want != nil:
		le, be := binary.LittleEndian.Uint64(w.want), binary.BigEndian.Uint64(w.want)
		return fmt.Sprintf("%#x of memory at %#x, or %#x in the other byte order", le, x.lo, be), fmt.Sprintf("%#x", x.number)
	case x.numbered && p.numbered:
		return fmt.Sprintf("%#x of memory at %#x", p.number, x.lo), fmt.Sprintf("%#x", x.number)
	case w.want == nil:
		return fmt.Sprintf("data with CRC-32 %#08x in %d bytes of memory at %#x", p.crc, x.hi-x.lo, x.lo), fmt.Sprintf("%#08x", x.crc)
	}
	n := 0
	for i := range w.want {
		if w.want[i] != x.data[i] {
			n++
		}
	}
	expected, actual = fmt.Sprintf("%#02x in memory at %#x", w.want[w.at], x.lo+uint64(w.at)), fmt.Sprintf("%#02x", x.data[w.at])
	if n > 1 {
		actual += fmt.Sprintf(", and %d bytes after it differ too", n-1)
	}
	return expected, actual
}

// response is the packet of a response that has brought other data than it should, with its payload, and what it should have held.
func (w *wrongData) response() (at PacketRef, expects func(*expect.Expected), payload []byte) {
	x := w.x
	r := x.m.Response
	if x.numbered {
		if w.want == nil {
			return r.At, func(e *expect.Expected) { e.Hold(expect.OrigData, w.p.number) }, nil
		}
		text, _ := w.texts()
		return r.At, func(e *expect.Expected) { e.Say(expect.OrigData, text, false) }, nil
	}
	n := int(x.q.in.pmtu)
	i := 0
	if n > 0 {
		i = w.at / n
	}
	if i >= len(r.Refs) {
		return r.At, found(x, w.p.crc), nil
	}
	lo, hi := i*n, len(w.want)
	if i < len(r.Refs)-1 {
		hi = lo + n
	}
	if w.from != nil && slices.Contains(w.from[lo:hi], nil) { // not all of the packet is determined
		text, _ := w.texts()
		return r.Refs[i], func(e *expect.Expected) { e.Say(expect.Payload, text, false) }, x.data[lo:hi]
	}
	return r.Refs[i], func(e *expect.Expected) {
		e.Keep(expect.PSN, expect.DestQP)
		e.Fill(w.want[lo:hi])
	}, x.data[lo:hi]
}
