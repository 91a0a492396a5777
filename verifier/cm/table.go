package cm

import (
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/qp"
)

// key names an exchange by what each of its messages carries: the addresses of the two sides, and the communication ID (or request ID)
// that the active side chose.
type key struct {
	active, passive packet.Addr
	id              uint32
	sidr            bool
}

// tidKey names an exchange by the transaction of its REQ.
type tidKey struct {
	active, passive packet.Addr
	tid             uint64
}

// serviceKey names the newest exchange in which a host asked another one for a service.
type serviceKey struct {
	active, passive packet.Addr
	id              mad.ServiceID
}

// qpKey names a queue pair towards a host. What one host does with a number towards another one may be in another shard.
type qpKey struct {
	addr, peer packet.Addr
	qpn        uint32
}

// delayKey names a channel adapter towards a host.
type delayKey struct {
	guid uint64
	peer packet.Addr
}

// The sides of an exchange.
const (
	active  = 0
	passive = 1
)

var sideNames = [2]string{"active", "passive"}

// sending is one message, retransmitted until it is answered.
type sending struct {
	tid, digest uint64
	before      uint64 // transaction of the DREQ that the side had sent before it
	time, first int64  // of the newest and the first of them
	timer       int64  // of the newest that was not sent because the other side gave cause
	frame       uint64
	psn         packet.PSN
	tap, ipid   uint16
	times       uint16 // 0: not seen
	again       uint16 // how many more there were, which the other side gave cause for
	cut         bool
	others      uint8 // how many DREQs of other transactions the side had sent before it, up to 2
	excused     uint8 // how often the other side gave cause to retransmit it
	answered    bool
}

// sent reports whether it was sent at all.
func (s *sending) sent() bool { return s.times != 0 }

// seen is where and when something was seen; zero: not.
type seen struct {
	time  int64
	frame uint64
}

func (s seen) happened() bool { return s != seen{} }

// misnamed is the newest message of an exchange that named a wrong ID; frame 0: none.
type misnamed struct {
	tid, frame uint64
	side       int
}

// repeats reports whether a message of side with a transaction repeats the wrong IDs of what it answers.
func (n misnamed) repeats(tid uint64, side int) bool {
	return n != misnamed{} && n.tid == tid && n.side != side
}

// exchange is one exchange of messages, of both sides.
type exchange struct {
	key        key
	gen        uint32
	prev, next int32

	ids     [2]uint32 // communication IDs; 0: not known
	qpn     [2]uint32
	used    [2]uint32 // the QPN that the traffic shows in place of qpn; 0: that one
	guid    [2]uint64
	timeout [2]int64 // for how long the side may take for an answer, ns; 0: not known
	near    [2]bool

	asked     bool // the REQ was seen
	tid       uint64
	was       uint64 // transaction of the exchange before it that had the same ID; 0: none
	service   mad.Transport
	retries   int // repetitions that the REQ allows
	resources uint8
	psn       [2]packet.PSN // that the REQ and the REP name
	counts    [2]uint8      // retry and RNR retry counts that they name
	ackCode   uint8         // local ACK timeout of the primary path
	delay     uint8         // target ACK delay
	failover  bool          // an alternate path was given
	pkey      uint16
	serviceID mad.ServiceID
	rival     bool      // there is another exchange for which the passive side may leave the REQ of this one unanswered; of SIDR, one before the one of was
	anew      bool      // another attempt had the same transaction and ID: what comes may be of that
	stale     [2]uint64 // frame that connected the QP of the side, which is connected still
	lapper    int       // side that sent the newest LAP
	misnamed  misnamed

	req, rep, lap sending
	dreq          [2]sending
	mra           [2]seen // the newest MRA of the side
	mraTimeout    [2]int64
	rtu           seen
	early         seen // an RTU before the REP
	earlyPSN      packet.PSN
	earlyTap      uint16
	drep          [2]seen
	unasked       [2]*deadline // of a DREP in front of which no DREQ was seen
	reject        seen
	rejecter      int
	gaveUp        bool   // the active side sent it, and the passive side has answered nothing
	hops          uint8  // hop limit (IPv4 TTL) of the REQ
	station       uint64 // Ethernet address that the REQ went to; 0: not known
	came, went    uint64 // those that the REQ came from, and the first REP went to
	resolved      int64  // when a SIDR_REP answered the SIDR_REQ; 0: none did
	told          told
}

