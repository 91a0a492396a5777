package smp

import (
	"fmt"
	"time"

	"ibwitness/mad"
	"ibwitness/rule"
)

// second is the unit of the lease period.
const second = int64(time.Second)

// compareMKey notes, of a new request, whether its M_Key is that of the port.
func (v *Verifier) compareMKey(x *exchange) {
	p := x.at.port()
	if p == nil || !x.at.known() {
		return
	}
	k := v.of(p)
	x.port, x.protect = k, k.protect
	if k.began != 0 && v.p.Time > k.began+int64(k.lease)*second-second {
		x.protect = 0 // the lease has run out, or is about to
	}
	x.keyKnown = k.keyKnown && k.key != 0
	x.wrongMKey = x.keyKnown && x.mkey != k.key
	k.checkedMKey(v.p.Time, x)
}

// compareMKeyAgain notes the same of a retransmission: the response may be to any of the transmissions.
func (v *Verifier) compareMKeyAgain(x *exchange) {
	k := x.port
	x.wrongMKey = x.wrongMKey && k.keyKnown && x.mkey != k.key
	k.checkedMKey(v.p.Time, x)
}

// checkedMKey notes that an SMP reaches the port: a wrong key starts the lease timer, a right one stops it.
func (k *port) checkedMKey(now int64, x *exchange) {
	if !x.keyKnown {
		return
	}
	end := k.began + int64(k.lease)*second
	over := k.began != 0 && now > end+second
	switch {
	case x.wrongMKey && (x.Method == mad.Set || x.Method == mad.TrapRepress || k.protect >= 2):
		if k.wrongs++; k.began == 0 && k.lease != 0 {
			k.began = now
		}
		k.wrongFrame = x.frame
	case !x.wrongMKey && k.began != 0:
		k.expired, k.began = k.expired || over, 0
	}
}

// still is the class of what holds while nobody has set the port to something else, and it was not switched on again.
func (v *Verifier) still(x *exchange, k *port) rule.Class {
	if k != nil && x.time-k.held > restartTime {
		return rule.Unproven
	}
	return v.lasting()
}

// mkeyOfRequest judges a response by the M_Key of its request (rules SMP-MK-003, SMP-MTH-005, SMP-SMI-004; mkeyOfGet: SMP-MK-002).
func (v *Verifier) mkeyOfRequest(x *exchange) {
	if !x.keyKnown {
		return
	}
	s := &v.s
	class := v.still(x, x.port)
	checked := x.Method == mad.Set || x.protect >= 2 // a port does not respond to such a request with a wrong key
	id, bad := rule.SMPMK003, x.wrongMKey
	switch {
	case s.Code() != 0 && checked:
		id = rule.SMPMTH005
	case s.Attribute == mad.AttrSMInfo:
		id, bad = rule.SMPSMI004, x.wrongMKey && x.mkey != 0 && checked
	case x.Method != mad.Set:
		v.mkeyOfGet(x, class)
		return
	}
	if v.breaks(id, bad) {
		v.report(id, class, rule.Responder, x.noResponse(), v.responseToKey(x), x.frame)
	}
}

// mkeyOfGet judges the response to a Get by the protection of the port (rule SMP-MK-002): by protect bits 1 a wrong key gets M_Key 0, by higher ones no response,
// and the right key gets the M_Key.
func (v *Verifier) mkeyOfGet(x *exchange, class rule.Class) {
	s := &v.s
	key, info := piMKey.Uint(s.Data), s.Attribute == mad.AttrPortInfo
	if info && x.at.endport(s.Modifier) && v.infoPort(x) == x.at.port() && !x.wrongMKey && x.protect > 0 && x.asked == 1 &&
		v.breaks(rule.SMPMK002, key == 0 && uint8(piProtect.Uint(s.Data)) == x.protect) {
		v.report(rule.SMPMK002, v.still(x, x.port), rule.Responder, "the M_Key of the port in the response to it", "M_Key 0", x.frame)
		return
	}
	shown := info && key != 0 && x.protect == 1
	if !v.breaks(rule.SMPMK002, x.wrongMKey && (x.protect >= 2 || shown)) {
		return
	}
	want, actual := x.noResponse(), v.responseToKey(x)
	if shown {
		want, actual = "M_Key 0 in the response to a wrong M_Key", fmt.Sprintf("M_Key 0x%016x", key)
	}
	v.report(rule.SMPMK002, class, rule.Responder, want, actual, x.frame)
}

// noResponse is what is expected of a port that drops a request for its M_Key.
func (x *exchange) noResponse() string {
	return fmt.Sprintf("no response to %v(%s) with a wrong M_Key", x.Method, x.AttributeName())
}

