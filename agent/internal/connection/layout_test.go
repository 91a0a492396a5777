package connection

import (
	"testing"
	"unsafe"
)

var allocated *Connection

// TestLayout: the pair of a connection begins with a line of the cache, as package qp lays it out.
func TestLayout(t *testing.T) {
	for range 4 {
		allocated = new(Connection)
		if at := uintptr(unsafe.Pointer(&allocated.Pair)) % 64; at != 0 {
			t.Fatalf("the pair begins at byte %d of a line", at)
		}
	}
}
