package sma

import "ibwitness/mad"

// Arrival is a packet of management as it comes in at a port: what its receiver looks at before the agents get its MAD (sections 13.5.3.1 and 9.6.1.4).
type Arrival struct {
	MAD           []byte
	SrcQP, DestQP uint32
	QKey          uint32
	PKey          uint16
	VL            uint8
	GRH           bool
	Immediate     bool // it has immediate data
	Damaged       bool // its VCRC is wrong
}

// The queue pair of general services has this Q_Key (section 10.2.4).
const gsiQKey = 0x8001_0000

// managementVL is the lane of subnet management.
const managementVL = 15

// Takes reports whether a port delivers a packet that is for the node to its agents, and counts what it discards.
func (n *Node) Takes(number uint8, a *Arrival) bool {
	if a.Damaged {
		n.Count(number, RcvErrors, 1)
		return false
	}
	switch a.DestQP {
	case 0:
		return n.takesSMP(number, a)
	case 1:
		return n.takesGMP(number, a)
	}
	return false
}

// takesSMP reports whether QP0 takes a packet (rule UD-QP0-002).
func (n *Node) takesSMP(number uint8, a *Arrival) bool {
	if len(a.MAD) != mad.Size && !n.has(smpLength) {
		return false
	}
	if n.has(qp0PKeyChecked) && !n.managed(number).member(a.PKey) {
		return false
	}
	if n.has(smpUnchecked) {
		return true
	}
	return a.VL == managementVL && a.SrcQP == 0 && !a.GRH && !a.Immediate
}

// takesGMP reports whether QP1 takes a packet (rules UD-QKEY-003, UD-QP1-001, PKY-003).
func (n *Node) takesGMP(number uint8, a *Arrival) bool {
	p := n.managed(number)
	switch {
	case len(a.MAD) != mad.Size && !n.has(gmpLength):
		return false
	case n.has(gmpUnchecked):
		return true
	case a.Immediate || a.VL == managementVL || a.SrcQP == 0:
		return false
	case !p.member(a.PKey), n.has(qp1OnePKey) && a.PKey != p.pkeys[0]:
		n.violated(p, piPKeyBad)
		return false
	case a.QKey != gsiQKey:
		n.violated(p, piQKeyBad)
		return false
	}
	return true
}

// member reports whether a P_Key matches one of the port: the same partition, and a full member on one side (section 10.9.3).
func (p *port) member(key uint16) bool {
	for _, k := range p.pkeys {
		if k != 0 && (k^key)&0x7FFF == 0 && (k|key)&0x8000 != 0 {
			return true
		}
	}
	return false
}
