package exercise

import (
	"math"
	"math/rand/v2"

	"ibwitness/packet"
)

// never is when that is due which waits for something.
const never = math.MaxInt64

// Action is what is to be done now.
type Action struct {
	Stream  *Stream
	Packet  *Packet // sent, as Data; nil: Link or Sink
	Data    []byte
	VL      uint8
	Link    LinkCommand
	Sink    *SinkChange
	Partner bool
}

// Machine plays the streams of a script: it says what is to be done when. Times begin at 0.
type Machine struct {
	script  *Script
	players []*player
	chance  *rand.Rand
	sources [2]source // of exerciser and partner
	sent    uint64
}

// player plays a stream.
type player struct {
	*Stream
	machine *Machine
	chance  *rand.Rand
	at      int64 // when its step is due
	started bool
	ended   bool
	stopped bool
	step    int
	round   uint64
	done    uint64             // packets of the step
	counts  map[*Packet]uint64 // of each packet, over all rounds
	on      *Trigger           // for which it waits
	left    int                // how often that is to come yet
	stops   int
	held    bool // its port has many of its packets
	goes    bool // what it waits for was there already

	sent, bytes      uint64
	fired, timedOuts int
}

// newMachine begins, at a time from which those of the script count.
func newMachine(s *Script, sources [2]source, origin int64) *Machine {
	m := &Machine{script: s, chance: rand.New(rand.NewPCG(s.Seed, 1)), sources: sources}
	for i := range s.Streams {
		p := &player{Stream: &s.Streams[i], machine: m, chance: rand.New(rand.NewPCG(s.Seed, uint64(i)+2)), counts: map[*Packet]uint64{}}
		if p.Stop != nil {
			p.stops = p.Stop.Count
		}
		p.at = origin + p.At
		if p.Start != nil {
			p.wait(p.Start, 0, 0)
		} else {
			p.begin()
		}
		m.players = append(m.players, p)
	}
	return m
}

// wait has a stream wait for a trigger.
func (p *player) wait(t *Trigger, now, timeout int64) {
	p.on, p.left, p.at = t, t.Count, never
	switch {
	case t.Stream != "" && p.machine.over(t.Stream):
		p.goes, p.at = true, now+stepTime
	case timeout > 0:
		p.at = now + timeout
	}
}

// stepTime is how long a step takes that sends nothing: what has no end shall not take all its steps at once.
const stepTime = 1000

// over reports whether a stream has ended.
func (m *Machine) over(name string) bool {
	for _, p := range m.players {
		if p.Name == name {
			return p.ended
		}
	}
	return false
}

// begin has a stream go on with its steps.
func (p *player) begin() {
	p.started = true
	p.enter()
}

// enter makes the step due that the stream has come to.
func (p *player) enter() {
	switch s := &p.Steps[p.step]; {
	case s.Packet != nil:
		p.at += p.Gap + s.Packet.Gap
		if p.Jitter > 0 {
			p.at += p.chance.Int64N(p.Jitter + 1)
		}
	case s.Wait != nil:
		p.wait(s.Wait, p.at, s.Timeout)
	default:
		p.at += max(s.Pause, stepTime)
	}
}

// next brings a stream to its next step, or its end.
func (p *player) next(now int64) {
	if p.step++; p.step == len(p.Steps) {
		p.step = 0
		if p.round++; p.round == p.Repeat {
			p.end()
			return
		}
	}
	p.at = max(p.at, now)
	p.enter()
}

func (p *player) end() { p.ended, p.at, p.on = true, never, nil }

// Next is when something is due; never where all waits or has ended.
func (m *Machine) Next() int64 {
	at := int64(never)
	for _, p := range m.players {
		if !p.ended && !p.held {
			at = min(at, p.at)
		}
	}
	return at
}

// Ended reports whether all streams have ended.
func (m *Machine) Ended() bool {
	for _, p := range m.players {
		if !p.ended {
			return false
		}
	}
	return true
}

// Step returns what is to be done next at a time; false where nothing is due.
func (m *Machine) Step(now int64) (a Action, ok bool) {
	for m.sent < m.script.Packets {
		var p *player
		for _, x := range m.players {
			if !x.ended && !x.held && x.at <= now && (p == nil || x.at < p.at) {
				p = x
			}
		}
		if p == nil {
			return a, false
		}
		if a, ok = m.do(p, now); ok {
			return a, true
		}
	}
	return a, false
}

// do does the step of a stream that is due.
func (m *Machine) do(p *player, now int64) (a Action, ok bool) {
	if p.goes {
		p.goes = false
		p.fire(now)
		m.tell(p, now)
		return a, false
	}
	if p.on != nil { // the time is over in which it was to come
		p.timedOuts++
		p.on, p.at = nil, now
		if p.next(now); p.ended {
			m.tell(p, now)
		}
		return a, false
	}
	s := &p.Steps[p.step]
	a = Action{Stream: p.Stream, Packet: s.Packet, Link: s.Link, Sink: s.Sink, Partner: p.Partner}
	if s.Packet == nil {
		p.next(now)
		if m.tell(p, now); s.Pause > 0 {
			return a, false
		}
		return a, true
	}
	m.make(p, s.Packet, &a)
	if p.done++; p.done < s.Packet.Count {
		p.enter()
	} else {
		p.done = 0
		p.next(now)
	}
	m.tell(p, now)
	return a, true
}

// make makes the packet that is due of a stream, and has the next one wait as its rate wants.
func (m *Machine) make(p *player, x *Packet, a *Action) {
	of := &m.sources[packet.Bit(p.Partner)]
	a.Data, a.VL = x.build(of, p.counts[x], p.chance)
	p.counts[x]++
	p.sent++
	p.bytes += uint64(len(a.Data))
	m.sent++
	rate := p.Rate
	if rate == 0 {
		rate = of.rate
	}
	if rate > 0 {
		p.at += max(int64(uint64(len(a.Data))*8*1e9/rate), 1)
	}
}

// wireRate is how many bits a second Ethernet carries: a stream without end shall not send all its packets at once.
const wireRate = 100e9

// tell tells those that wait for the end of a stream, where it has ended.
func (m *Machine) tell(p *player, now int64) {
	if !p.ended {
		return
	}
	for _, x := range m.players {
		if !x.ended && x.on != nil && x.on.Stream == p.Name {
			x.fire(now)
			m.tell(x, now)
		}
		if !x.ended && x.Stop != nil && x.Stop.Stream == p.Name {
			x.stopped = true
			x.end()
			m.tell(x, now)
		}
	}
}

// Hear tells the streams of a port what it has received.
func (m *Machine) Hear(now int64, partner bool, h *Heard) {
	for _, p := range m.players {
		if p.ended || p.Partner != partner {
			continue
		}
		if p.Stop != nil && p.Stop.takes(h) {
			if p.stops--; p.stops == 0 {
				p.stopped = true
				p.end()
				m.tell(p, now)
				continue
			}
		}
		if p.on != nil && p.on.takes(h) {
			if p.left--; p.left == 0 {
				p.fire(now)
				m.tell(p, now)
			}
		}
	}
}

// fire has a stream go on for which it has waited.
func (p *player) fire(now int64) {
	p.fired++
	p.on, p.at = nil, now
	if !p.started {
		p.at += p.At
		p.begin()
		return
	}
	p.next(now)
}
