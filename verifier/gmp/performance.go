package gmp

import (
	"fmt"

	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/subnet"
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

var (
	portSelect     = mad.LayoutPortCounters.Field("portSelect")
	counterSelect  = mad.LayoutPortCounters.Field("counterSelect")
	counterSelect2 = mad.LayoutPortCounters.Field("counterSelect2")
)

// selects reports whether an attribute of performance management begins with the port that it is of.
func selects(a mad.Attribute) bool {
	return a == mad.AttrPortSamplesControl || a >= mad.AttrPortCounters && a <= mad.AttrPortCountersExtended
}

// allPorts is the PortSelect that means all ports of a node.
const allPorts = 0xFF

// performance judges the answer of a performance management agent.
func (v *Verifier) performance(x *exchange, d *datagram) {
	b := d.attribute()
	request := datagram{h: x.h, b: x.request()}
	a := request.attribute()
	if !selects(d.h.Attribute) || d.status() != 0 || len(b) == 0 || len(a) == 0 || !v.portSelected(x, d, a, b) {
		return
	}
	var l *mad.Layout
	switch d.h.Attribute {
	case mad.AttrPortCounters:
		l = mad.LayoutPortCounters
	case mad.AttrPortCountersExtended:
		l = mad.LayoutPortCountersExtended
	default:
		return
	}
	q := v.peer(x.pair.from, x.pair.to)
	k := counterKey{d.h.Attribute, uint8(portSelect.Uint(b))}
	switch {
	case x.h.Method == mad.Set:
		v.countersSet(q, k, a)
	case k.port != allPorts:
		v.countersRead(q, k, l, d, b)
	}
}

// portSelected judges the PortSelect of an answer b to a request a: the port is that of the request, and one of the node (rule MAD-PM-001). It reports whether it is.
func (v *Verifier) portSelected(x *exchange, d *datagram, a, b []byte) bool {
	v.covered(rule.MADPM001)
	w := rule.Verdict{Rule: rule.MADPM001, Class: rule.Violation, Role: rule.Responder, Earlier: rule.Frame{Number: x.frame, Tap: x.tap}}
	asked, port := uint8(portSelect.Uint(a)), uint8(portSelect.Uint(b))
	if asked != port {
		w.Expected, w.Actual = fmt.Sprintf("%s of port %d", d.h.AttributeName(), asked), fmt.Sprintf("of port %d", port)
		v.report(d.p, w)
		return false
	}
	at := v.Subnet.Port(d.p.SLID)
	if d.p.Encap != packet.Native || at == nil || at.Node.Type == subnet.UnknownNode || port <= at.Node.NumPorts || port == allPorts {
		return true
	}
	if !v.Subnet.Current(d.p.Time) {
		w.Class, w.Detail = rule.Unproven, "no subnet management packet has come for more than ten seconds: another node may have the LID"
	}
	w.Expected, w.Actual = fmt.Sprintf("a status other than 0: the node has %d ports", at.Node.NumPorts), fmt.Sprintf("%s of port %d", d.h.AttributeName(), port)
	v.report(d.p, w)
	return false
}

// countersRead compares the counters of a port with those that its agent told before, and keeps them.
func (v *Verifier) countersRead(q *peer, k counterKey, l *mad.Layout, d *datagram, b []byte) {
	if old := q.counters[k]; old != nil {
		v.counterWrapped(l, old, d, b)
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

// selected are the counters of PortCounters by the bits of their CounterSelect.
var selected = func() (list []mad.Field) {
	for _, f := range mad.LayoutPortCounters.Fields[3:] {
		if !f.Reserved() && f.Name != "counterSelect2" {
			list = append(list, f)
		}
	}
	return list
}()

// countersSet notes a Set: what it does not select stays as it was. It may clear those of all ports, and of the other attributes.
func (v *Verifier) countersSet(q *peer, k counterKey, a []byte) {
	c := q.counters[k]
	clear(q.counters)
	if c == nil || k.attribute != mad.AttrPortCounters || k.port == allPorts {
		return
	}
	mask := counterSelect.Uint(a) | counterSelect2.Uint(a)&1<<16
	for i, f := range selected {
		if mask>>i&1 != 0 {
			f.PutUint(c.data[:], 0)
		}
	}
	q.counters[k] = c
}

// counterWrapped judges counters that have gone down: a single one, while another of them went on, has wrapped.
func (v *Verifier) counterWrapped(l *mad.Layout, old *counters, d *datagram, b []byte) {
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
	v.report(d.p, rule.Verdict{
		Rule: rule.MADPM001, Class: rule.Unproven, Role: rule.Responder, Earlier: rule.Frame{Number: old.frame, Tap: old.tap},
		Expected: fmt.Sprintf("%s at least %d: counters of %d bits stay at their greatest value", down.Name, down.Uint(old.data[:]), down.Bits),
		Actual:   fmt.Sprintf("%d, while others went on", down.Uint(b)),
		Detail:   whyOthers,
	})
}
