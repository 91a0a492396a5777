package link_test

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"ibwitness/link"
	"ibwitness/packet"
)

// model is a link with two ports, as the standard has it, and a tap somewhere on it.
type model struct {
	rng   *rand.Rand
	now   int64
	at    int64 // how far the tap is from port A, in nanoseconds of the delay
	ports [2]modelPort
	seen  []link.Event
	fault fault
	done  int // how often the fault was made
}

const (
	modelDelay  = 40 // nanoseconds from port to port
	modelLanes  = 2
	modelUpdate = 180_000 // nanoseconds between flow control packets of a lane, at most
)

type modelPort struct {
	op    link.Op
	lanes [modelLanes]modelLane
	way   []flight // to the other port
}

type modelLane struct {
	size, used int    // blocks of the receive buffer
	abr        uint16 // of what has arrived
	sent       uint16
	credit     uint16 // FCCL that has arrived
	told       int64  // when its newest flow control packet was sent
}

// flight is something on its way.
type flight struct {
	arrives int64
	fc      link.FlowControl
	vl      uint8
	blocks  int // of a data packet
	lost    bool
}

// fault is something that a port of the model does wrong, after a while and once.
type fault string

func newModel(seed uint64, f fault) *model {
	m := &model{rng: rand.New(rand.NewPCG(seed, 1)), now: 1e15, fault: f}
	m.at = m.rng.Int64N(modelDelay + 1)
	for i := range m.ports {
		for k := range m.ports[i].lanes {
			l := &m.ports[i].lanes[k]
			l.size = []int{70, 200, 1000, 2048, 5000}[m.rng.IntN(5)]
			if f == "counts what it drops" || f == "offers too much" {
				l.size = 5000
			}
		}
	}
	return m
}

// run lets the link come up and carry packets, and returns what the tap saw.
func (m *model) run(steps int) []link.Event {
	for _, op := range []link.Op{link.Init, link.Normal} {
		for round := range 3 {
			for i := range m.ports {
				m.ports[i].op = op
				for vl := range modelLanes {
					m.tell(i, uint8(vl), false)
				}
				if op == link.Init && round == 2 && i == 0 && m.makes("sends too early") {
					m.send(i, 0, 2)
				}
			}
			m.step(1000)
		}
	}
	for n := range steps {
		m.step(m.rng.Int64N(3000))
		i, vl := m.rng.IntN(2), uint8(m.rng.IntN(modelLanes))
		p := &m.ports[i]
		l := &p.lanes[vl]
		switch m.rng.IntN(8) {
		case 0:
			if m.fault != "is silent" || n < steps/2 || i != 0 || vl != 1 {
				m.tell(i, vl, n > steps/2)
			}
		case 1, 2: // software takes packets out of the buffer
			l.used -= m.rng.IntN(l.used + 1)
		default:
			blocks := 1 + m.rng.IntN(66)
			may := (l.credit-l.sent-uint16(blocks))&4095 <= 2048
			if may || n > steps/2 && m.makes("ignores credits") {
				m.send(i, vl, blocks)
			} else if n > steps/2 && m.makes("uses another lane") {
				m.send(i, 5, blocks)
			}
		}
		for i := range m.ports {
			for vl := range modelLanes {
				if m.now-m.ports[i].lanes[vl].told > modelUpdate && (m.fault != "is silent" || n < steps/2 || i != 0 || vl != 1) {
					m.tell(i, uint8(vl), n > steps/2)
				}
			}
		}
	}
	if m.fault == "is silent" {
		m.done++
	}
	slices.SortStableFunc(m.seen, func(a, b link.Event) int { return cmp.Compare(a.Time, b.Time) })
	for i := range m.seen {
		m.seen[i].Frame = uint64(i + 1)
		if p := m.seen[i].Data; p != nil {
			p.Frame = m.seen[i].Frame
		}
	}
	return m.seen
}

