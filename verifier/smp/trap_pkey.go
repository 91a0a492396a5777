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

// heard is the newest packet to QP0 of a LID.
type heard struct {
	pkey  uint16
	tap   uint16
	frame uint64
}

// hear notes a packet to QP0.
func (v *Verifier) hear() {
	p := v.p
	v.heard[p.DLID] = heard{p.PKey, p.Tap, p.Frame}
}

// badPKey judges a port that tells of having refused a packet to QP0 or QP1 for its P_Key (rule PKY-005). Which one to QP0 that was must have been seen: there
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
		if h := v.heard[p.SLID]; v.breaks(rule.PKY005, h.frame != 0 && h.pkey == key && h.tap == p.Tap) {
			v.report(rule.PKY005, rule.Violation, rule.Receiver, "no trap: QP 0 accepts every P_Key", refused, h.frame)
		}
	case 1:
		member, full := port.Member(key)
		if v.breaks(rule.PKY005, member && (full || key>>15 != 0)) {
			v.report(rule.PKY005, v.lasting(), rule.Receiver, "no trap: QP 1 accepts every P_Key of the table of the port", refused, port.Frame)
		}
	}
}
