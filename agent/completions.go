package agent

import (
	"slices"
	"strings"
	"time"

	"ibwitness/agent/internal/connection"
	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier/message"
	"ibwitness/wqe"
)

// completions is the half of a run that knows verbs events: the completion queue agent, and the logs that its events come from. It sees all packets of all
// shards in their order, after the shards have verified them.
type completions struct {
	rec     rule.Recorder
	queues  *cq.Agent
	wire    *message.Verifier // tells it messages
	logs    logs
	sources []*cq.Source        // by number: those of the logs come first
	devices map[packet.Addr]int // those of devices whose events come one by one
	last    uint32              // Seq of the newest finding that was handed out as it was made
}

func newCompletions(near []packet.Addr) *completions {
	c := &completions{devices: map[packet.Addr]int{}}
	ends := map[packet.Addr]bool{}
	for _, a := range near {
		ends[a] = true
	}
	c.queues = cq.New(&c.rec, func(a packet.Addr) bool { return ends[a] })
	c.wire = message.New(c.queues)
	return c
}

// device returns the source of events of a device, whose clock is that of the packets, and whether it is new.
func (c *completions) device(addr packet.Addr) (source int, isNew bool) {
	n, ok := c.devices[addr]
	if !ok {
		n = len(c.sources)
		c.devices[addr] = n
		c.sources = append(c.sources, c.queues.Device(addr))
	}
	return n, !ok
}

// event takes an event of a source.
func (c *completions) event(source int, e *cq.Event) {
	s := c.sources[source]
	s.Named(e.QP.Addr)
	c.queues.Event(s, e)
}

// logged takes an event of a log.
func (c *completions) logged(v *dueEvent) {
	c.sources[v.log].Bound(v.bound)
	c.event(v.log, v.Event)
	if v.last {
		c.sources[v.log].Cut()
	}
}

// packet takes a packet that the shards have verified.
func (c *completions) packet(p *packet.Packet) {
	if !p.Copy {
		c.wire.Packet(p)
	}
}

// clocks returns how the clocks of the logs were aligned.
func (c *completions) clocks() (list []LogClock) {
	if c == nil {
		return nil
	}
	for i, l := range c.logs.list {
		if l.Exact {
			continue
		}
		k := LogClock{Log: l.Name, SetBack: c.sources[i].SetBack(), Finer: l.Finer}
		least, most, ok := c.sources[i].Clock()
		if k.Known = ok; ok {
			k.Ahead, k.Within = time.Duration(least+(most-least)/2), time.Duration((most-least)/2)
		}
		list = append(list, k)
	}
	return list
}

// unseen returns the logs that tell of queue pairs which no packet shows anything of.
func (c *completions) unseen() (list []LogUnseen) {
	if c == nil {
		return nil
	}
	for _, s := range c.sources {
		if log, u := s.Unseen(); u.QPs > 0 {
			list = append(list, LogUnseen{log, u})
		}
	}
	slices.SortFunc(list, func(x, y LogUnseen) int { return strings.Compare(x.Log, y.Log) })
	return list
}

// merge finds the events that come before each packet of a batch. What they say of queue pairs is for the shards; complete takes the rest.
func (e *engine) merge(w *batch) {
	if e.completions == nil {
		return
	}
	e.completions.logs.again(w.events)
	w.events = w.events[:0]
	for i, p := range w.packets {
		e.completions.logs.meet(p)
		for _, v := range e.completions.logs.upTo(p.Time) {
			v.before = i
			w.events = append(w.events, v)
		}
	}
}

// complete takes the packets of a batch, which the shards have verified, and the events among them.
func (e *engine) complete(w *batch) {
	c := e.completions
	if c == nil {
		return
	}
	c.lost(w)
	events := w.events
	for i, p := range w.packets {
		for len(events) > 0 && events[0].before == i {
			c.logged(&events[0])
			events = events[1:]
		}
		c.packet(p)
	}
	e.completed(w)
}

// lost takes over what the capture has lost before the end of a batch.
func (c *completions) lost(w *batch) {
	if w.missed {
		c.queues.Lossy = true // and what was found was told
	} else if w.dropped {
		c.incomplete()
	}
}

// incomplete takes over that the capture has lost packets: nothing is proven by their absence, before or after.
func (c *completions) incomplete() {
	if !c.queues.Lossy {
		c.queues.Lossy = true
		c.rec.Incomplete()
	}
}

// completed hands out what was found with the events of a batch, and takes over what the capture has lost.
func (e *engine) completed(w *batch) {
	c := e.completions
	if w.stepped {
		c.rec.DoubtClock()
	}
	if made := e.shards[0].made; made != nil {
		reportAfter(made, c.rec.Findings, &c.last)
	}
	c.rec.Trim()
}

