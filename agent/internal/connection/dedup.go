package connection

import (
	"time"

	"ibwitness/internal/keyed"
	"ibwitness/packet"
)

// repeats recognises a packet that several taps saw: the same bytes at another tap, or in the other direction of an interface that
// records each packet twice, are the same packet; the same bytes once more at the same tap are another one.
type repeats struct {
	slots []repeat
	n     int
	// window is how far apart two packets may be that are the same.
	window int64
	ecn    uint8 // of the first packet like the one that copy has found to be a copy
}

type repeat struct {
	id      uint64
	time    int64
	seen    [8]uint8 // how often, by tap and direction, or by hop limit
	ecn     uint8
	hop     uint8
	station uint32 // the low half of the Ethernet address that it went to
}

// repeatWindow is how far apart two taps may see a packet: clocks that differ, and the path between them.
const repeatWindow = int64(time.Second)

// identity distinguishes packets: the ICRC depends on all the bytes that it covers, the IPv4 identification among them.
func identity(p *packet.Packet) uint64 {
	return mix(uint64(p.ICRC)<<32|uint64(p.Opcode)<<24|uint64(p.PSN)) ^ mix(p.Src.Lo*31+p.Dst.Lo+uint64(p.IPID)<<40+uint64(p.DestQP)) | 1
}

// copy reports whether another tap has shown the packet already.
func (r *repeats) copy(p *packet.Packet) bool {
	s := r.of(p, r.window)
	if s.first(p, (int(p.Tap)*3+int(p.Way))%len(s.seen)) {
		return false
	}
	r.again(s, p)
	return true
}

// of returns what is kept of packets like p, without those that are further from it than a time, which is the window of r or less.
func (r *repeats) of(p *packet.Packet, window int64) *repeat {
	if r.n*2 >= len(r.slots) {
		r.grow(p.Time)
	}
	s := r.slot(identity(p))
	if s.id == 0 {
		r.n++
		s.id = identity(p)
	}
	s.forget(p.Time, window)
	return s
}

// slot returns the slot of packets with an identity, or the empty one where they belong.
func (r *repeats) slot(id uint64) *repeat {
	mask := uint64(len(r.slots) - 1)
	i := keyed.Pair(id, 0) & mask
	for r.slots[i].id != 0 && r.slots[i].id != id {
		i = (i + 1) & mask
	}
	return &r.slots[i]
}

// take adds what is kept of other packets.
func (r *repeats) take(list []repeat, now int64) {
	for _, s := range list {
		if r.n*2 >= len(r.slots) {
			r.grow(now)
		}
		if to := r.slot(s.id); to.id == 0 {
			r.n++
			*to = s
		}
	}
}

// forget drops packets that came further from a time than the window.
func (s *repeat) forget(now, window int64) {
	if d := now - s.time; d > window || d < -window {
		s.seen = [8]uint8{}
	}
}

// first notes packet p at one of the places, and reports whether it is another one than those that were seen, as it was seen there more often than elsewhere.
func (s *repeat) first(p *packet.Packet, at int) bool {
	most := uint8(0)
	for _, n := range s.seen {
		most = max(most, n)
	}
	s.seen[at]++
	if s.seen[at] <= most {
		return false
	}
	s.time, s.ecn, s.hop, s.station = p.Time, p.TClass&3, p.HopLmt, uint32(p.Station)
	return true
}

// again takes a copy of a packet: a mark on it is one of its network.
func (r *repeats) again(s *repeat, p *packet.Packet) {
	r.ecn = s.ecn
	if p.TClass&3 == 3 {
		s.ecn = 3
	}
}

// grow drops what is older than the window, and makes room if that is not enough.
func (r *repeats) grow(now int64) {
	old := r.slots
	live := 0
	for i := range old {
		if old[i].id != 0 && now-old[i].time <= r.window {
			live++
		}
	}
	size := max(1024, len(old))
	for size < live*4 {
		size *= 2
	}
	r.slots, r.n = make([]repeat, size), 0
	for i := range old {
		if old[i].id != 0 && now-old[i].time <= r.window {
			*r.slot(old[i].id) = old[i]
			r.n++
		}
	}
}