// responseToKey is what such a port did.
func (v *Verifier) responseToKey(x *exchange) string {
	return fmt.Sprintf("GetResp, %s, to M_Key 0x%016x", v.s.Code().Text(v.s.Class), x.mkey)
}

// learnMKey judges and learns, from the PortInfo of the port that checks keys, its M_Key, protection, lease and violations.
func (v *Verifier) learnMKey(x *exchange, k *port) {
	d := v.s.Data
	protect, key := uint8(piProtect.Uint(d)), piMKey.Uint(d)
	if x.Method == mad.Get && (key != 0 || protect == 0) && (key != k.key && k.keyKnown || !piLID.Same(d, k.info[:])) {
		k.wrongs, k.changed, k.has = 0, 0, false // it was switched on again, or set by what the capture does not show
	}
	if k.has && x.Method == mad.Get {
		v.mkeyState(x, k)
	}
	k.wrongs, k.expired = 0, false
	if x.Method == mad.Set {
		k.began = 0
	}
	if key != 0 || protect == 0 || x.Method == mad.Set && piMKey.Uint(x.data[:]) == 0 {
		k.keyKnown, k.key = true, key
	}
	k.protect, k.lease, k.held = protect, uint16(piLease.Uint(d)), v.p.Time
}

// mkeyState compares violations, protection and lease in the response to a Get of PortInfo with what was known of the port (rules SMP-MK-004, -005, SMP-PI-010).
func (v *Verifier) mkeyState(x *exchange, k *port) {
	class := v.still(x, k)
	n, was := uint16(piViolations.Uint(v.s.Data)), uint16(piViolations.Uint(k.info[:]))
	if k.wrongs > 0 && was < 0xFFFF && v.breaks(rule.SMPMK004, n == was) {
		v.report(rule.SMPMK004, class, rule.Responder, fmt.Sprintf("more M_Key violations than %d, after %d with a wrong key", was, k.wrongs),
			fmt.Sprintf("%d", n), k.wrongFrame)
	}
	if v.breaks(rule.SMPPI010, n < was) {
		v.report(rule.SMPPI010, class, rule.Responder, fmt.Sprintf("at least %d M_Key violations: the counter stops at 65535 and is reset by a Set to 0", was),
			fmt.Sprintf("%d", n), k.frame)
	}
	v.leaseExpiry(x, k)
}

// leaseExpiry judges that a port clears its protect bits when the lease period expires, and only then (rule SMP-MK-005).
func (v *Verifier) leaseExpiry(x *exchange, k *port) {
	protect, key := uint8(piProtect.Uint(v.s.Data)), piMKey.Uint(v.s.Data)
	if k.lease != 0 && v.breaks(rule.SMPMK005, k.expired && protect != 0) {
		v.report(rule.SMPMK005, v.lasting(), rule.Responder, fmt.Sprintf("M_Key protect bits 0: the lease of %d s has expired", k.lease), fmt.Sprintf("protect bits %d", protect), k.wrongFrame)
	}
	if k.protect > 0 && key == k.key && key != 0 && x.asked == 1 {
		over := k.expired || k.began != 0 && x.time > k.began+int64(k.lease)*second-second
		if v.breaks(rule.SMPMK005, !over && protect == 0) {
			v.report(rule.SMPMK005, v.still(x, k), rule.Responder, fmt.Sprintf("M_Key protect bits %d: no lease has expired", k.protect), "protect bits 0", k.frame)
		}
	}
}

// mkeySetApart judges a Set of PortInfo that changes the protection of an M_Key apart from it.
func (v *Verifier) mkeySetApart(x *exchange, k *port) {
	if !k.has || !k.keyKnown {
		return
	}
	d := v.s.Data
	key := piMKey.Uint(d) != k.key
	guard := uint8(piProtect.Uint(d)) != k.protect || uint16(piLease.Uint(d)) != k.lease
	if !key && !guard {
		return
	}
	if v.breaks(rule.SMPMK006, !key && k.changed != 0 && v.p.Time-k.changed < 10*second) {
		v.report(rule.SMPMK006, rule.Violation, rule.Requester, "M_Key, protect bits and lease period in one Set(PortInfo)",
			fmt.Sprintf("protect bits %d and lease %d s in a Set after that of the M_Key", piProtect.Uint(d), piLease.Uint(d)), k.changeFrame)
	}
	k.changed = 0
	if key && !guard {
		k.changed, k.changeFrame = v.p.Time, x.frame
	}
}