// ofEvents marks findings of the completion queue agent: on a frame they come after those of the verifiers.
const ofEvents = 1 << 29

// take hands over what was found before a time.
func (c *completions) take(before int64) []rule.Finding {
	list := c.rec.Take(before)
	for i := range list {
		list[i].Seq |= ofEvents
	}
	return list
}

// addSource takes over a source of events, of which the shard is told what they say of queue pairs.
func (t *Transport) addSource(addr packet.Addr, exact bool) {
	if t.states == nil {
		t.states = &cq.States{}
		t.rc.LifeAt, t.ver.Posted, t.ver.Migration = t.states.At, t.states.Posted, t.states.Migration
	}
	t.states.Source(addr, exact)
}

// sourceEvent takes an event of a source, for what it says of a queue pair.
func (t *Transport) sourceEvent(source int, e *cq.Event) {
	if !t.states.Tells(source, e) {
		return
	}
	t.states.Event(source, e)
	if k := e.Kind; (k == cq.EvCreateQP || k == cq.EvModifyQP) && t.states.Reused(source, e.QP.QPN) {
		t.livesAgain(e.QP)
	}
	switch reused := t.states.Reused(source, e.QP.QPN); {
	case e.QP.Addr.IsZero() || e.Failed:
	case e.Kind == cq.EvLost || e.Kind == cq.EvReset:
		t.unknow(e.QP.Addr)
		return
	case e.Kind == cq.EvCreateQP && reused:
		t.table.Unknow(e.QP)
	case e.Kind == cq.EvModifyQP && (e.State == qp.RTS || e.State == qp.RTR) && !reused:
		t.connectable(source, e)
	}
}

// connectable takes over that a queue pair has come to RTR or RTS, with its attributes.
func (t *Transport) connectable(source int, e *cq.Event) {
	attr, ok := t.states.Attr(source, e.QP.QPN)
	if !ok {
		return
	}
	fresh := t.table.IsFresh(e.QP) || e.Attr != nil && e.Attr.Has(qp.KnowsSQPSN)
	if t.table.Attributes(e.QP.Addr, e.QP.QPN, attr); !fresh {
		t.table.Unfresh(e.QP) // it comes back to RTS, and goes on with its PSNs
	}
	if e.State == qp.RTS && fresh && connection.Connects(attr.Service) && t.states.Reborn(source, e.QP.QPN) {
		t.table.Reborn(e.QP)
		t.beside = true
		t.Rec.Doubtful = t.ofAnotherLife
	}
}

const anotherLife = "events tell that the queue pair has had another life, by a clock that is not that of the capture: which packets are of it is not certain"

const lifeUnseen = "events tell that the queue pair has another life, whose first packet was not seen"

// livesAgain takes over that a queue pair has had another life, with PSNs of its own, and that it is not certain which packets are of which.
func (t *Transport) livesAgain(q wqe.QP) {
	if t.lives[q] {
		return
	}
	if t.lives == nil {
		t.lives = map[wqe.QP]bool{}
		t.Rec.Doubtful = t.ofAnotherLife
	}
	t.lives[q] = true
	for i := range t.Rec.Findings {
		if f := &t.Rec.Findings[i]; f.Class == rule.Violation && t.ofAnotherLife(f) != "" {
			t.Rec.Doubt(i, anotherLife)
		}
	}
}

// ofAnotherLife says why a finding that rests on the PSNs before it is not proven.
func (t *Transport) ofAnotherLife(f *rule.Finding) string {
	if sequenced[f.Rule] {
		for _, e := range []*rule.Endpoint{&f.Accused, &f.Peer} {
			switch q := (wqe.QP{Addr: e.Addr, QPN: e.QPN}); {
			case t.lives[q]:
				return anotherLife
			case t.table.IsReborn(q):
				return lifeUnseen
			}
		}
	}
	return ""
}

// sequenced are the rules on the PSNs of a connection and what was sent with them before.
var sequenced = func() (list [rule.NumRules]bool) {
	for _, id := range rule.Rules() {
		for _, family := range []string{"RC-PSN-", "RC-SEQ-", "RC-ACK-", "RC-RSP-", "RC-RES-", "RC-RTY-", "RC-RNR-", "RC-TMO-", "RC-ATM-", "RC-DUP-", "UC-PSN-", "UC-SEQ-"} {
			list[id] = list[id] || strings.HasPrefix(id.String(), family)
		}
	}
	return list
}()
