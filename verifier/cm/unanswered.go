package cm

import (
	"ibwitness/mad"
	"ibwitness/packet"
)

// Unanswered is a REQ that nothing has answered: no REP, REJ or MRA was seen, nor an RTU, which comes after one.
type Unanswered struct {
	From, To    packet.Addr
	QPN         uint32 // that it names: packets to it show that it was answered; 0: none
	Service     mad.ServiceID
	Times       uint16 // how many times it was sent
	First, Last int64  // when, nanoseconds since the Unix epoch
	Wait        int64  // for how long the passive side may take, nanoseconds; 0: not known
	Tap         uint16
	Frame       uint64 // of the newest
}

// Unanswered returns the REQs of the exchanges that are followed which nothing has answered.
func (v *Verifier) Unanswered() (list []Unanswered) {
	for i := v.oldest; i >= 0; i = v.slots[i].next {
		x := &v.slots[i]
		if x.asked && x.req.sent() && !x.req.answered && !x.rep.sent() && !x.reject.happened() && !x.mra[passive].happened() && !x.rtu.happened() && !x.early.happened() {
			list = append(list, Unanswered{
				From: x.key.active, To: x.key.passive, QPN: x.qpn[active], Service: x.serviceID, Times: x.req.times, First: x.req.first, Last: x.req.time, Wait: x.timeout[passive],
				Tap: x.req.tap, Frame: x.req.frame,
			})
		}
	}
	return list
}
