package link

import (
	"cmp"
	"slices"
	"time"

	"ibwitness/packet"
)

// Paused is what a port has asked of the other end of its link by pause frames, for one priority or for all traffic, as one tap saw it. Pause frames do not
// pass a switch, and a switch may send them from one address on all its ports: so it is the tap that tells the link.
type Paused struct {
	From      [6]byte         // MAC address of the port that asked
	Hosts     []packet.Addr   // whose packets go to that address, at most a few: the port is theirs, or of a router before them. Of a run that is over
	Over      [][]packet.Addr // of a capture of several taps, for which hosts packets go to one and the same address at this one, where these are several. Of a run that is over
	Unowned   bool            // packets for each host of the capture go to other addresses, so that none of them has it, as far as packets tell (of several taps, those that it shows). Of a run that is over
	Tap       uint16
	All       bool   // all traffic (IEEE 802.3 annex 31B), in place of a priority
	Priority  uint8  // of IEEE 802.1Q
	Speed     uint64 // of the link, in bit/s; 0: not known
	Time      int64  // of the first of its frames that paused, nanoseconds since the Unix epoch
	Frame     uint64
	LastTime  int64 // of the newest of its frames, whether it paused or resumed
	LastFrame uint64
	Frames    uint64 // from the first on
	Resumed   uint64 // of these, those with quanta 0, which resume
	Quanta    uint64 // that they asked for, in all: units of 512 bit times
	Begun     uint64 // how often the pause began. Where the speed is not known, two of them may be counted as one
	Unresumed uint64 // how often no frame with quanta 0 ended it, so that it ran out
	Held      bool   // it may have lasted when the capture ended; then it counts as Unresumed, too
	// Least and Most bound the time paused, all in all: from a frame that pauses to the next of its priority, unless its quanta had run out. Where the speed of the
	// link is known they are one; else they rest on the fastest and the slowest that it can be, 1.6 Tb/s and 1 Gb/s.
	Least, Most time.Duration
	// Longest is the longest time from the beginning of a pause to its end, by the same measure as Most, and LongestSince when that began.
	Longest      time.Duration
	LongestSince int64
	Long         []Lasting // the first pauses that lasted long, by the same measure, in order
	Each         []Lasting // when each pause was, by the same measure, in order: the longest, where there were many
	// Unbroken is the greatest speed, in bit/s, at which each of its frames came before the quanta of the one before had run out, so that Most was paused without a
	// break from the first to the last of each pause; 0: where nothing is known of it.
	Unbroken uint64
	// Calm is how many pauses of Waiting or longer a frame ended that resumes, and in which no RoCE packet of the priority came to the port but what
	// may have been in flight; Back are the senders of requests that came right after these.
	Calm uint64
	Back []Returned
	// Bunches are the pauses that followed one another without BunchGap between two, in order; from MostBunches on those that were least apart are one.
	Bunches []Bunch
	Own     Own
}

// Bunch is from when to when pauses followed one another, nanoseconds since the Unix epoch, and how many.
type Bunch struct {
	Lasting
	Pauses uint64
}

// Own is a host whose packets came from the Ethernet address of a port while it had others pause, with a hop limit (TTL) that no router had made less.
type Own struct {
	Host     packet.Addr
	HopLimit uint8 // 0: there was none, or there were several
}

// BunchGap is for how long no pause begins between two bunches, nanoseconds.
const BunchGap = int64(5e6)

// Lasting is from when to when a pause lasted, nanoseconds since the Unix epoch.
type Lasting struct{ From, To int64 }

const (
	// LongPause is how long a pause is at least that is a long one, nanoseconds, mostLong how many of these are listed, and mostEach how many of all.
	LongPause = int64(10 * time.Millisecond)
	mostLong  = 32
	mostEach  = 256
	// MostBunches is how many bunches are kept: where there are more, those that were least apart become one.
	MostBunches = 64
	// PortsMost is of how many ports pause frames are followed.
	PortsMost = 64
	// fastest and slowest are the speeds that a link which carries RoCE can have, in bit/s.
	fastest, slowest = 1_600_000_000_000, 1_000_000_000
	// quantum is the unit of pause times, in bit times.
	quantum = 512
)

// Pauses follows who has whom pause: the pause frames of all taps, in the order of time. It has no clock, and is not safe for concurrent use.
type Pauses struct {
	ports  []*pausing
	others uint64
	looks  int64 // until when packets are looked at
}

// pausing is a port that sends pause frames, as a tap shows it.
type pausing struct {
	from [6]byte
	tap  uint16
	by   [untagged + 1]span // by priority, then all traffic
	own  Own
	// foreign is that packets come from it of several hosts, or of one that is not known to be that near.
	foreign bool
}

// span is the pauses of one priority.
type span struct {
	Paused
	held   bool
	since  int64  // when the pause began that lasts
	asked  int64  // when it was asked for last
	quanta uint16 // for how long
	after
}

// Take follows a pause frame. speed is that of the link, in bit/s; 0: not known.
func (p *Pauses) Take(m *Pause, speed uint64) {
	port := p.port(m)
	if port == nil {
		p.others++
		return
	}
	if m.All {
		port.by[untagged].take(m, m.Quanta[0], speed)
		p.looks = max(p.looks, port.by[untagged].looks())
		return
	}
	for i := range m.Quanta {
		if m.Classes>>i&1 != 0 {
			port.by[i].take(m, m.Quanta[i], speed)
			p.looks = max(p.looks, port.by[i].looks())
		}
	}
}

