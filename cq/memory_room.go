package cq

import "math/bits"

// rooms is room for the data of messages. It is used again: memory that was just written is in the cache, and new memory is not.
type rooms struct {
	free  [20 + 1][][]byte // by the power of two that their size is
	bytes int              // of all that are free
}

// mostFree is how many bytes wait to be used again.
const mostFree = mostBytes

// class is the power of two that n bytes need.
func class(n int) int { return bits.Len(uint(max(n, 1) - 1)) }

// take takes room for n bytes, at most MostData; where none was used before, for as many as fresh.
func (r *rooms) take(n, fresh int) []byte {
	k := class(n)
	list := r.free[k]
	if len(list) == 0 {
		return make([]byte, 0, 1<<class(fresh))
	}
	b := list[len(list)-1]
	list[len(list)-1], r.free[k] = nil, list[:len(list)-1]
	r.bytes -= cap(b)
	return b
}

// add takes back room that was taken. What did not come from here is not used again.
func (r *rooms) add(b []byte) {
	n := cap(b)
	if n == 0 || n > MostData || n&(n-1) != 0 || r.bytes+n > mostFree {
		return
	}
	k := class(n)
	r.free[k] = append(r.free[k], b[:0])
	r.bytes += n
}
