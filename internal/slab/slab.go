// Package slab saves allocations.
package slab

// Of gives out room for values of one type, of which one allocation has many. What it gives out is the taker's to keep; as long as
// anyone keeps one, the memory of all that came with it stays. The zero value is ready.
type Of[T any] struct{ room []T }

// size is how many values an allocation has.
const size = 64

// New returns a zero value.
func (s *Of[T]) New() *T {
	if len(s.room) == 0 {
		s.room = make([]T, size)
	}
	p := &s.room[0]
	s.room = s.room[1:]
	return p
}

// Put returns a copy of x.
func (s *Of[T]) Put(x T) *T {
	p := s.New()
	*p = x
	return p
}

// List returns a copy of x.
func (s *Of[T]) List(x []T) []T {
	n := len(x)
	if n == 0 {
		return nil
	}
	if n > len(s.room) {
		s.room = make([]T, max(size, n))
	}
	out := s.room[:n:n]
	s.room = s.room[n:]
	copy(out, x)
	return out
}
