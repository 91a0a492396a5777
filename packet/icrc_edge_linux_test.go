package packet

import (
	"os"
	"syscall"
	"testing"
)

// TestICRCAtEdge: a packet may begin and end where memory does.
func TestICRCAtEdge(t *testing.T) {
	page := os.Getpagesize()
	m, err := syscall.Mmap(-1, 0, 3*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(m)
	for i := range m {
		m[i] = byte(i * 7)
	}
	for _, outside := range [][]byte{m[:page], m[2*page:]} {
		if err := syscall.Mprotect(outside, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	p := Packet{Has: HasIPv4 | HasUDP | HasBTH, BTHOff: ipv4Size + udpSize}
	var c Checker
	for _, w := range widths {
		t.Run(w.name, func(t *testing.T) {
			if !w.works {
				t.Skip("not on this processor")
			}
			for n := ipv4Size + udpSize + bthSize; n <= 600; n++ {
				for _, at := range []int{page, 2*page - n} {
					data := m[at : at+n : at+n]
					if got, want := w.icrc(&data[0], n), c.viaTable(&p, data, p.BTHOff, afterOnes); got != want {
						t.Fatalf("%d bytes from %d on: %08x, want %08x", n, at, got, want)
					}
				}
			}
		})
	}
}
