// Package cq is the completion queue agent: it holds the packets of queue pairs against the work requests that verbs events say were
// posted to them, and the completions against the packets. A packet is judged as it comes, a completion when the packets have reached its time, and what is
// missing at its deadline. Where a log has a clock of its own, the order of its events and the packets that they belong to aligns the two as the run goes.
//
// It is the engine's own, without a promise to others, but for the events and completions that packages agent and hcaagent name: these types are kept stable.
package cq

import (
	"math"
	"slices"

	"ibwitness/coverage"
	"ibwitness/expect"
	"ibwitness/internal/slab"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// Agent judges the queue pairs of one or more devices. It has no goroutine and no clock of its own.
type Agent struct {
	rec  *rule.Recorder
	near func(packet.Addr) bool
	// Responses, where not nil, has the newest responses, to be put beside those that should have come.
	Responses Responses
	// Shown counts what completions show of the protocol.
	Shown coverage.Counts
	// Lossy says that the capture lost packets: nothing is proven by their absence.
	Lossy bool
	// Unordered says that events of devices which come one by one come in the order of time, and those of one time in any order, before and after its packets.
	Unordered bool

	sources        []*Source
	live           map[packet.Addr]*Source // of devices whose events come one by one
	lives          []*queuePair            // every life of every queue pair, in the order of their beginning
	mostLives      int                     // of how many on it is looked for those that are gone for long
	flows          map[Flow]*Route
	recent         [64]*Route // of flows, where they were found last
	groupDatagrams []*Message // datagrams to multicast groups
	dropped        []Dropped
	changes        int // counts what may bring a flow to other queue pairs

	sendRequests       slab.Of[sendRequest]
	receives           slab.Of[receive]
	receiveCompletions slab.Of[receiveCompletion]

	generation int // counts what may change which request a packet is of, or what that lets expect

	departed     [64]int // the newest datagrams that depart from their work requests, by their numbers in the capture
	nextDeparted int

	wire      int64           // time up to which the packets have been seen
	stirred   bool            // what is judged by their time may be more than deadlines tell: see Source.awaitsTime
	ended     bool            // nothing more comes
	assumes   rule.Assumption // what findings may rest on that are made of what is judged now
	deadlines deadlines
}

// New returns an agent that reports to rec. near tells which endpoints the tap is near.
func New(rec *rule.Recorder, near func(packet.Addr) bool) *Agent {
	return &Agent{rec: rec, near: near, live: map[packet.Addr]*Source{}, flows: map[Flow]*Route{}}
}

// Source is where events of one device come from, and what they say of it.
type Source struct {
	name        string
	addr        packet.Addr // zero: not known
	exact       bool
	pushed      bool // its events come in the order of time of events and packets
	ordered     bool // also where they have the same time
	cut         bool
	disordered  bool // its times step back, though its clock is that of the packets: their order is not certain
	receives    bool // it tells of receive requests
	ended       bool
	complete    bool  // it tells of all to the end of the run
	n           int   // events so far
	newest      int64 // when the newest of them was
	begun       int64 // time of the packets when the first of them waited
	qps         map[uint32][]*queuePair
	recent      [64]recentQP        // of qps, where they were found last
	toward      map[uint32][]uint32 // by DestQPN, the queue pairs that have had it
	shared      map[wqe.SRQ]*receiveQueue
	regions     map[uint32]*region
	keys        int             // counts changes of what they permit
	opened      [4]openedRegion // of regions, where they were asked for last
	cqs         map[wqe.CQ]*completionQueue
	recentCQs   [16]*completionQueue // of cqs, by their number, where they were asked for last
	mrs         map[wqe.MR]*wqe.Region
	mws         map[wqe.MW]*memoryWindow
	lkeys       map[uint32]*localRegion // by every L_Key that there was, the newest
	ahs         map[wqe.AH]wqe.PD
	limits      qp.Limits
	notices     []*notice
	untold      []untold // of the time of the newest event
	arms        slab.Of[arm]
	rebinds     []rebound
	invalidated map[uint32]bool // keys that messages have invalidated
	uncertain   bool            // a message has not come whole, which may have invalidated one
	handles     map[wqe.AH]*wqe.AddressVector
	content     *content             // nil: the consumer tells nothing of its memory
	lost        bool                 // events are missing
	untoldLKeys bool                 // it tells of a region and not of its L_Key
	untoldRKeys bool                 // or of its R_Key
	joined      bool                 // it began after a queue pair was created, so that it may not tell of all regions either
	received    bool                 // a message has come to one of its queue pairs
	queues      map[wqe.SRQ]wqe.XRCD // shared receive queues that there were, and their domains of XRC
	clock       clock
	unseen      Unseen
}

// recentQP is the lifetimes of a queue pair.
type recentQP struct {
	qpn   uint32
	known bool // list is those of that queue pair
	list  []*queuePair
}

// connects takes over which queue pair another one is connected to.
func (s *Source) connects(q *queuePair) {
	if !q.attr.Has(qp.KnowsDestQPN) {
		return
	}
	if list := s.toward[q.attr.DestQPN]; !slices.Contains(list, q.qpn) {
		s.toward[q.attr.DestQPN] = append(list, q.qpn)
	}
}

// Device returns the source of events of a device, whose clock is that of the packets.
func (a *Agent) Device(addr packet.Addr) *Source {
	s := a.live[addr]
	if s == nil {
		s = a.Source("", addr, true)
		s.pushed, s.ordered = true, !a.Unordered
		a.live[addr] = s
	}
	return s
}

// Call names a source in findings.
func (s *Source) Call(name string) { s.name = name }

// Source begins a source of events, of the device with an address, zero where it is not known. exact says that its clock is that of the packets.
func (a *Agent) Source(name string, addr packet.Addr, exact bool) *Source {
	s := &Source{
		name: name, addr: addr, exact: exact, qps: map[uint32][]*queuePair{}, toward: map[uint32][]uint32{}, shared: map[wqe.SRQ]*receiveQueue{},
		regions: map[uint32]*region{}, cqs: map[wqe.CQ]*completionQueue{}, mrs: map[wqe.MR]*wqe.Region{},
		mws: map[wqe.MW]*memoryWindow{}, lkeys: map[uint32]*localRegion{}, queues: map[wqe.SRQ]wqe.XRCD{}, handles: map[wqe.AH]*wqe.AddressVector{}, ahs: map[wqe.AH]wqe.PD{},
	}
	if s.clock = (clock{lo: math.MinInt64, hi: math.MaxInt64, bound: math.MaxInt64, slack: slackBase}); exact {
		s.clock = clock{exact: true, trust: true}
	}
	a.sources = append(a.sources, s)
	return s
}

// Event takes the next event of a source.
func (a *Agent) Event(s *Source, e *Event) {
	if !sound(e) {
		return
	}
	s.n++
	a.generation++
	a.assumes, a.stirred = 0, true
	if s.exact && e.Time < s.newest && !s.disordered {
		a.disorder(s)
	}
	if e.Time > s.newest {
		a.timeOver(s)
	}
	s.newest = max(s.newest, e.Time)
	s.clock.drifts(e.Time)
	a.take(s, e)
	for _, q := range s.lifetimes(e.QP.QPN) {
		if e.Kind != EvPostSend && e.Kind != EvPostReceive {
			q.events++
		}
		a.step(q)
	}
	if len(a.lives) > a.mostLives {
		a.retireLives()
		a.mostLives = 2*len(a.lives) + kept
	}
}

// take hands an event to what it is about.
func (a *Agent) take(s *Source, e *Event) {
	switch e.Kind {
	case EvCreateQP:
		a.createQP(s, e)
	case EvModifyQP:
		a.modifyQP(s, e)
	case EvQueryQP:
		a.queryQP(s, e)
	case EvDestroyQP:
		a.destroyQP(s, e)
	case EvRegisterMR, EvAllocateMW, EvDeregisterMR, EvDeallocateMW:
		a.regionEvent(s, e)
	case EvPostSend:
		a.postSend(s, e)
	case EvPostReceive:
		a.postReceive(s, e)
	case EvCompletion:
		a.completion(s, e)
	case EvArm, EvNotify, EvEmpty, EvCreateCQ, EvResizeCQ, EvDestroyCQ:
		a.notification(s, e)
	case EvAsync:
		a.async(s, e)
	case EvLost:
		a.lostEvents(s)
	case EvReset:
		a.Reset(s.addr, e.Time)
	default:
		a.otherEvent(s, e)
	}
}

// step judges what has become certain of a queue pair.
func (a *Agent) step(q *queuePair) {
	a.assumes = 0
	a.sent(q)
	a.arrive(q)
	a.sample(q)
	a.answeredFences(q)
	a.settle(q)
	a.received(q)
	a.dropFails(q)
	a.solicited(q.src)
	a.accepted(q)
	a.notReady(q)
	if r := &q.receiving; r.answers != q.in.answers || a.ended {
		r.answers = q.in.answers
		a.executed(q)
		a.storedBy(q)
	}
	a.sharedNamed(q)
	a.uncompleted(q)
	a.uncompletedReceive(q)
	a.undrained(q)
	a.judgeDue(q)
	a.retire(q)
}

// Named says which device a source is of, where that was not known when it began.
func (s *Source) Named(addr packet.Addr) {
	if s.addr.IsZero() {
		s.addr = addr
	}
}

// Cut says that the log of a source breaks off after the events so far: what was posted later is not known.
func (s *Source) Cut() { s.cut = true }

// End says that a source has no more events. complete says that it tells of all to the end of the run, cut that its log breaks off in its last line.
func (s *Source) End(complete, cut bool) { s.ended, s.complete, s.cut = true, complete, cut }

// sound reports whether an event has what its kind needs.
func sound(e *Event) bool {
	switch e.Kind {
	case EvCreateQP:
		return e.New != nil
	case EvPostSend:
		return e.Send != nil
	case EvPostReceive:
		return e.Receive != nil
	case EvCompletion:
		return e.Completion != nil
	case EvDevice:
		return e.Device != nil
	}
	return true
}

// qp is the newest life of a queue pair. One that the log did not create begins with its first event.
func (a *Agent) qp(s *Source, n uint32) *queuePair {
	if list := s.lifetimes(n); len(list) > 0 {
		return list[len(list)-1]
	}
	return nil
}

// lifetimes are those of a queue pair, the newest last.
func (s *Source) lifetimes(n uint32) []*queuePair {
	r := &s.recent[n%uint32(len(s.recent))]
	if !r.known || r.qpn != n {
		*r = recentQP{n, true, s.qps[n]}
	}
	return r.list
}

// setLifetimes sets them.
func (s *Source) setLifetimes(n uint32, list []*queuePair) {
	s.recent[n%uint32(len(s.recent))] = recentQP{}
	if s.qps[n] = list; len(list) == 0 {
		delete(s.qps, n)
	}
}

// verdict is one finding in the making.
type verdict struct {
	rule.Verdict
	at    PacketRef // the packet that shows it; if none, only the event does
	event *Event
	// expects says what the response at should have been; nil: no field of it is wrong.
	expects func(*expect.Expected)
	payload []byte // of that response, where it is known
}

// accuse makes a finding against a queue pair.
func (a *Agent) accuse(q *queuePair, v verdict) {
	f := rule.Finding{
		Rule: v.Rule, Class: v.Class, Time: v.at.Time, Tap: v.at.Tap, Frame: v.at.Frame, Evidence: v.Evidence,
		Expected: v.Expected, Actual: v.Actual, Detail: v.Detail,
		Accused: rule.Endpoint{Role: v.Role, Addr: q.addr(), QPN: q.qpn, QPNKnown: true},
		Peer:    rule.Endpoint{Addr: q.attr.DestAddr, QPN: q.attr.DestQPN, QPNKnown: q.attr.Has(qp.KnowsDestQPN)},
	}
	if (v.Comparison != nil || v.expects != nil) && a.rec.Compares(v.Rule, v.Class, f.Accused.Addr, f.Peer.Addr, f.Time) {
		if f.Comparison = v.Comparison; v.expects != nil {
			f.Comparison = a.compareResponse(v.at, v.payload, v.expects)
		}
	}
	if v.at.Seen() {
		f.Service, f.Opcode, f.HasBTH, f.PSN = v.at.Op.Service(), v.at.Op, true, v.at.PSN
	}
	if v.event != nil {
		f.Log, f.Line = q.src.name, v.event.Line
		if !v.at.Seen() {
			f.Time = q.src.onWire(v.event.Time)
		}
	}
	if q.doubtful() {
		doubts(&f, eventsLost)
	}
	if f.Assumes = a.assumes; a.Lossy && f.Assumes != 0 {
		doubts(&f, rule.PacketsLost)
	}
	a.add(q.src, f)
}

const stepsBack = "the times of the events step back, so that their order is not certain"

// disorder takes over that the events of a source are not in their order: nothing is proven by it, before or after.
func (a *Agent) disorder(s *Source) {
	s.disordered = true
	for i := range a.rec.Findings {
		if f := &a.rec.Findings[i]; f.Class == rule.Violation && f.Accused.Addr == s.addr {
			a.rec.Doubt(i, stepsBack)
		}
	}
}

// add makes a finding against a device.
func (a *Agent) add(s *Source, f rule.Finding) {
	if s.disordered {
		doubts(&f, stepsBack)
	}
	a.rec.Add(f)
}

func (a *Agent) covered(id rule.ID) { a.rec.Cover[id].Exercised++ }

// Finish judges what is still open. end is the time of the last packet.
func (a *Agent) Finish(end int64) {
	for _, q := range a.lives {
		q.out.finish()
		q.in.finish()
	}
	a.wire, a.ended = end, true
	for _, s := range a.sources {
		a.timeOver(s)
		s.clock.ended = true
		s.clock.judge()
	}
	for _, s := range a.sources {
		a.boundAgain(s)
	}
	for _, q := range a.lives {
		a.step(q)
		a.conclude(q)
	}
	for _, s := range a.sources {
		a.solicited(s)
		a.contents(s)
	}
}
