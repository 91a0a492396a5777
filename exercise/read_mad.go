package exercise

import (
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"ibwitness/internal/yamlfile"
	"ibwitness/mad"
)

// mad takes a management datagram.
func (p *parser) mad(x *Packet) setter {
	return func(n *yaml.Node) {
		m := &MAD{Pointer: 1, DataAt: -1}
		x.MAD = m
		m.BaseVersion, m.Method = 1, mad.Get
		var class, attribute, fields *yaml.Node
		version := -1
		p.Fields(n, "mad", map[string]setter{
			"class": keep(&class), "attribute": keep(&attribute), "fields": keep(&fields), "method": p.method(&m.Method),
			"base_version": yamlfile.Number(&p.Reader, &m.BaseVersion, 0, 255), "class_version": yamlfile.Number(&p.Reader, &version, 0, 255),
			"status": yamlfile.Number(&p.Reader, &m.Status, 0, 0xFFFF), "class_specific": yamlfile.Number(&p.Reader, &m.ClassSpecific, 0, 0xFFFF),
			"modifier": yamlfile.Number(&p.Reader, &m.Modifier, 0, 0xFFFFFFFF), "reserved": yamlfile.Number(&p.Reader, &m.Reserved, 0, 0xFFFF),
			"tid": p.value(&m.TID, ^uint64(0)), "mkey": yamlfile.Number(&p.Reader, &m.MKey, 0, ^uint64(0)),
			"route": yamlfile.Numbers(&p.Reader, &m.Route, 255), "pointer": yamlfile.Number(&p.Reader, &m.Pointer, 0, 255),
			"component_mask": yamlfile.Number(&p.Reader, &m.Components, 0, ^uint64(0)),
			"data":           p.hex(&m.Data), "data_at": yamlfile.Number(&p.Reader, &m.DataAt, 0, mad.Size-1),
		})
		p.class(n, class, m)
		if version >= 0 {
			m.ClassVersion = uint8(version)
		}
		p.attribute(attribute, m)
		p.components(fields, m)
		p.referMAD(n, m)
	}
}

// keep takes a value for later.
func keep(to **yaml.Node) setter { return func(n *yaml.Node) { *to = n } }

// class takes the management class, by name or number.
func (p *parser) class(at, n *yaml.Node, m *MAD) {
	if n == nil {
		p.Fail(at.Line, "a MAD without a class: give class: one of %s, or a number", strings.Join(slices.Sorted(maps.Keys(classes)), ", "))
		return
	}
	if c, ok := classes[n.Value]; ok {
		m.Class, m.ClassVersion = c.class, c.version
		return
	}
	v, ok := yamlfile.ParseNumber(n.Value, 0, 255)
	if !ok {
		p.Fail(n.Line, "%q is no class: give one of %s, or a number", n.Value, strings.Join(slices.Sorted(maps.Keys(classes)), ", "))
	}
	m.Class, m.ClassVersion = mad.Class(v), 1
	for _, c := range classes {
		if c.class == m.Class {
			m.ClassVersion = c.version
		}
	}
}

// method takes a method, by name or number.
func (p *parser) method(to *mad.Method) setter {
	return func(n *yaml.Node) {
		if v, ok := yamlfile.ParseNumber(n.Value, 0, 255); ok && n.Kind == yaml.ScalarNode {
			*to = mad.Method(v)
			return
		}
		yamlfile.Choice(&p.Reader, to, methods)(n)
	}
}

// attribute takes an attribute, by the name that it has in its class, or by number.
func (p *parser) attribute(n *yaml.Node, m *MAD) {
	if n == nil {
		return
	}
	if v, ok := yamlfile.ParseNumber(n.Value, 0, 0xFFFF); ok {
		m.Attribute = mad.Attribute(v)
	} else if a, ok := attributeOf(m.Class, n.Value); ok {
		m.Attribute = a
	} else {
		p.Fail(n.Line, "%q is no attribute of its class: give its name in the specification, such as PortInfo, or its number", n.Value)
	}
	m.layout = layoutOf(m.Class, m.Attribute)
}

// attributeOf is the attribute of a class with a name.
func attributeOf(c mad.Class, name string) (mad.Attribute, bool) {
	if c == mad.ClassCongestion {
		for a := range mad.Attribute(0x100) {
			if known, _ := mad.CongestionAttribute(a); strings.EqualFold(known, name) && known != "" {
				return a, true
			}
		}
	}
	h := mad.Header{Class: c}
	for a := range 0x10000 {
		if h.Attribute = mad.Attribute(a); strings.EqualFold(h.AttributeName(), name) {
			return h.Attribute, true
		}
	}
	return 0, false
}

// components takes the components of the attribute.
func (p *parser) components(n *yaml.Node, m *MAD) {
	if n == nil {
		return
	}
	if m.Class == mad.ClassCM && mad.NewMessage(m.Attribute) != nil {
		p.message(n, m)
		return
	}
	if m.layout == nil {
		p.Fail(n.Line, "the components of this attribute are not known: give data: with bytes")
		return
	}
	set := map[string]setter{}
	for _, f := range m.layout.Fields {
		if f.Reserved() || f.Bits > 64 {
			continue
		}
		if f.N == 1 {
			set[f.Name] = p.component(m, f)
			continue
		}
		for i := range f.N { // of an array each element has its number
			one := mad.Field{Name: f.Name, Off: f.Off + i*f.Bits, Bits: f.Bits, N: 1}
			set[f.Name+"_"+itoa(i)] = p.component(m, one)
		}
	}
	p.Fields(n, m.layout.Name, set)
}

// component takes one of them.
func (p *parser) component(m *MAD, f mad.Field) setter {
	most := ^uint64(0)
	if f.Bits < 64 {
		most = 1<<f.Bits - 1
	}
	return func(n *yaml.Node) {
		c := madField{Field: f}
		p.value(&c.value, most)(n)
		m.Fields = append(m.Fields, c)
	}
}

// referMAD checks what belongs together.
func (p *parser) referMAD(n *yaml.Node, m *MAD) {
	if m.DataAt < 0 {
		m.DataAt = attributeAt(m.Class)
	}
	switch {
	case len(m.Data)+m.DataAt > mad.Size:
		p.Fail(n.Line, "data: %d bytes from byte %d on do not fit a MAD, which has %d", len(m.Data), m.DataAt, mad.Size)
	case len(m.Route) > mad.MaxHops:
		p.Fail(n.Line, "route: %d hops; give %d at most", len(m.Route), mad.MaxHops)
	case m.Class == mad.ClassSubnetDirected && m.Route == nil && !p.Failed():
		p.Fail(n.Line, "a directed route without a route: give route: with the port of each hop, such as [1]")
	}
}
