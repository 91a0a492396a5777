package cm

import (
	"ibwitness/mad"
	"ibwitness/packet"
)

// Waits is what an exchange waits for, or waited for.
type Waits uint8

// What exchanges wait for.
const (
	ForREP     Waits = iota // the REQ was sent: no REP, REJ or MRA was seen, nor an RTU, which comes after one
	ForLate                 // the answer to the REQ, which came after several of it only
	ForRTU                  // the REP was sent, several times: none was seen, or those that were did not reach the passive side
	ForDREP                 // the DREQ was sent, several times
	ForRefusal              // a REJ of the passive side, which came after several REQs only
	ForAccept               // the REQ was sent, several times, and an MRA asked for more time: no REP or REJ was seen, nor an RTU
	ForGaveUp               // the REQ was sent, and the side that sent it gave up (REJ): no REP, REJ or MRA was seen, nor an RTU
	ForSecond               // the answer to the REQ, which came after the second of it only
	mostOften  = 3          // from how many of a message on it is told that was answered in the end, or that another one does not end
)

// Unanswered is a message that nothing has answered, or nothing for long.
type Unanswered struct {
	Waits       Waits
	SIDR        bool // the request is a SIDR_REQ, which asks for a queue pair of UD
	From, To    packet.Addr
	QPN         uint32 // of From: packets to it show that a REQ was answered, and such from it or to it that an RTU was needless; 0: not known
	Service     mad.ServiceID
	Times       uint16 // how many times it was sent
	First, Last int64  // when, nanoseconds since the Unix epoch
	Wait        int64  // for how long the other side may take, nanoseconds; 0: not known
	Tap         uint16
	Frame       uint64 // of the newest
	Station     uint64 // of a REQ, the Ethernet address that the first went to; 0: not known
	HopLimit    uint8  // of a REQ, that of IP, as the tap saw it; 0: not known
	// When the wait ended, and the frame: with an answer, or with a REJ of From; 0: it did not.
	End      int64
	EndFrame uint64
	RTU      uint64 // frame of the newest RTU, which did not end it; 0: none was seen
	// Of ForRTU, how many times the REQ was sent, and the frame of the newest, where that came long after the first REP: it shows that the REP had no effect. 0: it did not.
	REQs uint16
	REQ  uint64
	// Of ForRTU, the Ethernet addresses that the REQ came from and the first REP went to, where these differ at one tap; 0: they do not, or are not
	// known. Beside is another host to which packets of From go to Came, where none of From go to Went but to To; zero: there is none.
	Came, Went uint64
	Beside     packet.Addr
	// Of ForAccept, when the newest MRA came, its frame, and for how long it asks, nanoseconds.
	MRA      int64
	MRAFrame uint64
	More     int64
}

// Unanswered returns the messages of the exchanges that are followed which nothing has answered.
func (v *Verifier) Unanswered() (list []Unanswered) {
	for i := v.oldest; i >= 0; i = v.slots[i].next {
		x := &v.slots[i]
		if x.asked {
			list = x.waitREQ(list)
			list = x.waitRTU(list)
		}
		for side := range x.dreq {
			if s := &x.dreq[side]; s.times > 1 && !x.drep[1-side].happened() && !x.dreq[1-side].sent() {
				list = append(list, x.waiter(ForDREP, side, s))
			}
		}
	}
	return list
}

// waiter is a message of a side that waits.
func (x *exchange) waiter(w Waits, side int, s *sending) Unanswered {
	return Unanswered{
		Waits: w, SIDR: x.key.sidr, From: x.addr(side), To: x.addr(1 - side), QPN: x.qpn[side], Service: x.serviceID, Times: s.times, First: s.first, Last: s.time, Wait: x.timeout[1-side],
		Tap: s.tap, Frame: s.frame, Station: x.station, HopLimit: x.hops,
	}
}

// waitREQ adds the REQ of an exchange that has no answer, or has had none for long.
func (x *exchange) waitREQ(list []Unanswered) []Unanswered {
	switch {
	case !x.req.sent():
	case x.mra[passive].happened():
		return x.waitAccept(list)
	case !x.req.answered && !x.rep.sent() && !x.reject.happened() && !x.rtu.happened() && !x.early.happened():
		list = append(list, x.waiter(ForREP, active, &x.req))
	case x.gaveUp && !x.rep.sent() && !x.rtu.happened() && !x.early.happened() && !x.anew:
		u := x.waiter(ForGaveUp, active, &x.req)
		u.Times += x.req.again
		u.End, u.EndFrame = x.reject.time, x.reject.frame
		list = append(list, u)
	case x.req.times >= mostOften && x.rep.sent() && x.rep.first > x.req.time && !x.anew:
		u := x.waiter(ForLate, active, &x.req)
		u.End, u.EndFrame = x.rep.first, x.rep.frame
		list = append(list, u)
	case x.req.times == 2 && x.rep.sent() && x.rep.first > x.req.time && !x.anew:
		u := x.waiter(ForSecond, active, &x.req)
		u.End, u.EndFrame = x.rep.first, x.rep.frame
		list = append(list, u)
	case x.req.times >= mostOften && !x.rep.sent() && x.reject.happened() && x.rejecter == passive && x.reject.time > x.req.time && !x.anew:
		u := x.waiter(ForRefusal, active, &x.req)
		u.End, u.EndFrame = x.reject.time, x.reject.frame
		list = append(list, u)
	}
	return list
}

// waitAccept adds the REQ of an exchange that was retransmitted, and to which only an MRA has come.
func (x *exchange) waitAccept(list []Unanswered) []Unanswered {
	if x.req.times+x.req.again < 2 || x.rep.sent() || x.reject.happened() || x.rtu.happened() || x.early.happened() || x.anew || x.mra[active].happened() {
		return list
	}
	u := x.waiter(ForAccept, active, &x.req)
	u.Times += x.req.again
	u.MRA, u.MRAFrame, u.More = x.mra[passive].time, x.mra[passive].frame, x.mraTimeout[passive]
	return append(list, u)
}

// waitRTU adds the REP of an exchange that no RTU ends.
func (x *exchange) waitRTU(list []Unanswered) []Unanswered {
	again := x.rep.times
	if !x.rtu.happened() {
		again += x.rep.again
	}
	if again < mostOften || x.rep.first == 0 || x.mra[active].happened() || x.disconnecting() || x.reject.happened() && x.rejecter == active {
		return list
	}
	u := x.waiter(ForRTU, passive, &x.rep)
	u.RTU, u.Times = x.rtu.frame, x.rep.times+x.rep.again
	if x.req.time-x.rep.first > crossing {
		u.REQs, u.REQ = x.req.times+x.req.again, x.req.frame
	}
	if x.reject.happened() {
		u.End, u.EndFrame = x.reject.time, x.reject.frame
	}
	if x.came != x.went && x.came != 0 && x.went != 0 && x.req.tap == x.rep.tap {
		u.Came, u.Went = x.came, x.went
	}
	return append(list, u)
}
