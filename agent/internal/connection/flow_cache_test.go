package connection

import (
	"testing"

	"pgregory.net/rapid"

	"ibwitness/packet"
)

// TestRoutes: a route says what hosts and flows say, whatever has changed since it was noted.
func TestRoutes(t *testing.T) {
	found, replaced := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		var r routes
		var h hosts
		var f flows
		var connections [5]Connection
		for range 200 {
			ip := func(name string) packet.Addr {
				return packet.IPv4Addr([]byte{10, 0, 0, rapid.Uint8Range(1, 4).Draw(t, name)})
			}
			p := packet.Packet{Src: ip("src"), Dst: ip("dst"), DestQP: rapid.Uint32Range(0x11, 0x40).Draw(t, "qp"), Usual: true, Station: rapid.Uint64Range(1, 2).Draw(t, "station")}
			host, dir := h.find(p.Src, p.Dst)
			key := flowKey(host, dir, p.DestQP)
			if rapid.IntRange(0, 9).Draw(t, "connect") == 0 {
				if f.find(key, 0) != nil {
					replaced++
				}
				f.put(key, 0, rapid.Uint32Range(0, 9).Draw(t, "way"))
			}
			want := f.find(key, 0)
			if got := r.find(&p, &f); got != nil {
				found++
				if want == nil || got.c != &connections[want.way>>1] || uint32(got.way&1) != want.way&1 || got.way>>1 != p.Station {
					t.Fatalf("route %+v, flow %+v", got, want)
				}
			}
			if want == nil {
				continue
			}
			r.put(&p, &f, want, &connections[want.way>>1])
			if got := r.find(&p, &f); got == nil || got.c != &connections[want.way>>1] {
				t.Fatalf("noted %+v, found %+v", want, got)
			}
			if p.Usual = false; r.find(&p, &f) != nil {
				t.Fatal("a route for a packet that is not usual")
			}
		}
	})
	if found == 0 || replaced == 0 {
		t.Errorf("%d routes found, %d flows replaced: the property was not tested", found, replaced)
	}
}
