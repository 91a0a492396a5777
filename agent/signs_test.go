package agent

import (
	"testing"

	"ibwitness/fabricagent"
	"ibwitness/packet"
)

func host(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }

// TestSigns: what two have counted is listed in the order of frames, without that of ports whose host is not known, and with that of an Ethernet address that one host has by ARP; of too many none is known.
func TestSigns(t *testing.T) {
	sign := func(at int64, by fabricagent.Means, a packet.Addr, station uint64) Sign {
		return Sign{fabricagent.Presence{Host: a, By: by, Station: station}, at, uint64(at), 0}
	}
	var a, b signs
	a.near.add(sign(5, fabricagent.ByARP, host(1), 9))
	a.near.add(sign(2, fabricagent.ByLLDP, packet.Addr{}, 7))
	a.near.add(sign(4, fabricagent.ByDAD, packet.Addr{}, 8))
	b.near.add(sign(3, fabricagent.ByDAD, packet.Addr{}, 9))
	b.closes.add(sign(6, fabricagent.ByFIN, host(2), 8))
	a.addAll(&b)
	if got := a.of(nil); len(got) != 3 || got[0].Frame != 3 || got[0].Host != host(1) || got[1].Frame != 5 || got[2].Host != host(2) {
		t.Errorf("%+v", got)
	}
	for range mostSigns - 1 {
		b.near.add(sign(1, fabricagent.ByARP, host(1), 9))
	}
	if got := b.of(nil); len(got) != mostSigns+1 {
		t.Errorf("%d", len(got))
	}
	if a.addAll(&b); len(a.of(nil)) != 2 {
		t.Error("of too many")
	}
}

// TestBeside: of what a host sends another, but RDMA, the first and last frame of a slot are known, of longer slots where there are many, in whatever order they come; of too many none.
func TestBeside(t *testing.T) {
	add := func(b *besides, from byte, at int64) {
		var few besides
		s := Sign{fabricagent.Presence{Host: host(from), To: host(2), By: fabricagent.ByTCP}, at, uint64(at), 0}
		few.frame(&s)
		s.At, s.Frame = at+10, uint64(at+10)
		few.frame(&s)
		s.At, s.Frame = at+20, uint64(at+20)
		few.frame(&s)
		b.addAll(few.list)
	}
	var a, b besides
	for i := range int64(mostSigns + 1) {
		add(&a, 1, i<<shortestSlot)
		add(&b, 1, (mostSigns-i)<<shortestSlot)
	}
	if a.slot != shortestSlot+1 || len(a.of) != mostSigns/2+1 || len(a.signs()) != 2*len(a.of) {
		t.Errorf("slots of %d: %d", a.slot, len(a.of))
	}
	for k, x := range a.of {
		if b.of[k] != x {
			t.Errorf("%v: %v, %v", k, x, b.of[k])
		}
	}
	for i := range int64(8 * mostSigns) {
		add(&a, 1, i<<longestSlot)
	}
	if !a.many || a.signs() != nil {
		t.Error("of too many")
	}
}
