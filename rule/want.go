package rule

import "ibwitness/expect"

// Wants are the values of fields, at most three, that a verdict expects of its packet, in host byte order. The zero value has none: the verdict says in words what
// it expects, as more than one value will do, or another verifier knows.
type Wants struct {
	n      uint8
	fields [3]expect.ID
	values [3]uint64
}

// Want is one value of a field.
func Want(field expect.ID, value uint64) Wants { return Wants{}.And(field, value) }

// And adds the value of another field.
func (w Wants) And(field expect.ID, value uint64) Wants {
	w.fields[w.n], w.values[w.n] = field, value
	w.n++
	return w
}

// None reports whether no value is expected.
func (w *Wants) None() bool { return w.n == 0 }

// Value returns the value of a field, where the verdict expects one.
func (w *Wants) Value(field expect.ID) (uint64, bool) {
	for i, f := range w.fields[:w.n] {
		if f == field {
			return w.values[i], true
		}
	}
	return 0, false
}
