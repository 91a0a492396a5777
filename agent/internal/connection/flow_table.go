package connection

import (
	"iter"
	"math/bits"

	"ibwitness/internal/cache"
	"ibwitness/internal/keyed"
	"ibwitness/packet"
	"ibwitness/verifier/congestion"
)

// hosts numbers the unordered pairs of addresses that talk to each other. Connections belong to one such pair, which is why the
// engine may split its work by it. The table has a slot for each direction, so that a look-up need not order the addresses.
type hosts struct {
	slots []hostSlot
	used  int
	shift uint8 // of a hash, to the index of a slot
	list  []Host
}

type hostSlot struct {
	src, dst packet.Addr
	way      uint32 // (index into list · 2 + direction) plus one; 0: empty
	watched  uint16 // how many of the next packets may be copies that a router has passed on: see Table.Routed
	settled  bool   // these are not the first of the direction
	station  uint64 // Ethernet address that the newest packet of the direction went to which was none to drop; 0: none is known
}

// Host is what is kept of a pair of addresses.
type Host struct {
	a, b  packet.Addr
	first int64 // time of the first packet
	// ICRC and vcrc count good and bad checksums by direction: 0 from a to b, 1 from b to a.
	ICRC, VCRC [2]Seals
	// summed says, by direction, that an IPv4 header checksum was right.
	summed   [2]bool
	stations [2]stations          // by direction
	early    [2][]repeat          // the first packets, by direction, while they are looked at: see Table.Routed
	Marks    [2]*congestion.Marks // by the direction of the marked packets
	// answered says, by direction, that a response was seen that could not be told to answer any connection.
	answered [2]bool
	// Multipath says that the hosts talk by MRC: see verifier.Multipath.
	Multipath bool
	// waiting counts, by direction, the connections of which that direction was seen, and not the other.
	waiting [2]int32
	// unpaired lists, by direction, connections whose responses are not known yet.
	unpaired [2][]uint32
	// connections lists the first connections of the pair of hosts, as many as are watched and one more, by the direction in which their
	// first end sends.
	connections [2][]watchedWay
}

// watchedWay is a connection that is looked at when a packet names a QP of which nothing is known.
type watchedWay struct {
	way   uint32 // index · 2, plus one where both ends may send
	first uint32 // opcode and PSN of the response that paired it, ByPSN
	tap   uint16 // of that response
}

// Seals counts the good and the bad checksums of one direction of a pair of addresses. Of the good only whether there are any counts:
// the packets that Transport.usual takes are left out, and before each of them there was one that is not.
type Seals struct{ Good, Bad uint64 }

// Way returns the addresses of a direction: its source, then its destination.
func (h *Host) Way(dir int) [2]packet.Addr {
	if dir == 1 {
		return [2]packet.Addr{h.b, h.a}
	}
	return [2]packet.Addr{h.a, h.b}
}

// mix spreads the bits of a key (the finaliser of SplitMix64).
func mix(x uint64) uint64 {
	x ^= x >> 32
	x *= 0xd6e8feb86659fd93
	x ^= x >> 32
	return x
}

func less(a, b packet.Addr) bool { return a.Hi < b.Hi || a.Hi == b.Hi && a.Lo < b.Lo }

// find returns the number of the pair of addresses and the direction: 0 when src is the smaller one, or equal.
func (h *hosts) find(src, dst packet.Addr) (index uint32, dir uint32) {
	if h.used*2 >= len(h.slots) {
		h.grow()
	}
	s := h.slot(src, dst)
	if s.way == 0 {
		*s = hostSlot{src: src, dst: dst, way: h.way(src, dst) + 1, watched: firstWatched}
		h.used++
	}
	return (s.way - 1) >> 1, (s.way - 1) & 1
}

// all lists the pairs of addresses.
func (h *hosts) all() iter.Seq[*Host] {
	return func(yield func(*Host) bool) {
		for i := range h.list {
			if !yield(&h.list[i]) {
				return
			}
		}
	}
}

// get returns what is kept of a pair of addresses, and the direction; nil where they have not talked.
func (h *hosts) get(src, dst packet.Addr) (*Host, uint32) {
	s := h.known(src, dst)
	if s == nil {
		return nil, 0
	}
	return &h.list[(s.way-1)>>1], (s.way - 1) & 1
}

// known returns the slot of a direction, or nil where it has none.
func (h *hosts) known(src, dst packet.Addr) *hostSlot {
	if h.used == 0 {
		return nil
	}
	if s := h.slot(src, dst); s.way != 0 {
		return s
	}
	return nil
}

