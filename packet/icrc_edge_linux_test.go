package packet

import (
	"os"
	"syscall"
	"testing"
)

// TestICRCAtEdge: a packet may end where memory does.
func TestICRCAtEdge(t *testing.T) {
	if !direct {
		t.Skip("this processor takes only the way through hash/crc32")
	}
	page := os.Getpagesize()
	m, err := syscall.Mmap(-1, 0, 2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(m)
	for i := range m {
		m[i] = byte(i * 7)
	}
	if err := syscall.Mprotect(m[page:], syscall.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	p := Packet{Has: HasIPv4 | HasUDP | HasBTH, BTHOff: ipv4Size + udpSize}
	var c Checker
	for n := ipv4Size + udpSize + bthSize; n <= 600; n++ {
		data := m[page-n : page : page]
		if got, want := directly(&data[0], n), c.viaTable(&p, data, p.BTHOff, afterOnes); got != want {
			t.Fatalf("%d bytes: %08x, want %08x", n, got, want)
		}
	}
}
