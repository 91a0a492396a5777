package passive

import (
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/wqe"
)

// key names an exchange by what every message of it carries: the addresses of the two CMs and the communication ID (or SIDR request
// ID) that the active side chose.
type key struct {
	active, passive packet.Addr
	id              uint32
	sidr            bool
}

// phase is how far an exchange has come. Each has a list, oldest first.
type phase uint8

const (
	waiting phase = iota // REQ or SIDR_REQ without its answer, or REP without its REQ
	live                 // connected or resolved
	done                 // over; kept for a while to recognise late repetitions
	phases
)

// exchange is one exchange of CM messages.
type exchange struct {
	key       key
	phase     phase
	half      bool     // only a DREQ was seen
	refused   bool     // by a REJ
	passiveID uint32   // communication ID of the passive side; 0: not known
	asked     uint64   // frame of the REQ; 0: not seen
	tid       uint64   // of the REQ or REP
	early     *mad.REP // a REP that is recorded before its REQ
	since     int64    // when it, or the REP that connected, came
	life      int64    // for how long the REP is retransmitted
	ready     bool     // by an RTU
	service   packet.Service
	serviceID mad.ServiceID
	queue     mad.NVMeQueue
	ends      [2]End
	over      int64 // when it was over, by the agent's clock
	prev      int32
	next      int32
}

// list is a doubly linked list of exchanges; -1 ends it.
type list struct{ head, tail, n int32 }

func (a *Agent) begin(k key, ph phase) int32 {
	i := a.free
	if i >= 0 {
		a.free = a.slots[i].next
	} else {
		a.slots = append(a.slots, exchange{})
		i = int32(len(a.slots) - 1)
	}
	a.slots[i] = exchange{key: k, phase: ph}
	a.byKey[k] = i
	a.link(i, ph)
	return i
}

// become moves an exchange to the end of the list of another phase. What is over is no longer answered for.
func (a *Agent) become(i int32, ph phase) {
	a.unlink(i)
	if ph == done {
		a.slots[i].over = a.now
		a.unlearn(i)
	}
	a.link(i, ph)
}

func (a *Agent) link(i int32, ph phase) {
	x, l := &a.slots[i], &a.lists[ph]
	x.phase, x.prev, x.next = ph, l.tail, -1
	if l.tail >= 0 {
		a.slots[l.tail].next = i
	} else {
		l.head = i
	}
	l.tail = i
	l.n++
}

func (a *Agent) unlink(i int32) {
	x := &a.slots[i]
	l := &a.lists[x.phase]
	if x.prev >= 0 {
		a.slots[x.prev].next = x.next
	} else {
		l.head = x.next
	}
	if x.next >= 0 {
		a.slots[x.next].prev = x.prev
	} else {
		l.tail = x.prev
	}
	l.n--
}

func (a *Agent) drop(i int32) {
	a.unlink(i)
	a.unlearn(i)
	delete(a.byKey, a.slots[i].key)
	a.slots[i] = exchange{next: a.free}
	a.free = i
}

// bound forgets what has been over for long enough, and the oldest exchanges beyond the limits.
func (a *Agent) bound() {
	for l := &a.lists[done]; l.n > 0 && a.now-a.slots[l.head].over > int64(a.opt.Hold); {
		a.drop(l.head)
	}
	for ph, limit := range [phases]int{waiting: a.opt.MaxPending, live: a.opt.MaxLive, done: a.opt.MaxPending} {
		for l := &a.lists[ph]; int(l.n) > limit; {
			a.drop(l.head)
			if ph := phase(ph); ph != done {
				a.stats.Evicted++
			}
		}
	}
}

// learn makes the agent answer for a side of an exchange. An older exchange of the same QP is over: a QP has one connection.
func (a *Agent) learn(p *packet.Packet, i int32, side int) {
	e := &a.slots[i].ends[side]
	qp := wqe.QP{Addr: e.Addr, QPN: e.QPN}
	if ref, ok := a.byQP[qp]; ok && ref>>1 != i {
		old := ref >> 1
		a.become(old, done)
		if !a.slots[old].key.sidr {
			a.tell(p, old, Superseded)
		}
	}
	a.byQP[qp] = i<<1 | int32(side)
}

func (a *Agent) unlearn(i int32) {
	for side := range 2 {
		e := &a.slots[i].ends[side]
		qp := wqe.QP{Addr: e.Addr, QPN: e.QPN}
		if ref, ok := a.byQP[qp]; ok && ref == i<<1|int32(side) {
			delete(a.byQP, qp)
		}
	}
}

// tell adds a fact about an exchange to those that the packet teaches.
func (a *Agent) tell(p *packet.Packet, i int32, k Kind) *Fact {
	x := &a.slots[i]
	a.facts = append(a.facts, Fact{
		Kind: k, Time: p.Time, Frame: p.Frame, Tap: p.Tap,
		Asked: x.asked, Service: x.service, ServiceID: x.serviceID, Queue: x.queue, Ends: x.ends,
	})
	return &a.facts[len(a.facts)-1]
}

// find returns the exchange that a message with these communication IDs belongs to, and which side sent it. An ID of 0 is one that
// the sender of a REJ did not have. Where both hosts have asked, one ID of each may name two exchanges.
func (a *Agent) find(p *packet.Packet, local, remote uint32) (i int32, side int, ok bool) {
	i, mine := a.byKey[key{active: p.Src, passive: p.Dst, id: local}]
	j, theirs := a.byKey[key{active: p.Dst, passive: p.Src, id: remote}]
	switch {
	case mine && a.slots[i].passiveID != 0 && a.slots[i].passiveID == remote:
		return i, 0, true
	case theirs && a.slots[j].peer(local):
		return j, 1, true
	case mine && a.slots[i].peer(remote):
		return i, 0, true
	}
	return 0, 0, false
}

// peer reports whether this may be the passive side's communication ID.
func (x *exchange) peer(id uint32) bool { return x.passiveID == 0 || id == 0 || x.passiveID == id }
