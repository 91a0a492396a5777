package link

import (
	"fmt"
	"time"

	"ibwitness/packet"
	"ibwitness/rule"
)

// Pause is a pause frame on Ethernet: of some priorities (IEEE 802.1Qbb) or of all traffic (IEEE 802.3 annex 31B).
type Pause struct {
	Time    int64
	Frame   uint64
	Tap     uint16
	From    [6]byte // MAC address of the port that asks the other end of its link to pause
	Way     packet.Way
	All     bool      // of all traffic, for Quanta[0]
	Classes uint8     // else, priorities that Quanta holds for, priority 0 in the lowest bit
	Quanta  [8]uint16 // for how long: units of 512 bit times; 0: no longer
}

// Sent is a RoCE packet on Ethernet.
type Sent struct {
	*packet.Packet
	From, To [6]byte
	Priority uint8 // of its VLAN tag
	Tagged   bool
	Size     int  // of the frame, without its checksum
	Near     bool // the tap is near the endpoint that sent it, so that the other end of its link asks it to pause, and nothing else
}

// pauser is a port that has sent pause frames, seen by one tap.
type pauser struct {
	from  [6]byte
	way   packet.Way // of its newest pause frame
	holds [untagged + 1]hold
}

// untagged is the index after the priorities: what has none.
const untagged = 8

// hold is a pause of one priority.
type hold struct {
	since, until int64
	first, last  uint64 // frames that asked for it
	told         bool
}

const (
	// pausersMost is how many of them a tap may show: more than two are no link.
	pausersMost = 8
	// settling is how long frames may still come after a pause frame, besides those that were in flight. Annex 31B of IEEE 802.3 permits at most 3.1 µs
	// until the pause takes effect (10 Gb/s), its physical layers take less than 2 µs, and a kilometre of fibre 10 µs there and back.
	settling = 16 * int64(time.Microsecond)
	// blur is how far a time stamp may be off.
	blur = int64(time.Microsecond)
	// mostFrame is a jumbo frame, the greatest that is in use, and around what Ethernet puts around each: preamble, checksum and gap.
	mostFrame, around = 9216, 24
	pauseFrame        = 60
)

// lasts is how long bits take at a speed of bit/s, in nanoseconds.
func lasts(n int, speed uint64) int64 { return int64(uint64(n) * uint64(time.Second) / speed) }

// Pausing reports whether some pause lasts at a time, so that Sent is to be called.
func (v *Verifier) Pausing(now int64) bool { return now < v.pausing }

// Pause takes a pause frame. speed is that of the link, in bit/s; where it is 0, nobody can tell how long the pause lasts.
func (v *Verifier) Pause(m *Pause, speed uint64) {
	p := v.pauser(m)
	if p == nil || speed == 0 {
		return
	}
	p.way = m.Way
	for i := range p.holds {
		quanta := m.Quanta[0]
		if !m.All {
			if i == untagged || m.Classes>>i&1 == 0 {
				continue
			}
			quanta = m.Quanta[i]
		}
		h := &p.holds[i]
		if quanta == 0 {
			h.until = min(h.until, m.Time)
			continue
		}
		if m.Time >= h.until-blur { // it had ended, or might have
			*h = hold{since: m.Time, first: m.Frame}
		}
		h.last, h.until = m.Frame, m.Time+lasts(int(quanta)*512, speed)
		v.pausing = max(v.pausing, h.until)
	}
}

// pauser returns the port that sent a pause frame.
func (v *Verifier) pauser(m *Pause) *pauser {
	list := v.pausers[m.Tap]
	for _, p := range list {
		if p.from == m.From {
			return p
		}
	}
	if len(list) == pausersMost {
		return nil
	}
	if v.pausers == nil {
		v.pausers = map[uint16][]*pauser{}
	}
	p := &pauser{from: m.From}
	v.pausers[m.Tap] = append(list, p)
	return p
}

// Sent compares a packet with the pauses of its link (rule CNG-PFC-001). At a tap near its sender, it is the other end of the link that asks for them;
// elsewhere the end that the packet goes to may, but then a switch may have sent it last.
func (v *Verifier) Sent(s *Sent, speed uint64) {
	i := untagged
	if s.Tagged {
		i = int(s.Priority & 7)
	}
	for _, p := range v.pausers[s.Tap] {
		h := &p.holds[i]
		if p.from == s.From || h.first == 0 || !s.Near && p.from != s.To || s.Near && p.way == packet.WayOut {
			continue
		}
		v.Rec.Cover[rule.CNGPFC001].Exercised++
		begin := h.since + settling + lasts((mostFrame+min(s.Size, mostFrame)+pauseFrame+3*around)*8, speed)
		end := h.until - blur - (h.until-h.since)/5000 // both clocks are within 100 ppm
		if s.Time > begin && s.Time < end && !h.told {
			h.told = true
			v.sentInPause(s, p, h)
		}
	}
}

// sentInPause reports a packet that was sent during a pause.
func (v *Verifier) sentInPause(s *Sent, p *pauser, h *hold) {
	d := rule.Verdict{
		Rule: rule.CNGPFC001, Class: rule.Violation, Role: rule.Sender, Evidence: []uint64{h.first},
		Expected: fmt.Sprintf("silence for %s after a pause frame", rule.Span(h.until-h.since)),
		Actual:   fmt.Sprintf("a packet %s after it", rule.Span(s.Time-h.since)),
	}
	if s.Tagged {
		d.Actual += fmt.Sprintf(", of priority %d", s.Priority)
	}
	if h.last != h.first {
		d.Evidence = append(d.Evidence, h.last)
	}
	switch {
	case !s.Near:
		d.Class, d.Detail = rule.Unproven, "a switch before the tap may have sent it on in spite of the pause"
	case p.from != s.To && p.way != packet.WayIn:
		d.Class, d.Detail = rule.Unproven, "the pause frame may come from the sender itself: a port that several functions share has an address of its own"
	case v.lossy:
		d.Class, d.Detail = rule.Unproven, "the capture may have lost the frame that ended the pause"
	}
	accused := rule.Endpoint{Addr: s.Src}
	if s.Has&packet.HasDETH != 0 {
		accused.QPN, accused.QPNKnown = s.SrcQP, true
	}
	v.Rec.Add(d.On(s.Packet, accused, rule.Endpoint{Addr: s.Dst, QPN: s.DestQP, QPNKnown: true}))
}
