package agent

import (
	"slices"
	"time"

	"ibwitness/fabricagent"
	"ibwitness/packet"
)

// Many adapters give the packets of RoCEv2 on IPv4 that they send their identifications from one counter, whichever queue pair a packet is of. Where all that a host sends passes the tap, a number that the
// capture lacks is that of a packet which the host has sent.

const (
	// fewestNumbered is of how many packets each has to have the number after that of the one before it, for them to be of one counter.
	fewestNumbered = 256
	// perHole is how many of these come for each hole, at least: a host that sends elsewhere too has holes all the time.
	perHole = 32
	// mostNumbered is how many hosts are followed, and mostHoles how many holes of each are kept.
	mostNumbered, mostHoles = 1024, 512
	// farthest is how far ahead a number is at most: one that is farther is earlier.
	farthest = 1 << 15
	// lowest is below which a number is one of a counter that began again, where it is as far before the one before, or farAhead of it, and comes
	// restTime after it or later. mostRestarts is how many of these are kept.
	lowest, farAhead, restTime, mostRestarts = 256, 1024, int64(time.Second), 8
	// lateHoles is among how many of the newest holes a number is looked for that comes late, and widestLate how many numbers such a hole has at most: what goes to one of several hosts that a
	// capture shows may have passed it later than what goes to another, by a whole burst.
	lateHoles, widestLate = 64, 256
	// mostOpen is how many numbers may be missing, of a host that has holes all the time, as its packets take several paths.
	mostOpen = 256
)

// Numbering is what the IPv4 identifications of a host show of what it sent.
type Numbering struct {
	Host       packet.Addr
	Tap        uint16
	Steps      uint64    // packets with the number after that of the one before
	Reads      bool      // it sent READs, which take more PSNs than packets
	Holes      []Hole    // in the order of frames, the first so many
	Late       uint64    // packets that came after those with later numbers: then each hole was filled by such
	LateFrames []uint64  // frames of these, the first so many
	Restarts   []Restart // when the counter began again, the first so many
}

// Restart is that a counter began again at a low number: the packet after a long time without any has a low number, far from that before.
type Restart struct {
	Was, Is       uint16
	Before, After uint64 // frames of the two packets
	From, At      int64  // times of these, nanoseconds since the Unix epoch
}

// Whole reports whether the capture holds each number from the first to the newest.
func (n *Numbering) Whole() bool { return n.Late > 0 || len(n.Holes) == 0 }

// Lacked returns how many numbers the capture lacks of packets that the host sent within a time; false: not all of its holes are kept.
func (n *Numbering) Lacked(from, to int64) (packets int, known bool) {
	if len(n.Holes) == mostHoles && n.Holes[mostHoles-1].To < to {
		return 0, false
	}
	for _, h := range n.Holes {
		if h.From < to && h.To > from {
			packets += int(h.Packets)
		}
	}
	return packets, true
}

// NumberingOf returns what the identifications of a host at a tap show; nil: no one counter numbered its packets.
func NumberingOf(list []Numbering, host packet.Addr, tap uint16) *Numbering {
	for i := range list {
		if h := &list[i]; h.Host == host && h.Tap == tap {
			return h
		}
	}
	return nil
}

// counting is a host, whose packets one counter may number.
type counting struct {
	Numbering
	holes  uint64
	unkept bool      // neither its holes nor the frames of what came late are kept
	filled []filling // of the newest holes, lateHoles at most
	open   uint64    // numbers that are missing
	apart  bool      // packets came without one counter
	id     uint64    // newest, counted on after 65535
	first  uint64    // lowest, likewise
	frame  uint64    // of the packet with it; 0: there was none
	time   int64
}

// Hole is packets that a host sent and that the capture does not hold.
type Hole struct {
	Packets       uint16 // how many
	Before, After uint64 // frames of the host around them
	From, To      int64  // times of these, nanoseconds since the Unix epoch
	// Lacks says that a stream lacks PSNs there, which the packets had. Else they may have gone elsewhere.
	Lacks bool
}

// filling is which numbers of a hole came late.
type filling struct {
	first   uint64                  // number of the hole
	came    [widestLate / 64]uint64 // a bit for each
	packets uint16                  // that are missing there
}

// take takes the n-th of them. It reports whether that had not come.
func (k *filling) take(n uint64) bool {
	if n >= widestLate || k.came[n/64]&(1<<(n%64)) != 0 {
		return false
	}
	k.came[n/64] |= 1 << (n % 64)
	return true
}

// numberings follows the hosts, and the queue pairs of those whose packets no one counter numbers.
type numberings struct {
	hosts  map[numbered]*counting
	recent [64]*counting // by address
	pairs  numberedPairs
}

type numbered struct {
	host packet.Addr
	tap  uint16
}

