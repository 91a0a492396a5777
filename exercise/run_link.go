package exercise

import (
	"fmt"

	"ibwitness/fabricagent/sim"
	"ibwitness/link"
	"ibwitness/packet"
)

// mostWaiting is how many packets of a stream wait in the port; then the stream waits.
const mostWaiting = 8

// The times after which the exerciser's port comes from one state to the next, a little later than those of the simulated link.
const (
	training = 10_000
	later    = 1000
)

// linkRun is a run on a native link.
type linkRun struct {
	*Run
	wire  *sim.Link
	hand  *sim.Hand
	port  *port
	agent *endNode
	free  int64             // when what is being sent has been sent
	epoch int               // how often the link was down
	send  func(data []byte) // of the partner
}

// onLink has the run be on a simulated native link.
func (r *Run) onLink() error {
	opt := r.Link.LinkOptions
	opt.Seed, opt.Number = r.Seed, 1
	wire, err := sim.NewLink(r.clock, opt)
	if err != nil {
		return fmt.Errorf("exercise: %w", err)
	}
	l := &linkRun{Run: r, wire: wire}
	lanes := max(opt.Lanes, 1)
	interval := int64(65536*3/4) * int64(defaultSymbol(opt.Symbol)) / 1000
	l.port = newPort(lanes, &r.Link.Exerciser, interval)
	sources := [2]source{{addr: permissive, lanes: lanes}, {addr: packet.LIDAddr(r.Link.Partner), lanes: lanes, rate: uint64(wire.ByteRate()) * 8e6}}
	if lid := r.Link.Exerciser.LID; lid != 0 {
		sources[0].addr = packet.LIDAddr(lid)
	} else if l.agent, err = newEndNode(); err != nil {
		return fmt.Errorf("exercise: %w", err)
	}
	r.machine, r.link, r.tick, r.quiet = newMachine(r.Script, sources, training+later), l, l.tick, 2*interval
	r.idle = func() bool { return !l.port.waits() && !wire.Waits() }
	for _, sink := range []sim.Sink{r.Source, r.ring} {
		if err := wire.TapEnd(wire.Addr(0), "exerciser", sink); err != nil {
			return fmt.Errorf("exercise: %w", err)
		}
	}
	l.hand = wire.Hand(0, l.receive)
	l.send = wire.Attach(1, l.partnerTakes)
	l.up()
	return nil
}

// defaultSymbol is how long a symbol takes where the script does not say.
func defaultSymbol(s uint16) uint16 {
	if s == 0 {
		return 4000
	}
	return s
}

// up brings the link up.
func (l *linkRun) up() {
	l.wire.Up()
	epoch := l.epoch
	for s := initialize; s <= active; s++ {
		l.clock.After(training*int64(s)+later, func() {
			if l.epoch == epoch && l.port.state < s {
				l.port.become(l.now(), s)
				l.tick()
			}
		})
	}
}

// down takes the link down.
func (l *linkRun) down() {
	l.epoch++
	l.port.become(l.now(), down)
	l.wire.Down()
}

// deadline is when the port is to be asked again: not while it sends.
func (l *linkRun) deadline() int64 { return max(l.port.deadline(), l.free) }

// tick does what is due, and has the port send what it may.
func (l *linkRun) tick() {
	now := l.now()
	for {
		l.hold()
		a, ok := l.machine.Step(now)
		if !ok {
			break
		}
		l.do(&a)
	}
	if now >= l.free {
		if o := l.port.next(now); o != nil {
			l.free = l.hand.Put(o.kind, o.mark, o.data) - Epoch
			l.clock.After(l.free-now, l.tick)
		}
	}
	l.due()
}

// hold has streams wait of which many packets wait.
func (l *linkRun) hold() {
	for _, p := range l.machine.players {
		p.held = !p.Partner && l.port.waiting(p) >= mostWaiting
	}
}

// do does what a stream says.
func (l *linkRun) do(a *Action) {
	switch {
	case a.Link == LinkDown:
		l.down()
	case a.Link == LinkUp:
		l.up()
	case a.Sink != nil:
		l.port.change(a.Sink)
	case a.Partner:
		l.send(a.Data)
	default:
		o := &out{kind: link.Data, mark: a.Packet.mark(), data: a.Data, vl: a.VL, ignore: a.Packet.Ignore, early: a.Packet.Early, of: l.machine.player(a.Stream)}
		if a.Packet.Form == flow {
			o.kind, o.flow, o.lpcrc = link.Packet, &a.Packet.Flow, a.Packet.VCRC
		} else if a.Packet.Link {
			o.kind = link.Packet
		}
		l.port.send(o)
	}
}

// receive takes what comes to the exerciser's port.
func (l *linkRun) receive(k link.Kind, m link.Mark, data []byte) {
	now := l.now()
	h := hear(k, m, data)
	l.heard.count(h)
	l.port.hear(now, h)
	if l.agent != nil {
		l.agentTakes(now, h)
	}
	l.machine.Hear(now, false, h)
	l.tick()
}

// partnerTakes takes what the partner's port has passed on to it.
func (l *linkRun) partnerTakes(data []byte) {
	l.machine.Hear(l.now(), true, hear(link.Data, link.Mark{}, data))
	l.call(l.machine.Next())
}

// agentTakes gives the port the LID that a subnet manager sets, and answers it.
func (l *linkRun) agentTakes(now int64, h *Heard) {
	if l.port.state < initialize || h.Packet == nil || h.Mark.Bad {
		return
	}
	answer := l.agent.take(now, h.Packet)
	if lid := l.agent.lid(); lid != 0 {
		l.machine.sources[0].addr = packet.LIDAddr(lid)
	}
	if answer != nil {
		l.port.send(&out{kind: link.Data, data: answer, vl: answer[0] >> 4})
	}
}

// player is that of a stream.
func (m *Machine) player(s *Stream) *player {
	for _, p := range m.players {
		if p.Stream == s {
			return p
		}
	}
	return nil
}