// slot returns the slot of a direction, or the empty one where it belongs.
func (h *hosts) slot(src, dst packet.Addr) *hostSlot {
	mask := uint64(len(h.slots) - 1)
	for i := keyed.Four(src.Lo, dst.Lo, src.Hi, dst.Hi) >> h.shift; ; i++ {
		s := &h.slots[i&mask]
		if s.src == src && s.dst == dst || s.way == 0 {
			return s
		}
	}
}

// way numbers a direction that has no slot yet.
func (h *hosts) way(src, dst packet.Addr) uint32 {
	a, b, dir := src, dst, uint32(0)
	if less(dst, src) {
		a, b, dir = dst, src, 1
	}
	if s := h.slot(dst, src); s.way != 0 {
		return (s.way-1)&^1 | dir
	}
	h.list = append(h.list, Host{a: a, b: b})
	return uint32(len(h.list)-1)<<1 | dir
}

func (h *hosts) grow() {
	old := h.slots
	h.slots = make([]hostSlot, max(16, 2*len(old)))
	h.shift = uint8(64 - bits.TrailingZeros(uint(len(h.slots))))
	for _, s := range old {
		if s.way != 0 {
			*h.slot(s.src, s.dst) = s
		}
	}
}

// reverse is the direction of the answers; an address that talks to itself has but one.
func reverse(src, dst packet.Addr, dir uint32) uint32 {
	if src == dst {
		return dir
	}
	return 1 - dir
}

// flows finds the direction of a connection that a packet belongs to: open addressing, at most three quarters full, and half full at least once it has grown. It
// has no pointers, so that the collector of garbage need not read it.
type flows struct {
	slots   []Flow
	used    int
	more    int // of them, those with an extra
	changes int // how often the connection of a flow was replaced, or an Ethernet address was forgotten
}

type Flow struct {
	key   uint64 // host pair, direction and destination QPN, plus one; 0: empty
	extra uint32 // source QPN of a datagram, plus one; 0 for connected services
	way   uint32 // index of the connection · 2 + sending end
}

// flowKey builds the key of a flow.
func flowKey(host, dir, qpn uint32) uint64 {
	return (uint64(host)<<1|uint64(dir))<<24 | uint64(qpn)
}

// get returns the flow, and false where it is new.
func (f *flows) get(key uint64, extra uint32) (way uint32, ok bool) {
	if s := f.find(key, extra); s != nil {
		return s.way, true
	}
	return 0, false
}

// home is the index of the slot where the search for a key, plus one, begins.
func (f *flows) home(key uint64, extra uint32) int {
	at, _ := bits.Mul64(keyed.Pair(key, uint64(extra)), uint64(len(f.slots)))
	return int(at)
}

// slot returns the slot of a flow, by its key plus one, or the empty one where it belongs.
func (f *flows) slot(key uint64, extra uint32) *Flow {
	return f.from(f.home(key, extra), key, extra)
}

// from is slot where the search is known to begin at slot i.
func (f *flows) from(i int, key uint64, extra uint32) *Flow {
	for ; ; i++ {
		if i >= len(f.slots) {
			i = 0
		}
		if s := &f.slots[i]; s.key == key && s.extra == extra || s.key == 0 {
			return s
		}
	}
}

// find returns the slot of a flow until the next change, or nil where the flow is new.
func (f *flows) find(key uint64, extra uint32) *Flow {
	if len(f.slots) == 0 {
		return nil
	}
	s := f.slot(key+1, extra)
	if s.key == 0 {
		return nil
	}
	return s
}

// around returns the first and the last of the slots that a search which begins at slot i mostly reads.
func (f *flows) around(i int) (first, last *Flow) {
	return &f.slots[i], &f.slots[min(i+2, len(f.slots)-1)]
}

// put sets the flow of a key.
func (f *flows) put(key uint64, extra, way uint32) {
	if f.used*4 >= len(f.slots)*3 {
		f.resize(f.used + f.used/2)
	}
	s := f.slot(key+1, extra)
	if s.key != 0 {
		f.changes++
	} else {
		f.used++
		if extra != 0 {
			f.more++
		}
	}
	*s = Flow{key + 1, extra, way}
}

// resize makes the table one for up to n flows.
func (f *flows) resize(n int) {
	old := f.slots
	f.slots = make([]Flow, max(n+n/3+1, 64))
	cache.LargePages(f.slots)
	for _, s := range old {
		if s.key != 0 {
			*f.slot(s.key, s.extra) = s
		}
	}
}
