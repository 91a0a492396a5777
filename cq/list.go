package cq

// list grows at its end and is given up from its beginning. Its elements keep their numbers, counted from 0. It allocates only while more are left
// in it than ever before. The zero value is ready.
type list[T any] struct {
	items []T
	head  int // index of the oldest element that is left
	base  int // its number
}

func (l *list[T]) add(x T) {
	if len(l.items) == cap(l.items) && l.head > len(l.items)/2 {
		n := copy(l.items, l.items[l.head:])
		clear(l.items[n:])
		l.items, l.head = l.items[:n], 0
	}
	l.items = append(l.items, x)
}

func (l *list[T]) at(n int) T { return l.items[n-l.base+l.head] }

// first is the number of the oldest element that is left, end that of the next one to come.
func (l *list[T]) first() int { return l.base }
func (l *list[T]) end() int   { return l.base + len(l.items) - l.head }

// has reports whether element n is there: neither still to come nor given up.
func (l *list[T]) has(n int) bool { return n >= l.base && n < l.end() }

// before are the elements before number n, of those that are left. The list is valid until the next call of add.
func (l *list[T]) before(n int) []T { return l.items[l.head : l.head+max(n-l.base, 0)] }

// from are the elements from number n on, of those that are left. The list is valid until the next call of add.
func (l *list[T]) from(n int) []T { return l.items[max(n-l.base, 0)+l.head:] }

// all are the elements that are left. The list is valid until the next call of add.
func (l *list[T]) all() []T { return l.items[l.head:] }

// drop gives up the elements before number n.
func (l *list[T]) drop(n int) {
	if k := min(n, l.end()) - l.base; k > 0 {
		clear(l.items[l.head : l.head+k]) // what they refer to goes
		l.head += k
		l.base += k
	}
}
