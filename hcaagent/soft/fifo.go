package soft

// fifo is a queue that uses its room again.
type fifo[T any] struct {
	list []T
	head int // what was before it has left
}

func (f *fifo[T]) empty() bool { return f.head == len(f.list) }

func (f *fifo[T]) push(x T) {
	if len(f.list) == cap(f.list) && f.head > len(f.list)/2 {
		n := copy(f.list, f.list[f.head:])
		clear(f.list[n:])
		f.list, f.head = f.list[:n], 0
	}
	f.list = append(f.list, x)
}

// pop removes the oldest of a queue that is not empty.
func (f *fifo[T]) pop() T {
	var none T
	x := f.list[f.head]
	f.list[f.head] = none
	if f.head++; f.head == len(f.list) {
		f.list, f.head = f.list[:0], 0
	}
	return x
}

// shift removes the first element of a list. A short list keeps its room.
func shift[T any](list []T) []T {
	var none T
	if len(list) > 16 {
		list[0] = none
		return list[1:]
	}
	n := copy(list, list[1:])
	list[n] = none
	return list[:n]
}