// makes reports whether the fault is to be made here.
func (m *model) makes(f fault) bool {
	if m.fault != f || m.done > 0 {
		return false
	}
	m.done++
	return true
}

// step lets time pass and delivers what arrives meanwhile.
func (m *model) step(d int64) {
	m.now += d
	for i := range m.ports {
		p, to := &m.ports[i], &m.ports[1-i]
		for len(p.way) > 0 && p.way[0].arrives <= m.now {
			f := p.way[0]
			p.way = p.way[1:]
			if f.vl >= modelLanes {
				continue
			}
			l := &to.lanes[f.vl]
			switch {
			case f.lost && f.blocks > 0 && m.fault == "counts what it drops":
				l.abr += uint16(f.blocks)
				m.tell(1-i, f.vl, false) // before the other port says what it has sent
				m.done++
			case f.lost:
			case f.blocks > 0:
				l.used += f.blocks
				l.abr += uint16(f.blocks)
			default:
				l.abr, l.credit = f.fc.FCTBS, f.fc.FCCL
			}
		}
	}
}

// put sends something from port i.
func (m *model) put(i int, f flight, e link.Event) {
	at := m.at
	if i == 1 {
		at = modelDelay - m.at
	}
	f.arrives = m.now + modelDelay
	m.ports[i].way = append(m.ports[i].way, f)
	e.Time, e.Mark = m.now+at, link.Mark{Link: 1, Symbol: 4000, Port: uint8(i), Bad: f.lost && e.Kind == link.Data}
	m.seen = append(m.seen, e)
	m.now++
}

// send sends a data packet of so many blocks.
func (m *model) send(i int, vl uint8, blocks int) {
	words := blocks*16 - m.rng.IntN(10) - 1 // the VCRC begins no block
	if m.rng.IntN(8) == 0 {
		words = blocks * 16
	}
	lost := m.rng.IntN(200) == 0 && m.fault == ""
	if m.fault == "counts what it drops" {
		lost = len(m.seen) > 100 && m.done == 0
	}
	p := &packet.Packet{Encap: packet.Native, VL: vl, PktLen: uint16(words), VCRCState: packet.CRCGood}
	if vl < modelLanes {
		m.ports[i].lanes[vl].sent += uint16(blocks)
	}
	m.put(i, flight{vl: vl, blocks: blocks, lost: lost}, link.Event{Kind: link.Data, Size: words*4 + 2, Data: p})
}

// tell sends a flow control packet.
func (m *model) tell(i int, vl uint8, late bool) {
	p := &m.ports[i]
	l := &p.lanes[vl]
	l.told = m.now
	f := link.FlowControl{Op: p.op, FCTBS: l.sent & 4095, VL: vl, FCCL: (l.abr + uint16(min(max(l.size-l.used, 0), 2048))) & 4095}
	right := f
	if late {
		switch {
		case l.sent != 0 && m.makes("counts too little"):
			f.FCTBS = (f.FCTBS - 1) & 4095
		case m.makes("counts too much"):
			f.FCTBS = (f.FCTBS + 300) & 4095 // more than the packets since whose VCRC begins a block
		case m.makes("offers too much"):
			f.FCCL = (l.abr + 2300) & 4095
		case m.makes("takes back"):
			f.FCCL = (f.FCCL - 2000) & 4095
		case m.makes("reserved operand"):
			f.Op = 7
		case m.makes("lane 15"):
			f.VL = 15
		case f.FCTBS != 0 && m.makes("begins again"):
			f.Op = link.Init
		}
	}
	b := f.Append(nil)
	e := link.Event{Kind: link.Packet, Size: len(b)}
	lost := p.op == link.Normal && m.rng.IntN(300) == 0 && m.fault == ""
	if lost {
		b[1] ^= 1
	}
	lost = lost || f.Op > link.Init || f.VL == 15
	e.FC, _ = link.DecodeFlowControl(b)
	// The other port does as if it had been right.
	m.put(i, flight{fc: right, vl: vl, lost: lost}, e)
}
