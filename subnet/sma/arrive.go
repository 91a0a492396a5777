package sma

import (
	"encoding/binary"

	"ibwitness/packet"
)

// Ending is what ended a packet on a link (section 7.3).
type Ending uint8

// The endings.
const (
	EndGood Ending = iota // EGP
	EndBad                // EBP
	EndOdd                // neither: another symbol, or an invalid code group
)

// Lengths of a packet around its payload.
const (
	lrhSize    = 8
	vcrcSize   = 2
	headerRoom = 124 // bytes that a packet may have beside its payload, without VCRC (section 7.7.8)
	leastWords = 5   // of a packet, without VCRC
)

// inbound is a packet as it comes in at a port from a link.
type inbound struct {
	data   []byte // LRH through VCRC
	ending Ending
	mtu    int
	own    bool // the node itself is to take it: a switch relays the others, whose ICRC is not its business
}

func (a *inbound) words() int { return int(binary.BigEndian.Uint16(a.data[4:]) & 0x7FF) }

// receiverCheck is one check of a packet receiver (sections 7.3 and 7.8), which a faulty node leaves out.
type receiverCheck struct {
	fault
	counter Counter // of packets that it finds bad
	bad     func(a *inbound) bool
}

var receiverChecks = []receiverCheck{
	{delimiterIgnored, RcvErrors, func(a *inbound) bool { return a.ending == EndOdd }},
	{ebpTaken, RcvRemotePhysicalErrors, func(a *inbound) bool { return a.ending == EndBad }},
	{badVCRCAnswered, RcvErrors, func(a *inbound) bool { return damaged(a.data) }},
	{lverTaken, RcvErrors, func(a *inbound) bool { return a.data[0]&0xF != 0 }},
	{lengthIgnored, RcvErrors, func(a *inbound) bool {
		return a.words()*4 != len(a.data)-vcrcSize || a.words() < leastWords || a.words()*4 > a.mtu+headerRoom
	}},
	{badICRCAnswered, RcvErrors, badICRC},
}

// badICRC reports whether a packet for the node itself has a wrong ICRC.
func badICRC(a *inbound) bool {
	var p packet.Packet
	if !a.own || !packet.DecodeInfiniBand(&p, a.data, len(a.data)) || p.LNH < packet.LNHLocal {
		return false
	}
	p.CheckICRC()
	return p.ICRCState == packet.CRCBad
}

// Admits reports whether the packet receiver of a port takes a packet, LRH through VCRC, that comes in from a link, and counts what it discards.
func (n *Node) Admits(number uint8, data []byte, e Ending) bool {
	p := n.at(int(number))
	if p == nil || len(data) < lrhSize+vcrcSize {
		return false
	}
	if p.stuck {
		return false
	}
	vl := data[0] >> 4
	a := inbound{data: data, ending: e, mtu: 128 << p.get(piMTU), own: n.sw == nil || vl == managementVL || n.Owns(number, dlid(data))}
	if s := p.get(piState); vl == managementVL && (s == Initialize && n.has(qp0ClosedInInit) || s == Armed && n.has(qp0ClosedInArmed)) {
		return false
	}
	for _, c := range receiverChecks {
		if !n.has(c.fault) && !(c.fault == badVCRCAnswered && !a.own && n.has(damageHealed)) && c.bad(&a) {
			n.Count(number, c.counter, 1)
			p.stuck = n.has(receiverStuck)
			return false
		}
	}
	return true
}

// Straightened is a packet that Admits has taken, with the length in its LRH that it has.
func Straightened(data []byte) []byte {
	words := uint16(len(data)-vcrcSize) / 4
	if binary.BigEndian.Uint16(data[4:])&0x7FF == words {
		return data
	}
	data = append([]byte(nil), data...)
	binary.BigEndian.PutUint16(data[4:], binary.BigEndian.Uint16(data[4:])&^0x7FF|words)
	return data
}

func dlid(data []byte) uint16 { return binary.BigEndian.Uint16(data[2:]) }

// Activated says that a packet on a data lane has come to a port: an Armed one goes to Active (section 7.2.7).
func (n *Node) Activated(number uint8) {
	if p := n.at(int(number)); p != nil && p.get(piState) == Armed && !n.has(armedStays) {
		p.put(piState, Active)
	}
}

// TakesLID reports whether a port takes a unicast DLID that comes in from a link: its base LID or one of its LMC (section 7.11.1).
func (n *Node) TakesLID(number uint8, lid uint16) bool {
	switch base, _ := n.LID(number); {
	case n.has(dlidIgnored):
		return true
	case n.has(lmcIgnored):
		return base == lid
	}
	return n.Owns(number, lid)
}
