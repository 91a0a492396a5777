package exercise

import (
	"strconv"

	"go.yaml.in/yaml/v3"

	"ibwitness/internal/yamlfile"
	"ibwitness/link"
	"ibwitness/mad"
	"ibwitness/packet"
)

func itoa(n int) string { return strconv.Itoa(n) }

// conditions are the keys of a trigger that say what is to be received.
func (p *parser) conditions(t *Trigger) map[string]setter {
	add := func(f func(*Heard) bool) { t.matches = append(t.matches, f) }
	return map[string]setter{
		"op": func(n *yaml.Node) {
			var o packet.Opcode
			p.opcode(&o)(n)
			add(ofPacket(func(x *packet.Packet) bool { return x.Opcode == o && x.Has&packet.HasBTH != 0 }))
		},
		"from":      p.whenAddress(add, func(x *packet.Packet) packet.Addr { return x.Src }),
		"to":        p.whenAddress(add, func(x *packet.Packet) packet.Addr { return x.Dst }),
		"dest_qp":   p.whenNumber(add, 1<<24-1, func(x *packet.Packet) uint64 { return uint64(x.DestQP) }),
		"psn":       p.whenNumber(add, 1<<24-1, func(x *packet.Packet) uint64 { return uint64(x.PSN) }),
		"syndrome":  p.whenNumber(add, 255, func(x *packet.Packet) uint64 { return uint64(x.Syndrome) }),
		"vl":        p.whenNumber(add, 15, func(x *packet.Packet) uint64 { return uint64(x.VL) }),
		"class":     p.whenClass(add),
		"method":    p.whenMethod(add),
		"attribute": p.whenAttribute(add),
		"tid": func(n *yaml.Node) {
			var v uint64
			yamlfile.Number(&p.Reader, &v, 0, ^uint64(0))(n)
			add(ofMAD(func(h *mad.Header) bool { return h.TID == v }))
		},
		"flow":  p.whenFlow(add),
		"state": p.whenState(add),
		"error": func(n *yaml.Node) {
			var how string
			yamlfile.Choice(&p.Reader, &how, errorsHeard)(n)
			add(func(h *Heard) bool { return h.wrong(how) })
		},
		"pattern": p.whenPattern(add),
	}
}

// conditionAdder takes another condition of a trigger.
type conditionAdder func(func(*Heard) bool)

func (p *parser) whenAddress(add conditionAdder, of func(*packet.Packet) packet.Addr) setter {
	return func(n *yaml.Node) {
		var a packet.Addr
		p.address(&a)(n)
		add(ofPacket(func(x *packet.Packet) bool { return of(x) == a }))
	}
}

func (p *parser) whenNumber(add conditionAdder, most uint64, of func(*packet.Packet) uint64) setter {
	return func(n *yaml.Node) {
		var v uint64
		yamlfile.Number(&p.Reader, &v, 0, most)(n)
		add(ofPacket(func(x *packet.Packet) bool { return of(x) == v }))
	}
}

func (p *parser) whenClass(add conditionAdder) setter {
	return func(n *yaml.Node) {
		var m MAD
		p.class(n, n, &m)
		add(ofMAD(func(h *mad.Header) bool { return h.Class == m.Class }))
	}
}

func (p *parser) whenMethod(add conditionAdder) setter {
	return func(n *yaml.Node) {
		var m mad.Method
		p.method(&m)(n)
		add(ofMAD(func(h *mad.Header) bool { return h.Method == m }))
	}
}

func (p *parser) whenAttribute(add conditionAdder) setter {
	return func(n *yaml.Node) {
		s, ok := p.Scalar(n, "an attribute")
		if !ok {
			return
		}
		number, isNumber := yamlfile.ParseNumber(s, 0, 0xFFFF)
		add(ofMAD(func(h *mad.Header) bool {
			return isNumber && uint64(h.Attribute) == number || h.AttributeName() == s
		}))
	}
}

// whenFlow takes the lane of a flow control packet.
func (p *parser) whenFlow(add conditionAdder) setter {
	return func(n *yaml.Node) {
		var vl uint8
		yamlfile.Number(&p.Reader, &vl, 0, 15)(n)
		add(func(h *Heard) bool { return h.Flow != nil && h.Flow.Good && h.Flow.VL == vl })
	}
}

// whenState takes a state of the other port: its physical link is up or down, or its link layer as flow control packets tell.
func (p *parser) whenState(add conditionAdder) setter {
	states := map[string]func(*Heard) bool{
		"up":         func(h *Heard) bool { return h.Kind == link.Physical && len(h.Data) > 0 && h.Data[0] == link.LinkUp },
		"down":       func(h *Heard) bool { return h.Kind == link.Physical && len(h.Data) > 0 && h.Data[0] != link.LinkUp },
		"initialize": func(h *Heard) bool { return h.Flow != nil && h.Flow.Good && h.Flow.Op == link.Init },
		"armed":      func(h *Heard) bool { return h.Flow != nil && h.Flow.Good && h.Flow.Op == link.Normal },
	}
	return func(n *yaml.Node) {
		var f func(*Heard) bool
		yamlfile.Choice(&p.Reader, &f, states)(n)
		if f != nil {
			add(f)
		}
	}
}

// whenPattern takes bytes at an offset.
func (p *parser) whenPattern(add conditionAdder) setter {
	return func(n *yaml.Node) {
		var x pattern
		p.Fields(n, "pattern", map[string]setter{"at": yamlfile.Number(&p.Reader, &x.at, 0, 16384), "bytes": p.hex(&x.data), "mask": p.hex(&x.mask)})
		if !p.Failed() && (x.data == nil || x.mask != nil && len(x.mask) != len(x.data)) {
			p.Fail(n.Line, "pattern: give bytes:, and mask: with as many bytes or none")
		}
		add(x.in)
	}
}
