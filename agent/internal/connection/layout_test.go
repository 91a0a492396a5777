package connection

import (
	"testing"
	"unsafe"
)

var allocated *Connection

// TestLayout: a connection has two lines of the cache, and its pair begins with one, as package qp lays it out.
func TestLayout(t *testing.T) {
	if n := unsafe.Sizeof(Connection{}); n != 2*64 {
		t.Errorf("a connection has %d bytes", n)
	}
	for range 4 {
		allocated = new(Connection)
		if at := uintptr(unsafe.Pointer(&allocated.Pair)) % 64; at != 0 {
			t.Fatalf("the pair begins at byte %d of a line", at)
		}
	}
}
