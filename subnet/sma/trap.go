package sma

import (
	"encoding/binary"

	"ibwitness/mad"
	"ibwitness/subnet"
)

// trap is a trap that no TrapRepress has come for.
type trap struct {
	number   uint16
	tid      uint64
	port     uint8
	data     [mad.SMPDataSize]byte // Notice
	next     int64                 // when it is to be sent
	repeated bool                  // it was sent already
}

// mostTraps bounds the traps that wait.
const mostTraps = 16

// mostIssuers is more than a port has LIDs.
const mostIssuers = 256

// Where the parts of a notice begin that depend on its trap (table T14).
const (
	detailsAt = 10 // of all: trap 128 has its LID there, the others after two reserved bytes
	lidAt     = 12
)

// Types of notices (section 13.4.8.2).
const (
	urgent        = 1
	security      = 2
	informational = 4
)

// raise begins a trap of the port that has the LID. Only a port that is Active and has a manager sends traps (o14-3.2.1); one that is waiting tells as much.
func (n *Node) raise(now int64, p *port, kind uint8, number uint16, fill func(data []byte)) {
	if n.config.NoTraps || p.get(piState) != Active || p.get(piLID) == 0 || p.get(piSMLID) == 0 {
		return
	}
	t := &trap{number: number, port: p.number, next: now}
	d := t.data[:]
	put := func(name string, v uint64) { mad.LayoutNotice.Field(name).PutUint(d, v) }
	put("isGeneric", 1)
	put("noticeType", uint64(kind))
	put("nodeType", uint64(n.config.Type))
	put("trapNumber", uint64(number))
	put("issuerLID", p.get(piLID))
	if n.has(trapIssuerWrong) {
		put("issuerLID", p.get(piLID)+mostIssuers)
	}
	fill(d)
	for _, o := range n.traps {
		if o.port == t.port && o.data == t.data {
			return
		}
	}
	if len(n.traps) >= mostTraps {
		return
	}
	n.tid++
	if n.has(trapSameTID) {
		n.tid = 1
	}
	t.tid = n.tid
	n.traps = append(n.traps, t)
}

// linkTrap is trap 128: the link of a port of the switch has changed.
func (n *Node) linkTrap(now int64) {
	p := &n.ports[0]
	n.raise(now, p, urgent, mad.TrapLinkState, func(d []byte) { binary.BigEndian.PutUint16(d[detailsAt:], uint16(p.get(piLID))) })
}

// capabilityTrap is trap 144: CapabilityMask has changed.
func (n *Node) capabilityTrap(now int64, p *port) { n.localTrap(now, p, 0) }

// enabledTrap is trap 144: LinkWidthEnabled or LinkSpeedEnabled has changed.
func (n *Node) enabledTrap(now int64, p *port, width, speed bool) {
	var flags uint16
	if width {
		flags |= 2
	}
	if speed {
		flags |= 4
	}
	n.localTrap(now, p, flags)
}

// localTrap is trap 144. With flags bit 0 of OtherLocalChanges is 1.
func (n *Node) localTrap(now int64, p *port, flags uint16) {
	if n.config.Type == subnet.Switch && p.number != 0 {
		return
	}
	n.raise(now, p, informational, mad.TrapCapability, func(d []byte) {
		binary.BigEndian.PutUint16(d[lidAt:], uint16(p.get(piLID)))
		if flags != 0 {
			d[lidAt+3] = 1
		}
		binary.BigEndian.PutUint32(d[lidAt+4:], uint32(p.get(piCapability)))
		binary.BigEndian.PutUint16(d[lidAt+8:], flags)
	})
}

// mkeyTrap is trap 256: an SMP had a wrong M_Key.
func (n *Node) mkeyTrap(r *request, p *port) {
	n.raise(r.now, p, security, mad.TrapBadMKey, func(d []byte) {
		binary.BigEndian.PutUint16(d[lidAt:], uint16(p.get(piLID)))
		d[lidAt+4] = uint8(r.Method)
		binary.BigEndian.PutUint16(d[lidAt+6:], uint16(r.Attribute))
		binary.BigEndian.PutUint32(d[lidAt+8:], r.Modifier)
		binary.BigEndian.PutUint64(d[lidAt+12:], r.MKey)
		if !r.Directed() {
			return
		}
		binary.BigEndian.PutUint16(d[lidAt+2:], r.DrSLID)
		hops := min(r.HopCount(), 30)
		d[lidAt+21] = 0x80 | uint8(hops) // DRNotice
		if r.HopCount() > hops {
			d[lidAt+21] |= 0x40 // the path is cut
		}
		copy(d[lidAt+22:], r.Return[1:1+hops])
	})
}

// gap is the least time between traps of a port (o14-2): that of SubnetTimeOut, and not less than the manager has for its answer.
func (n *Node) gap(p *port) int64 {
	g := int64(4096) << p.get(piTimeout)
	if n.has(trapTooFast) {
		return g / 4
	}
	return max(g, int64(4096)<<n.config.RespTime)
}

// Trap returns the next trap that is due, 256 bytes, LID routed, and the port that sends it to its MasterSMLID; nil where none is. A trap is repeated with its TID until
// its TrapRepress comes (section 13.4.9, o13-5).
func (n *Node) Trap(now int64) (b []byte, number uint8) {
	if n.has(trapLost) {
		return nil, 0
	}
	for _, t := range n.traps {
		p := &n.ports[t.port]
		if t.next > now || p.get(piState) != Active || p.trapSent && now-p.trapAt < n.gap(p) {
			continue
		}
		if n.has(trapNewTID) && t.repeated {
			n.tid++
			t.tid = n.tid
		}
		t.repeated = true
		p.trapAt, p.trapSent = now, true
		t.next = now + n.gap(p)
		s := mad.SMP{Header: mad.Header{
			BaseVersion: 1, Class: mad.ClassSubnetLID, ClassVersion: 1, Method: mad.Trap, TID: t.tid, Attribute: mad.AttrNotice,
		}, Data: t.data[:]}
		if n.has(trapKeyed) {
			s.MKey = n.managed(t.port).get(piMKey)
		}
		b = make([]byte, mad.Size)
		if s.Encode(b) != nil {
			return nil, 0
		}
		return b, t.port
	}
	return nil, 0
}

// Manager returns MasterSMLID and MasterSMSL of a port, where its traps go to (rule SMP-TRP-006).
func (n *Node) Manager(number uint8) (lid uint16, sl uint8) {
	p := n.managed(number)
	if p == nil {
		return 0, 0
	}
	return uint16(p.get(piSMLID)), uint8(p.get(piSMSL))
}

// repress ends the trap with a TID (o13-6, o13-7).
func (n *Node) repress(tid uint64) {
	if n.has(trapGoesOn) {
		return
	}
	for i, t := range n.traps {
		if t.tid == tid {
			n.traps = append(n.traps[:i], n.traps[i+1:]...)
			return
		}
	}
}
