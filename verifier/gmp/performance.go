package gmp

import (
	"fmt"

	"ibwitness/mad"
	"ibwitness/rule"
)

// counterKey names the counters of a port.
type counterKey struct {
	attribute mad.Attribute
	port      uint8
}

// counters are those of a port, as they were told last.
type counters struct {
	data  [72]byte
	frame uint64
	tap   uint16
}

var portSelect = mad.LayoutPortCounters.Field("portSelect")

// performance judges the answer of a performance management agent.
func (v *Verifier) performance(x *exchange, d *datagram) {
	var l *mad.Layout
	switch d.h.Attribute {
	case mad.AttrPortCounters:
		l = mad.LayoutPortCounters
	case mad.AttrPortCountersExtended:
		l = mad.LayoutPortCountersExtended
	default:
		return
	}
	b := d.attribute()
	asked := datagram{h: x.h, b: x.request()}
	a := asked.attribute()
	if d.status() != 0 || len(b) < l.Size || len(a) < l.Size {
		return
	}
	v.covered(rule.MADPM001)
	if portSelect.Uint(a) != portSelect.Uint(b) {
		v.report(d.p, verdict{
			rule: rule.MADPM001, class: rule.Violation, role: rule.Responder, evidence: x.frame, tap: x.tap,
			expected: fmt.Sprintf("the counters of port %d", portSelect.Uint(a)), actual: fmt.Sprintf("of port %d", portSelect.Uint(b)),
		})
		return
	}
	q := v.peer(x.pair.from, x.pair.to)
	k := counterKey{d.h.Attribute, uint8(portSelect.Uint(b))}
	if x.h.Method == mad.Set {
		clear(q.counters) // it may clear those of all ports, and of the other attributes
		return
	}
	if k.port == 0xFF {
		return
	}
	if old := q.counters[k]; old != nil && d.h.Attribute == mad.AttrPortCounters {
		v.wrapped(l, old, d, b)
	}
	if q.counters == nil || len(q.counters) > maxKnown {
		q.counters = map[counterKey]*counters{}
	}
	if q.counters[k] == nil {
		q.counters[k] = new(counters)
	}
	c := q.counters[k]
	copy(c.data[:], b)
	c.frame, c.tap = d.p.Frame, d.p.Tap
}

// wrapped judges counters that have gone down: one alone, while another of them went on, has wrapped.
func (v *Verifier) wrapped(l *mad.Layout, old *counters, d *datagram, b []byte) {
	on, down := false, mad.Field{}
	for _, f := range l.Fields[3:] {
		if f.Reserved() || f.Name == "counterSelect2" {
			continue
		}
		was, is := f.Uint(old.data[:]), f.Uint(b)
		switch {
		case is < was:
			down = f
		case is > 0 && is >= was:
			on = true
		}
	}
	if down.Bits == 0 || !on {
		return
	}
	v.report(d.p, verdict{
		rule: rule.MADPM001, class: rule.Unproven, role: rule.Responder, evidence: old.frame, tap: old.tap,
		expected: fmt.Sprintf("%s at least %d: counters of %d bits stay at their greatest value", down.Name, down.Uint(old.data[:]), down.Bits),
		actual:   fmt.Sprintf("%d, while others went on", down.Uint(b)),
		detail:   whyOthers,
	})
}