// take takes the frames of a batch.
func (n *numberings) take(frames []fabricagent.Frame) {
	for i := range frames {
		f := &frames[i]
		p, ok := fabricagent.Identification(f)
		if !ok {
			continue
		}
		h := n.recent[p.Src.Lo%uint64(len(n.recent))]
		if h == nil || h.Host != p.Src || h.Tap != f.Tap {
			if h = n.of(numbered{p.Src, f.Tap}); h == nil {
				continue
			}
			n.recent[p.Src.Lo%uint64(len(n.recent))] = h
		}
		h.Reads = h.Reads || p.Opcode == packet.Opcode(packet.ReadRequest)
		if h.take(f, p.ID); f.Tap == 0 && (h.apart || h.Steps < oneCounter) {
			n.pairs.take(f, &p)
		}
	}
}

// of returns a host; nil: there are too many.
func (n *numberings) of(k numbered) *counting {
	h := n.hosts[k]
	if h != nil || len(n.hosts) == mostNumbered {
		return h
	}
	if n.hosts == nil {
		n.hosts = map[numbered]*counting{}
	}
	h = &counting{Numbering: Numbering{Host: k.host, Tap: k.tap}}
	n.hosts[k] = h
	return h
}

// take takes a frame that the host sent with a number.
func (h *counting) take(f *fabricagent.Frame, id uint16) {
	d := id - uint16(h.id)
	switch {
	case h.apart:
		return
	case h.frame == 0:
		d, h.id, h.first = 0, 1<<16+uint64(id), 1<<16+uint64(id)
	case d == 1:
		h.Steps++
	case id < lowest && d >= farAhead && f.Time-h.time >= restTime && -d >= lowest:
		h.restart(f, id)
		d = 0
	case d == 0 || d >= farthest:
		if !h.fill(h.id-uint64(-d), f.Number) {
			h.leave()
		}
		return
	default:
		h.open += uint64(d - 1)
		h.opened(filling{first: h.id + 1, packets: d - 1})
		if h.holes++; len(h.Holes) < mostHoles && !h.unkept {
			h.Holes = append(h.Holes, Hole{Packets: d - 1, Before: h.frame, After: f.Number, From: h.time, To: f.Time})
		}
		if h.holes > mostHoles && h.Steps < h.holes*perHole && h.open > mostOpen {
			h.leave()
		}
	}
	h.id, h.frame, h.time = h.id+uint64(d), f.Number, f.Time
}

// opened takes a hole that is not filled.
func (h *counting) opened(k filling) {
	if len(h.filled) < lateHoles {
		h.filled = append(h.filled, k)
	} else {
		h.filled[h.holes%lateHoles] = k
	}
}

// restart takes a frame with a number at which the counter of the host begins again.
func (h *counting) restart(f *fabricagent.Frame, id uint16) {
	if len(h.Restarts) < mostRestarts {
		h.Restarts = append(h.Restarts, Restart{Was: uint16(h.id), Is: id, Before: h.frame, After: f.Number, From: h.time, At: f.Time})
	}
	h.id = (h.id>>16+1)<<16 + uint64(id)
}

// leave follows the host no further: no one counter numbers its packets.
func (h *counting) leave() {
	h.apart, h.Holes, h.LateFrames, h.Restarts, h.filled = true, nil, nil, nil, nil
}

// fill takes a number that comes late, with a frame. It reports whether that was missing.
func (h *counting) fill(id, frame uint64) bool {
	for i := range min(h.holes, lateHoles) {
		k := &h.filled[(h.holes-1-i)%lateHoles]
		n := id - k.first // below the first: far above
		if n >= uint64(k.packets) {
			continue
		}
		if !k.take(n) {
			return false
		}
		h.open--
		h.late(frame)
		return true
	}
	if id != h.first-1 || h.id-id > widestLate {
		return false
	}
	h.first = id // the first of the capture had overtaken it
	h.late(frame)
	return true
}

// late counts a packet that came late.
func (h *counting) late(frame uint64) {
	h.Late++
	if len(h.LateFrames) < mostHoles && !h.unkept {
		h.LateFrames = append(h.LateFrames, frame)
	}
}

// counts reports whether one counter numbered the packets of the host: of packets that came late, where none is missing.
func (h *counting) counts() bool {
	return !h.apart && (h.Late == 0 || h.open == 0) && h.Steps >= fewestNumbered && h.Steps >= h.holes*perHole
}

// arrived reports whether the capture holds each number of the host, though some came after later ones, however many.
func (h *counting) arrived() bool {
	return !h.apart && h.Late > 0 && h.open == 0 && h.Steps+h.Late >= fewestNumbered
}

// arrived returns the hosts of which the capture holds each number, though packets took several paths, where there is one tap.
func (n *numberings) arrived() (list []packet.Addr) {
	for k, h := range n.hosts {
		if k.tap != 0 {
			return nil
		}
		if h.arrived() {
			list = append(list, h.Host)
		}
	}
	slices.SortFunc(list, packet.Addr.Compare)
	return list
}

// list returns the hosts whose packets one counter numbered, by address and tap.
func (n *numberings) list() (list []Numbering) {
	for _, h := range n.hosts {
		if h.counts() {
			list = append(list, h.Numbering)
		}
	}
	slices.SortFunc(list, func(a, b Numbering) int {
		if c := a.Host.Compare(b.Host); c != 0 {
			return c
		}
		return int(a.Tap) - int(b.Tap)
	})
	return list
}
