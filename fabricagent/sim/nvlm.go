package sim

import (
	"math/rand/v2"

	"ibwitness/fabricagent"
	"ibwitness/packet"
)

// Mechanism is the network verification layer mechanism of one half of a path: it stores packets, filters packet events and creates errors.
type Mechanism struct {
	// Noise is the chance that a bit of a frame is inverted, whatever the frame holds: of link packets too.
	Noise float64
	// Sums counts what happened to the packets.
	Sums Sums

	path   *Path
	half   int
	chance *rand.Rand
	errors []*Error
	first  map[uint32]packet.PSN // by destination QP, responses apart
	held   []*hold
	store  []Stored
	keep   int
	p      packet.Packet
}

// Sums counts packets.
type Sums struct {
	Packets, Dropped, Duplicated, Reordered, Delayed, Corrupted, Marked uint64
}

// Stored is a packet that a mechanism has stored, as it came. Nobody changes Frame.
type Stored struct {
	Time  int64
	Frame []byte
}

// hold is a frame that others overtake.
type hold struct {
	x    *flight // nil: it has gone on
	left int
}

func newMechanism(p *Path, half int) *Mechanism {
	from, to := p.from.addr, p.to.addr
	id := (from.Hi*31+from.Lo)*0x9e3779b97f4a7c15 + (to.Hi*31 + to.Lo) + uint64(half)<<63
	return &Mechanism{path: p, half: half, chance: rand.New(rand.NewPCG(p.fabric.opt.Seed, id)), first: map[uint32]packet.PSN{}}
}

// Add adds an error. Those added first are made first; a packet that is dropped meets no other.
func (m *Mechanism) Add(e Error) *Error {
	m.errors = append(m.errors, &e)
	return &e
}

// Clear removes all errors.
func (m *Mechanism) Clear() { m.errors = nil }

// Store has the last n packets kept.
func (m *Mechanism) Store(n int) { m.keep = n }

// Stored returns the packets that are kept, oldest first.
func (m *Mechanism) Stored() []Stored { return m.store }

const response = 1 << 31

// know notes the first PSNs.
func (m *Mechanism) know(p *packet.Packet) {
	key := qpKey(p)
	if _, ok := m.first[key]; !ok {
		m.first[key] = p.PSN
	}
}

func qpKey(p *packet.Packet) uint32 {
	if p.Info().Response {
		return p.DestQP | response
	}
	return p.DestQP
}

func (m *Mechanism) within(r *PSNs, p *packet.Packet) bool {
	psn := p.PSN
	if r.Relative {
		psn = psn.Add(-int(m.first[qpKey(p)]))
	}
	return psn.In(r.First, r.Last)
}

// pass takes a frame through the mechanism.
func (m *Mechanism) pass(x *flight) {
	m.Sums.Packets++
	if m.keep > 0 {
		m.note(x)
	}
	if m.Noise > 0 && m.chance.Float64() < m.Noise {
		m.disturb(x)
	}
	waiting, on := len(m.held), true
	if len(m.errors) == 0 {
		m.path.fly(x, 0, false)
	} else {
		on = m.err(x)
	}
	if waiting > 0 && on {
		m.overtaken(waiting)
	}
}

func (m *Mechanism) note(x *flight) {
	if len(m.store) >= m.keep {
		m.store = m.store[:copy(m.store, m.store[len(m.store)-m.keep+1:])]
	}
	m.store = append(m.store, Stored{m.path.fabric.clock.now, x.frame})
	if x.in != nil {
		x.in.kept = true
	}
}

// fate is what the errors have made of a frame.
type fate struct {
	delay       int64
	hold        bool // of the delay
	overtakenBy int
	atMost      int64
	copies      []int64 // their delays
}

// err lets the errors happen to a frame, and reports whether it has gone on.
func (m *Mechanism) err(x *flight) bool {
	frame := fabricagent.Frame{Link: m.path.fabric.opt.Link, Len: uint32(len(x.frame)), Data: x.frame}
	p := &m.p
	if !fabricagent.Decode(&frame, p).IsRDMA() || p.Has&packet.HasBTH == 0 {
		m.path.fly(x, 0, false)
		return true
	}
	m.know(p)
	var f fate
	for _, e := range m.errors {
		if !e.meets(m, p) {
			continue
		}
		if e.Then != nil {
			e.Then(PacketEvent{m.path.fabric.clock.now, m.path, e, e.matched, p, x.frame})
		}
		switch e.Kind {
		case Drop:
			m.Sums.Dropped++
			m.path.fabric.done(x)
			return false
		case Duplicate:
			m.Sums.Duplicated++
			for i := range max(e.Copies, 1) {
				f.copies = append(f.copies, int64(i+1)*e.Delay+m.jitter(e))
			}
		case Reorder:
			m.Sums.Reordered++
			f.overtakenBy, f.atMost = max(e.OvertakenBy, 1), e.AtMost
		case Delay:
			m.Sums.Delayed++
			f.delay += e.Delay + m.jitter(e)
			f.hold = e.Hold
		case Mark:
			m.Sums.Marked++
			m.mark(x, p)
		case Corrupt:
			m.Sums.Corrupted++
			m.corrupt(e, x, p)
			frame.Data, frame.Len = x.frame, uint32(len(x.frame))
			if !fabricagent.Decode(&frame, p).IsRDMA() {
				return m.meet(x, &f)
			}
		}
	}
	return m.meet(x, &f)
}

func (m *Mechanism) jitter(e *Error) int64 {
	if e.Jitter <= 0 {
		return 0
	}
	return m.chance.Int64N(e.Jitter + 1)
}

// meet sends a frame to its fate, and reports whether it has gone on.
func (m *Mechanism) meet(x *flight, f *fate) bool {
	fabric := m.path.fabric
	copies := make([]*flight, len(f.copies))
	for i := range copies {
		copies[i] = fabric.flight(m.path, x.frame, x.in, m.half)
		copies[i].other = x.other
	}
	if f.overtakenBy > 0 {
		h := &hold{x, f.overtakenBy}
		m.held = append(m.held, h)
		if f.atMost <= 0 {
			f.atMost = DefaultAtMost
		}
		fabric.clock.After(f.atMost, func() { m.goOn(h) })
	} else {
		m.path.fly(x, f.delay, f.hold)
	}
	for i, c := range copies {
		m.path.fly(c, f.delay+f.copies[i], f.hold && f.copies[i] == 0)
	}
	return f.overtakenBy == 0
}

// overtaken counts a frame that overtook the first n of those held back.
func (m *Mechanism) overtaken(n int) {
	kept := m.held[:0]
	for i, h := range m.held {
		if h.x != nil && i < n {
			if h.left--; h.left == 0 {
				m.goOn(h)
			}
		}
		if h.x != nil {
			kept = append(kept, h)
		}
	}
	clear(m.held[len(kept):])
	m.held = kept
}

func (m *Mechanism) goOn(h *hold) {
	if h.x != nil {
		m.path.fly(h.x, 0, false)
		h.x = nil
	}
}
