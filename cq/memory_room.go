package cq

import "math/bits"

// rooms is room for the data of messages, by the power of two that its size is. It is used again: memory that was just written is in the cache, and new memory is not.
type rooms [20 + 1][][]byte

// mostRooms is how much room of a size waits to be used again.
const mostRooms = 64

// class is the power of two that n bytes need.
func class(n int) int { return bits.Len(uint(max(n, 1) - 1)) }

// take takes room for n bytes, at most MostData; where none was used before, for as many as fresh.
func (r *rooms) take(n, fresh int) []byte {
	k := class(n)
	list := r[k]
	if len(list) == 0 {
		return make([]byte, 0, 1<<class(fresh))
	}
	b := list[len(list)-1]
	list[len(list)-1], r[k] = nil, list[:len(list)-1]
	return b
}

// add takes back room that was taken. What did not come from here is not used again.
func (r *rooms) add(b []byte) {
	n := cap(b)
	if n == 0 || n > MostData || n&(n-1) != 0 {
		return
	}
	if k := class(n); len(r[k]) < mostRooms {
		r[k] = append(r[k], b[:0])
	}
}