// told is what was reported of an exchange, or of one of its sides: once is enough.
type told uint16

const (
	toldAnswer told = 1 << iota
	toldAfterMRA
	toldRejected
	toldEarly
	toldSilent // 2 bits, by side
	_
	toldWait // 2 bits, by side
	_
	toldRedirected
)

func (x *exchange) once(t told) bool {
	first := x.told&t == 0
	x.told |= t
	return first
}

func (x *exchange) addr(side int) packet.Addr {
	if side == active {
		return x.key.active
	}
	return x.key.passive
}

// over reports whether the exchange has ended, and when.
func (x *exchange) over() (int64, bool) {
	t := max(x.reject.time, x.drep[0].time, x.drep[1].time)
	return t, t > 0
}

// disconnecting reports whether a side has asked for the end.
func (x *exchange) disconnecting() bool { return x.dreq[active].sent() || x.dreq[passive].sent() }

// life is for how long a side sends a message, again and again, before it gives up; 0: not known.
func (x *exchange) life(side int) int64 { return int64(x.retries+1) * lenient(x.timeout[1-side]) }

// older reports whether a message belongs to the exchange that had the same communication ID before.
func (x *exchange) older(m *message) bool { return x.was != 0 && m.h.TID == x.was }

func (v *Verifier) begin(k key) *exchange {
	i := v.free
	if i >= 0 {
		v.free = v.slots[i].next
	} else {
		v.slots = append(v.slots, exchange{})
		i = int32(len(v.slots) - 1)
	}
	v.slots[i] = exchange{key: k, gen: v.slots[i].gen + 1, ids: [2]uint32{k.id}}
	v.byID[k] = i
	v.link(i)
	v.n++
	return &v.slots[i]
}

func (v *Verifier) link(i int32) {
	x := &v.slots[i]
	x.prev, x.next = v.newest, -1
	if v.newest >= 0 {
		v.slots[v.newest].next = i
	} else {
		v.oldest = i
	}
	v.newest = i
}

func (v *Verifier) unlink(i int32) {
	x := &v.slots[i]
	if x.prev >= 0 {
		v.slots[x.prev].next = x.next
	} else {
		v.oldest = x.next
	}
	if x.next >= 0 {
		v.slots[x.next].prev = x.prev
	} else {
		v.newest = x.prev
	}
}

// index is the slot of an exchange.
func (v *Verifier) index(x *exchange) int32 { return v.byID[x.key] }

// touch makes an exchange the newest.
func (v *Verifier) touch(x *exchange) {
	i := v.index(x)
	v.unlink(i)
	v.link(i)
}

func (v *Verifier) drop(i int32) {
	x := &v.slots[i]
	v.unlink(i)
	delete(v.byID, x.key)
	if k := (tidKey{x.key.active, x.key.passive, x.tid}); v.byTID[k] == i {
		delete(v.byTID, k)
	}
	if k := x.asks(); v.byService[k] == i {
		delete(v.byService, k)
	}
	for side := range 2 {
		k := x.qp(side)
		for _, k.qpn = range [...]uint32{x.qpn[side], x.used[side]} {
			if ref, ok := v.byQP[k]; ok && ref>>1 == i {
				delete(v.byQP, k)
			}
		}
		v.unanswerable(i, x, side, x.dreq[side].tid)
		v.unanswerable(i, x, side, x.dreq[side].before)
		v.unanswerable(i, x, side, x.lap.tid)
	}
	v.slots[i] = exchange{gen: x.gen + 1, next: v.free}
	v.free = i
	v.n--
}

