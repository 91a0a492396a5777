package agent

import (
	"testing"

	"ibwitness/packet"
)

// TestEntries: the packets of an end come by a tap and from an Ethernet address, as far as all of them that are looked at do; where they come by several taps, or there are too many ends, that is not known.
func TestEntries(t *testing.T) {
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	at := func(tap uint16, source uint64) packet.Packet {
		return packet.Packet{Src: host(1), Dst: host(2), DestQP: 7, Tap: tap, Source: source}
	}
	for _, k := range []struct {
		name string
		seen []packet.Packet
		ends int // others
		want Entry
	}{
		{"one", []packet.Packet{at(2, 9), at(2, 9)}, 0, Entry{true, 2, 9}},
		{"several addresses", []packet.Packet{at(2, 9), at(2, 8), at(2, 9)}, 0, Entry{true, 2, 0}},
		{"several taps", []packet.Packet{at(2, 9), at(1, 9)}, 0, Entry{}},
		{"none", nil, 0, Entry{}},
		{"many ends", []packet.Packet{at(2, 9)}, mostEntries, Entry{}},
		{"nearly as many", []packet.Packet{at(2, 9)}, mostEntries - 1, Entry{true, 2, 9}},
	} {
		for _, shards := range []int{1, 2} {
			agents := make([]*Transport, shards)
			for n := range agents {
				agents[n] = &Transport{}
			}
			for n := range k.seen {
				agents[0].entries.packet(&k.seen[n])
			}
			for n := range k.ends {
				agents[n%shards].entries.packet(&packet.Packet{Src: host(3), Dst: host(4), DestQP: uint32(n)})
			}
			c := Connection{}
			c.Ends[0].Addr, c.Ends[1] = host(1), End{Addr: host(2), QPN: 7, QPNKnown: true}
			if entriesKnown(agents) {
				agents[0].entries.enter(&c)
			}
			if got := c.Ends[0].Path.Entry; got != k.want || c.Ends[1].Path.Entry != (Entry{}) {
				t.Errorf("%s, %d: %+v", k.name, shards, got)
			}
		}
	}
}

// TestHops: packets of an end come from an Ethernet address, and perhaps from another later, and go to one; where they change more than once, that is not known.
func TestHops(t *testing.T) {
	from := packet.IPv4Addr([]byte{10, 0, 0, 1})
	for _, k := range []struct {
		name string
		seen [][2]uint64 // source and destination
		want Hop
	}{
		{"one", [][2]uint64{{9, 5}, {9, 5}}, Hop{From: 9, To: 5}},
		{"it turns", [][2]uint64{{9, 5}, {8, 5}, {8, 5}}, Hop{From: 9, Turned: 8, To: 5, Turn: Seen{20, 2}}},
		{"it turns back", [][2]uint64{{9, 5}, {8, 5}, {9, 5}}, Hop{To: 5}},
		{"to several", [][2]uint64{{9, 5}, {9, 4}, {9, 5}}, Hop{From: 9}},
	} {
		var s entries
		for n, at := range k.seen {
			s.packet(&packet.Packet{Src: from, DestQP: 7, Source: at[0], Station: at[1], Time: int64(10 * (n + 1)), Frame: uint64(n + 1)})
		}
		c := Connection{}
		c.Ends[0].Addr, c.Ends[1] = from, End{QPN: 7, QPNKnown: true}
		if s.enter(&c); c.Ends[0].Hop == nil || *c.Ends[0].Hop != k.want || c.Ends[1].Hop != nil {
			t.Errorf("%s: %+v", k.name, c.Ends[0].Hop)
		}
	}
}
