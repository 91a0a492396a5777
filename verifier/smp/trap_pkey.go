package smp

import (
	"encoding/binary"
	"fmt"

	"ibwitness/mad"
	"ibwitness/rule"
	"ibwitness/subnet"
)

// Where a notice of trap 257 has the LID and queue pair that the packet went to, and its P_Key in the lower half of a word.
const (
	badToAt   = 14
	badPKeyAt = 18
	badQPAt   = 25
)

// toQP0 is the newest packet to QP0 of a LID.
type toQP0 struct {
	pkey  uint16
	tap   uint16
	frame uint64
}

// noteQP0 notes a packet to QP0.
func (v *Verifier) noteQP0() {
	p := v.p
	v.toQP0[p.DLID] = toQP0{p.PKey, p.Tap, p.Frame}
}

// badPKey judges trap 257 of a port, which reports a bad P_Key in a packet to QP0 or QP1 (rule PKY-005). The packet to QP0 must have been seen: there
// may be devices that fill in no queue pair.
func (v *Verifier) badPKey(port *subnet.Port) {
	p, d := v.p, v.s.Data
	if noGeneric.Uint(d) == 0 || noNumber.Uint(d) != mad.TrapBadPKey || binary.BigEndian.Uint16(d[badToAt:]) != p.SLID {
		return
	}
	key := binary.BigEndian.Uint16(d[badPKeyAt:])
	refused := fmt.Sprintf("trap %d: P_Key 0x%04x is bad", mad.TrapBadPKey, key)
	switch uint32(d[badQPAt])<<16 | uint32(binary.BigEndian.Uint16(d[badQPAt+1:])) {
	case 0:
		if h := v.toQP0[p.SLID]; v.breaks(rule.PKY005, h.frame != 0 && h.pkey == key && h.tap == p.Tap) {
			v.report(rule.PKY005, rule.Violation, rule.Receiver, "no trap: QP 0 accepts every P_Key", refused, h.frame)
		}
	case 1:
		member, full := port.Member(key)
		if v.breaks(rule.PKY005, member && (full || key>>15 != 0)) {
			v.report(rule.PKY005, v.lasting(), rule.Receiver, "no trap: QP 1 accepts every P_Key of the table of the port", refused, port.Frame)
		}
	}
}
