package exercise

import (
	"math/rand/v2"
	"reflect"

	"go.yaml.in/yaml/v3"

	"ibwitness/mad"
	"ibwitness/packet"
)

// messageField is a field of a message of the communication manager: a number, an address or bytes.
type messageField struct {
	index []int // of reflect.Value.FieldByIndex
	value Value
	addr  packet.Addr
	bytes []byte
}

// put puts the field into a message, for packet n of a step.
func (f *messageField) put(message reflect.Value, n uint64, chance *rand.Rand) {
	to := message.FieldByIndex(f.index)
	switch to.Kind() {
	case reflect.Bool:
		to.SetBool(f.value.of(n, chance) != 0)
	case reflect.Struct:
		to.Set(reflect.ValueOf(f.addr))
	case reflect.Slice:
		to.SetBytes(f.bytes)
	default:
		to.SetUint(f.value.of(n, chance))
	}
}

// encodeMessage writes a message of the communication manager.
func (m *MAD) encodeMessage(h mad.Header, b []byte, n uint64, chance *rand.Rand) {
	x := mad.NewMessage(m.Attribute)
	v := reflect.ValueOf(x).Elem()
	v.FieldByName("Header").Set(reflect.ValueOf(h))
	for i := range m.Message {
		m.Message[i].put(v, n, chance)
	}
	_ = x.Encode(b) // what has no room is refused when the script is read
}

// message takes the fields of a message of the communication manager.
func (p *parser) message(n *yaml.Node, m *MAD) {
	set := map[string]setter{}
	p.messageFields(m, reflect.TypeOf(mad.NewMessage(m.Attribute)).Elem(), nil, "", set)
	h := m.Header
	p.Fields(n, h.AttributeName(), set)
	if x := mad.NewMessage(m.Attribute); !p.Failed() {
		v := reflect.ValueOf(x).Elem()
		for i := range m.Message {
			m.Message[i].put(v, 0, rand.New(rand.NewPCG(0, 0)))
		}
		if err := x.Encode(make([]byte, mad.Size)); err != nil {
			p.Fail(n.Line, "%v: give fewer bytes", err)
		}
	}
}

// messageFields collects the fields of a type: those of a path in it have its name before theirs.
func (p *parser) messageFields(m *MAD, t reflect.Type, above []int, prefix string, set map[string]setter) {
	for i := range t.NumField() {
		f := t.Field(i)
		index, name := append(append([]int(nil), above...), i), prefix+f.Name
		add := func(take func(*messageField) setter) {
			set[name] = func(n *yaml.Node) {
				x := messageField{index: index}
				take(&x)(n)
				m.Message = append(m.Message, x)
			}
		}
		switch kind := f.Type.Kind(); {
		case f.Name == "Header":
		case f.Type == reflect.TypeFor[packet.Addr]():
			add(func(x *messageField) setter { return p.address(&x.addr) })
		case kind == reflect.Struct:
			p.messageFields(m, f.Type, index, name+"_", set)
		case f.Type == reflect.TypeFor[[]byte]():
			add(func(x *messageField) setter { return p.hex(&x.bytes) })
		case kind == reflect.Bool:
			add(func(x *messageField) setter { return p.value(&x.value, 1) })
		case kind >= reflect.Uint8 && kind <= reflect.Uint64:
			add(func(x *messageField) setter { return p.value(&x.value, ^uint64(0)>>(64-f.Type.Bits())) })
		}
	}
}