// answerable notes that side sends a DREQ or LAP, which an answer is expected to.
func (v *Verifier) answerable(x *exchange, side int, tid uint64) {
	v.byEnd[tidKey{x.addr(side), x.addr(1 - side), tid}] = v.index(x)<<1 | int32(side)
}

// unanswerable forgets a DREQ or LAP of the exchange at index i.
func (v *Verifier) unanswerable(i int32, x *exchange, side int, tid uint64) {
	k := tidKey{x.addr(side), x.addr(1 - side), tid}
	if ref, ok := v.byEnd[k]; ok && ref>>1 == i {
		delete(v.byEnd, k)
	}
}

func (x *exchange) asks() serviceKey { return serviceKey{x.key.active, x.key.passive, x.serviceID} }

func (x *exchange) qp(side int) qpKey { return qpKey{x.addr(side), x.addr(1 - side), x.qpn[side]} }

// bound forgets the oldest exchanges beyond the limit.
func (v *Verifier) bound() {
	for v.n > maxExchanges {
		v.atEnd(&v.slots[v.oldest])
		v.drop(v.oldest)
		v.stats.Evicted++
	}
}

// expire forgets, from the oldest on, what has been over for long enough.
func (v *Verifier) expire() {
	for v.oldest >= 0 {
		x := &v.slots[v.oldest]
		t, over := x.over()
		if x.key.sidr {
			t, over = x.req.time, true
		}
		if !over || v.now-t <= hold {
			return
		}
		v.atEnd(x)
		v.drop(v.oldest)
	}
}

// find returns the exchange that a message with these communication IDs belongs to, and which side sent it; nil: none that is known. agrees is
// false where one of the IDs is not that of the exchange.
func (v *Verifier) find(m *message, local, remote uint32) (x *exchange, side int, agrees bool) {
	i, isActive := v.byID[key{active: m.Src, passive: m.Dst, id: local}]
	j, isPassive := v.byID[key{active: m.Dst, passive: m.Src, id: remote}]
	isPassive = isPassive && !(v.slots[j].ids[passive] == 0 && whileConnected(m.h.Attribute))
	other := local // the communication ID of the passive side
	switch {
	case isActive && (!isPassive || v.slots[i].ids[passive] == remote && !v.follows(j, i, local)):
		x, side, other = &v.slots[i], active, remote
	case isPassive: // where both sides have asked, who has no answer names no ID
		x, side = &v.slots[j], passive
	default:
		return nil, 0, false
	}
	v.touch(x)
	x.noteTap(m, side)
	none := other == 0 && (side == passive || m.h.Attribute == mad.AttrREJ) // the passive side may not have chosen one
	return x, side, x.ids[passive] == 0 || none || x.ids[passive] == other
}

// follows reports whether a message with the communication ID id is of exchange j, whose passive side sent it, rather than of the older exchange i.
func (v *Verifier) follows(j, i int32, id uint32) bool {
	x, y := &v.slots[j], &v.slots[i]
	_, over := y.over()
	return (x.ids[passive] == id || x.ids[passive] == 0 && over) && max(x.req.first, x.rep.first) > max(y.req.first, y.rep.first)
}

// noteTap notes which of the two sides the tap is near.
func (x *exchange) noteTap(m *message, side int) {
	x.near[side] = m.sees[sender]
	x.near[1-side] = m.sees[receiver]
}

// disorder is how much before m, which it answers, a message of a side may be recorded that was seen at a tap.
func (x *exchange) disorder(side int, tap uint16, m *message) int64 {
	if x.near[side] && tap == m.Tap {
		return nearby
	}
	return slack
}

// connection returns the connection that the exchange made, while it is known.
func (v *Verifier) connection(x *exchange) (*qp.Pair, int, bool) {
	c, end, ok := v.Traffic(qpOf(x, active))
	ok = ok && x.hasQPN(passive, c.Ends[1-end].Number) && c.Ends[1-end].Addr == x.key.passive
	return c, end, ok
}
