package mad

import (
	"fmt"
	"strconv"
	"strings"
)

// Field is one component of an attribute.
type Field struct {
	Name string // the specification's, in tables T12, T13 and T15; "rsv" where it is reserved
	Off  int    // bits from the beginning of the attribute
	Bits int    // of one element
	N    int    // elements: 1, or those of an array
}

// Layout is an attribute as a list of its components, in their order on the wire. It reads and writes views on bytes, so that nothing is
// allocated and the components that a mask of the subnet administrator names can be walked.
type Layout struct {
	Name   string
	Size   int // bytes
	Fields []Field
}

// layout reads components in the notation of the reference tables: "0:LID/16 2.0:SL/4", byte, bit and width.
func layout(name string, size int, text string) *Layout {
	l := &Layout{Name: name, Size: size}
	for _, word := range strings.Fields(text) {
		at, rest, _ := strings.Cut(word, ":")
		name, width, _ := strings.Cut(rest, "/")
		octet, sub, _ := strings.Cut(at, ".")
		bits, n, array := strings.Cut(width, "x")
		f := Field{Name: name, Off: number(octet)*8 + number(sub), Bits: number(bits), N: 1}
		if array {
			f.N = number(n)
		}
		l.Fields = append(l.Fields, f)
	}
	return l
}

func number(s string) int {
	if s == "" {
		return 0
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		panic("mad: layout: " + err.Error())
	}
	return n
}

// Field returns a component by its name. It panics where there is none: names are constants.
func (l *Layout) Field(name string) Field {
	for _, f := range l.Fields {
		if f.Name == name {
			return f
		}
	}
	panic(fmt.Sprintf("mad: %s has no component %s", l.Name, name))
}

// Reserved reports whether the component is one that senders set to 0.
func (f Field) Reserved() bool { return f.Name == "rsv" }

// End is the first bit after the component.
func (f Field) End() int { return f.Off + f.Bits*f.N }

// In reports whether b, an attribute or the beginning of one, holds the component.
func (f Field) In(b []byte) bool { return f.End() <= len(b)*8 }

// Uint reads a component of up to 64 bits; 0 where b ends before it, or where it is wider.
func (f Field) Uint(b []byte) (v uint64) {
	if !f.In(b) || f.Bits > 64 {
		return 0
	}
	if f.Off%8 == 0 && f.Bits%8 == 0 {
		for _, c := range b[f.Off/8 : f.Off/8+f.Bits/8] {
			v = v<<8 | uint64(c)
		}
		return v
	}
	for i := f.Off; i < f.Off+f.Bits; i++ {
		v = v<<1 | uint64(b[i/8]>>(7-i%8)&1)
	}
	return v
}

// PutUint writes a component of up to 64 bits; a value wider than it loses its upper bits. It does nothing where b ends before it.
func (f Field) PutUint(b []byte, v uint64) {
	if !f.In(b) || f.Bits > 64 {
		return
	}
	for i := f.Off + f.Bits - 1; i >= f.Off; i-- {
		mask := uint8(0x80) >> (i % 8)
		b[i/8] = b[i/8]&^mask | mask*uint8(v&1)
		v >>= 1
	}
}

// Bytes is a view on a component of whole bytes, all elements of an array; nil where b ends before it.
func (f Field) Bytes(b []byte) []byte {
	if !f.In(b) || f.Off%8 != 0 || f.Bits*f.N%8 != 0 {
		return nil
	}
	return b[f.Off/8 : f.End()/8]
}

// Same reports whether two attributes agree in a component.
func (f Field) Same(a, b []byte) bool {
	if f.Bits <= 64 && f.N == 1 {
		return f.Uint(a) == f.Uint(b)
	}
	return string(f.Bytes(a)) == string(f.Bytes(b))
}

// Text shows the value of a component.
func (f Field) Text(b []byte) string {
	if f.Bits <= 64 && f.N == 1 {
		return fmt.Sprintf("0x%x", f.Uint(b))
	}
	return fmt.Sprintf("%x", f.Bytes(b))
}
