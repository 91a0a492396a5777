package sma

import (
	"time"

	"ibwitness/mad"
)

// checkMKey reports whether the port lets a request through (section 14.2.4.1): its M_Key is 0, or that of the SMP, or the request is a Get that the
// protect bits allow. It counts a violation and starts the lease; a valid M_Key stops it (section 14.2.4.2).
func (n *Node) checkMKey(r *request) bool {
	p := n.managed(r.in.number)
	key := p.get(piMKey)
	if key == 0 && !n.has(mkeyZeroChecked) {
		return true
	}
	if key == r.MKey {
		if !n.has(leaseNotStopped) {
			p.leaseEnd = 0
		}
		return true
	}
	if r.Method == mad.Get && (p.get(piProtect) < 2 || n.has(protectIgnored)) {
		if n.has(mkeyOvercounted) {
			n.violated(p, piMKeyBad)
		}
		return true
	}
	if r.Attribute == mad.AttrSMInfo && r.Method == mad.Get && r.MKey == 0 { // rule SMP-SMI-004
		return true
	}
	n.violated(p, piMKeyBad)
	n.startLease(r.now, p)
	n.mkeyTrap(r, p)
	return r.set() && n.has(mkeyIgnored)
}

// violated counts a violation, up to the greatest value (rule SMP-PI-010).
func (n *Node) violated(p *port, f mad.Field) {
	v := p.get(f)
	if n.has(mkeyNotCounted) || v == 0xFFFF && !n.has(violationsWrap) {
		return
	}
	if n.has(violationsEach2nd) {
		if n.halved = !n.halved; n.halved {
			return
		}
	}
	p.put(f, v+1)
}

// startLease starts the timer of the lease, where its period is not 0, which means for ever, and it does not run.
func (n *Node) startLease(now int64, p *port) {
	period := int64(p.get(piLease)) * int64(time.Second)
	if period == 0 && n.has(leaseZeroExpires) {
		period = int64(time.Second)
	}
	if n.has(leaseEarly) {
		period /= 2
	}
	if period != 0 && p.leaseEnd == 0 {
		p.leaseEnd = max(now+period, 1)
	}
}

// expire ends leases: the protect bits become 0 (rule SMP-MK-005).
func (n *Node) expire(now int64) {
	for i := range n.ports {
		if p := &n.ports[i]; p.leaseEnd != 0 && now >= p.leaseEnd && !n.has(leaseNever) {
			p.leaseEnd = 0
			p.put(piProtect, 0)
		}
	}
}
