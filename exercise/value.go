package exercise

import "math/rand/v2"

// Value is a number that may be another one in each packet.
type Value struct {
	From   uint64
	Step   uint64 // is added for each packet
	Most   uint64 // of Random
	Random bool   // by chance, From to Most
	List   []uint64
}

// of is the value of packet n of a step.
func (v *Value) of(n uint64, chance *rand.Rand) uint64 {
	switch {
	case len(v.List) > 0:
		return v.List[n%uint64(len(v.List))]
	case v.Random && v.Most-v.From == ^uint64(0):
		return chance.Uint64()
	case v.Random:
		return v.From + chance.Uint64N(v.Most-v.From+1)
	}
	return v.From + n*v.Step
}

// fill is where the bytes of a payload come from.
type fill uint8

const (
	counting fill = iota // 0, 1, 2 and so on
	zeros
	ones
	random
	asGiven
)

// payload makes n bytes.
func (f fill) payload(n int, given []byte, chance *rand.Rand) []byte {
	if f == asGiven {
		return append([]byte(nil), given...)
	}
	b := make([]byte, n)
	for i := range b {
		switch f {
		case counting:
			b[i] = byte(i)
		case ones:
			b[i] = 0xFF
		case random:
			b[i] = byte(chance.Uint32())
		}
	}
	return b
}
