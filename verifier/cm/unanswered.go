package cm

import (
	"ibwitness/mad"
	"ibwitness/packet"
)

// Unanswered is a REQ that nothing has answered: no REP, REJ or MRA was seen.
type Unanswered struct {
	From, To    packet.Addr
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
		if x.asked && x.req.sent() && !x.req.answered && !x.rep.sent() && !x.reject.happened() && !x.mra[passive].happened() && !x.rtu.happened() {
			list = append(list, Unanswered{
				From: x.key.active, To: x.key.passive, Service: x.serviceID, Times: x.req.times, First: x.req.first, Last: x.req.time, Wait: x.timeout[passive],
				Tap: x.req.tap, Frame: x.req.frame,
			})
		}
	}
	return list
}
