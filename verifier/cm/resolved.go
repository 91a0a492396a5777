package cm

import (
	"ibwitness/mad"
	"ibwitness/packet"
)

// Resolved is a SIDR_REQ that was answered.
type Resolved struct {
	From, To packet.Addr
	Service  mad.ServiceID
	At       int64 // when the newest answer came, nanoseconds since the Unix epoch
}

// Resolved returns the SIDR_REQs of the exchanges that are followed which a SIDR_REP has answered.
func (v *Verifier) Resolved() (list []Resolved) {
	for i := v.oldest; i >= 0; i = v.slots[i].next {
		if x := &v.slots[i]; x.key.sidr && x.resolved != 0 {
			list = append(list, Resolved{x.key.active, x.key.passive, x.serviceID, x.resolved})
		}
	}
	return list
}
