package soft

// slab gives out copies of what it is given, many from one allocation. They are the taker's to keep.
type slab[T any] struct{ room []T }

const slabSize = 64

func (s *slab[T]) put(x T) *T {
	if len(s.room) == 0 {
		s.room = make([]T, slabSize)
	}
	p := &s.room[0]
	s.room = s.room[1:]
	*p = x
	return p
}

// list is put for several in a row.
func (s *slab[T]) list(x []T) []T {
	n := len(x)
	if n == 0 {
		return nil
	}
	if n > len(s.room) {
		s.room = make([]T, max(slabSize, n))
	}
	out := s.room[:n:n]
	s.room = s.room[n:]
	copy(out, x)
	return out
}
