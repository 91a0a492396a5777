package agent

import (
	"math"

	"ibwitness/cq"
	"ibwitness/hcaagent"
	"ibwitness/packet"
	"ibwitness/rule"
)

// events is the half of the engine that knows verbs events, made with the first log or event.
func (e *engine) events() *completions {
	if e.completions == nil {
		e.completions = newCompletions(e.opt.Near)
		e.completions.queues.Lossy = e.shards[0].t.table.Lossy
		e.completions.queues.Unordered = e.opt.Unordered
		if e.changing {
			e.completions.rec.Follow()
		}
	}
	return e.completions
}

// logs takes over the logs of a run, before the first packet.
func (e *engine) logs() {
	if e.opt.Watch == nil {
		var tooFine []*hcaagent.Log
		e.src, tooFine = finerThan(e.src, e.opt.Events)
		for _, l := range tooFine {
			l.Exact, l.Finer = false, true
		}
	}
	for _, l := range e.opt.Events {
		c := e.events()
		c.logs.add(l)
		c.sources = append(c.sources, c.queues.Source(l.Name, l.Addr, l.Exact))
		e.addSource(l.Addr, l.Exact)
	}
}

func (e *engine) addSource(addr packet.Addr, exact bool) {
	for _, s := range e.shards {
		s.t.addSource(addr, exact)
	}
}

// event takes an event of the device that its QP.Addr names, in the order of packets and events: its clock is that of the packets.
func (e *engine) event(v *cq.Event) { e.sourceEvent(e.device(v.QP.Addr), v) }

// device returns the source of events of a device, whose clock is that of the packets.
func (e *engine) device(addr packet.Addr) int {
	n, isNew := e.events().device(addr)
	if isNew {
		e.addSource(addr, true)
	}
	return n
}

// sourceEvent takes an event of a source.
func (e *engine) sourceEvent(source int, v *cq.Event) {
	for _, s := range e.shards {
		s.t.sourceEvent(source, v)
	}
	e.completions.event(source, v)
}

// eventsUpTo takes the events of the logs that come before a packet of time now. No packet is being verified meanwhile.
func (e *engine) eventsUpTo(now int64) {
	if e.completions == nil || len(e.completions.logs.list) == 0 || now < e.completions.logs.next {
		return
	}
	list := e.completions.logs.upTo(now)
	for i := range list {
		v := &list[i]
		for _, s := range e.shards {
			s.t.sourceEvent(v.log, v.Event)
		}
		e.completions.logged(v)
	}
	e.completions.logs.again(list)
}

// advance says that no packet and no event comes before a time.
func (e *engine) advance(now int64) {
	if e.completions != nil {
		e.eventsUpTo(now)
		e.completions.queues.Advance(now)
	}
}

// judgeEvents holds work requests and completions against the packets, at the end.
func (e *engine) judgeEvents(end int64) {
	c := e.completions
	if c == nil {
		return
	}
	e.eventsUpTo(math.MaxInt64)
	for i, l := range c.logs.list {
		c.sources[i].End(l.Complete, l.Cut)
		for _, s := range e.shards {
			s.t.states.End(i, l.newest, l.Cut)
		}
	}
	c.queues.Finish(end)
}

// takeEvents hands over what was found with events before a time.
func (e *engine) takeEvents(before int64) []rule.Finding {
	if e.completions == nil {
		return nil
	}
	list := e.completions.take(before)
	t := e.shards[0].t
	for i := range list {
		t.node(&list[i].Accused)
		t.node(&list[i].Peer)
	}
	return list
}

// Event takes a verbs event of the device that its QP.Addr names, in the order of packets and events: its clock is that of the packets. It is for an agent
// that is used by itself; Session and Run take events beside theirs.
func (t *Transport) Event(v *cq.Event) {
	if t.own == nil {
		t.own = newCompletions(t.table.NearEnds())
		t.own.queues.Lossy = t.table.Lossy
	}
	n, isNew := t.own.device(v.QP.Addr)
	if isNew {
		t.addSource(v.QP.Addr, true)
	}
	t.sourceEvent(n, v)
	t.own.event(n, v)
}

// finishOwn judges what is open of work requests and completions that the agent has taken itself.
func (t *Transport) finishOwn(end int64) {
	if t.own == nil {
		return
	}
	if t.table.Lossy {
		t.own.incomplete()
	}
	t.own.queues.Finish(end)
	t.Rec.Findings = append(t.Rec.Findings, t.own.take(math.MaxInt64)...)
	for i, n := range t.own.rec.Cover {
		t.Rec.Cover[i].Add(n)
	}
}