// Others returns how many pause frames were not followed, as there were too many ports.
func (p *Pauses) Others() uint64 { return p.others }

// List returns what was paused up to the end of the capture, in the order in which it began.
func (p *Pauses) List(end int64) (list []Paused) {
	for _, port := range p.ports {
		for i := range port.by {
			if s := port.by[i]; s.Begun > 0 {
				s.From, s.Tap, s.All = port.from, port.tap, i == untagged
				if !s.All {
					s.Priority = uint8(i)
				}
				s.Each = slices.Clone(s.Each)
				s.Bunches, s.Own = slices.Clone(s.Bunches), port.own
				s.end(end)
				s.Back = slices.Clone(s.Back)
				list = append(list, s.Paused)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b Paused) int {
		return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(a.Tap, b.Tap), cmp.Compare(a.Frame, b.Frame))
	})
	return list
}

// port returns the port that sent a pause frame; nil: there are too many.
func (p *Pauses) port(m *Pause) *pausing {
	for _, port := range p.ports {
		if port.from == m.From && port.tap == m.Tap {
			return port
		}
	}
	if len(p.ports) == PortsMost {
		return nil
	}
	port := &pausing{from: m.From, tap: m.Tap}
	p.ports = append(p.ports, port)
	return port
}

// take follows a frame that asks for a pause, or, with quanta 0, ends it.
func (s *span) take(m *Pause, quanta uint16, speed uint64) {
	if s.held {
		s.advance(m.Time)
	}
	switch {
	case quanta > 0:
		if !s.held {
			s.begin(m)
		}
		s.asked, s.quanta, s.Speed = m.Time, quanta, speed
		s.Quanta += uint64(quanta)
	case s.Begun == 0: // what began before the capture
		return
	default:
		if s.held {
			s.resume(m.Time)
		}
		s.held = false
		s.Resumed++
	}
	s.Frames++
	s.Bunches[len(s.Bunches)-1].To = m.Time
	s.LastTime, s.LastFrame = m.Time, m.Frame
}

// begin begins a pause.
func (s *span) begin(m *Pause) {
	if s.Begun == 0 {
		s.Time, s.Frame = m.Time, m.Frame
	}
	s.bunch(m.Time)
	s.Begun++
	s.held, s.since, s.after = true, m.Time, after{}
}

// bunch notes that a pause begins.
func (s *span) bunch(now int64) {
	if s.Begun == 0 || now-s.LastTime >= BunchGap {
		if len(s.Bunches) == MostBunches {
			s.join()
		}
		s.Bunches = append(s.Bunches, Bunch{Lasting: Lasting{now, now}})
	}
	s.Bunches[len(s.Bunches)-1].Pauses++
}

// join makes one of the two bunches that were least apart.
func (s *span) join() {
	b, at := s.Bunches, 1
	for k := 2; k < len(b); k++ {
		if b[k].From-b[k-1].To < b[at].From-b[at-1].To {
			at = k
		}
	}
	b[at-1].To, b[at-1].Pauses = b[at].To, b[at-1].Pauses+b[at].Pauses
	s.Bunches = slices.Delete(b, at, at+1)
}

// advance adds the time from when the pause was asked for last. A pause that has run out by then is over.
func (s *span) advance(now int64) {
	least, most := s.lasts()
	passed := max(now-s.asked, 0)
	s.Least += time.Duration(min(passed, least))
	s.Most += time.Duration(min(passed, most))
	if u := uint64(s.quanta) * quantum * uint64(time.Second) / uint64(max(passed, 1)); s.Unbroken == 0 || u < s.Unbroken {
		s.Unbroken = u
	}
	if n := time.Duration(s.asked - s.since + min(passed, most)); n > s.Longest {
		s.Longest, s.LongestSince = n, s.since
	}
	s.lasting(s.asked + min(passed, most))
	if passed > most {
		s.held = false
		s.Unresumed++
	}
}

// lasting notes that the pause lasted until a time.
func (s *span) lasting(until int64) {
	s.each(until)
	if until-s.since < LongPause {
		return
	}
	if n := len(s.Long) - 1; n >= 0 && s.Long[n].From == s.since {
		s.Long[n].To = until
	} else if n+1 < mostLong {
		s.Long = append(s.Long, Lasting{s.since, until})
	}
}

// each keeps when the pause was, in place of the shortest where there are many.
func (s *span) each(until int64) {
	if n := len(s.Each) - 1; n >= 0 && s.Each[n].From == s.since {
		s.Each[n].To = until
		return
	}
	if s.Each = append(s.Each, Lasting{s.since, until}); len(s.Each) > mostEach {
		shortest := 0
		for k, e := range s.Each[:mostEach] {
			if e.To-e.From < s.Each[shortest].To-s.Each[shortest].From {
				shortest = k
			}
		}
		s.Each = slices.Delete(s.Each, shortest, shortest+1)
	}
}

// end ends what lasts when the capture does.
func (s *span) end(now int64) {
	if !s.held {
		return
	}
	if s.advance(now); s.held {
		s.Held = true
		s.Unresumed++
	}
}

// lasts bounds how long the quanta that were asked for last take, in nanoseconds.
func (s *span) lasts() (least, most int64) {
	bits := int(s.quanta) * quantum
	if s.Speed != 0 {
		n := lasts(bits, s.Speed)
		return n, n
	}
	return lasts(bits, fastest), lasts(bits, slowest)
}
