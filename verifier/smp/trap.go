package smp

import (
	"encoding/binary"
	"fmt"

	"ibwitness/mad"
	"ibwitness/rule"
	"ibwitness/subnet"
)

var (
	noGeneric  = mad.LayoutNotice.Field("isGeneric")
	noType     = mad.LayoutNotice.Field("noticeType")
	noProducer = mad.LayoutNotice.Field("nodeType")
	noNumber   = mad.LayoutNotice.Field("trapNumber")
	noIssuer   = mad.LayoutNotice.Field("issuerLID")
)

// mostLIDs is how many LIDs a port has at most.
const mostLIDs = 128

// badKeyAt is where a notice of trap 256 has the M_Key that was refused.
const badKeyAt = 24

// trapSource is a port that sends traps, as one tap sees it: another tap shows copies of the same traps.
type trapSource struct {
	tap uint16
	lid uint16
}

// trapSender is what is kept of such a port.
type trapSender struct {
	age         int   // of the capture: the port of another one may have begun again, or be of another subnet
	time        int64 // of the newest
	frame       uint64
	tid         uint64
	icrc        uint32
	data        [mad.SMPDataSize]byte
	repressed   uint64 // frame of the TrapRepress to the newest; 0: none
	repressedAt int64
}

// trap takes a trap of a port.
func (v *Verifier) trap() {
	s := &v.s
	d := s.Data
	if v.breaks(rule.SMPTRP001, s.MKey != 0) {
		v.report(rule.SMPTRP001, rule.Violation, rule.Sender, "M_Key 0 in a trap", fmt.Sprintf("0x%016x", s.MKey))
	}
	if s.Attribute != mad.AttrNotice {
		return
	}
	number, producer := uint16(noNumber.Uint(d)), uint32(noProducer.Uint(d))
	if noGeneric.Uint(d) != 0 {
		defined, may := mad.TrapProducer(number, producer)
		if v.breaks(rule.SMPTRP007, !defined || !may || !mad.NoticeTypeDefined(uint8(noType.Uint(d)))) {
			v.report(rule.SMPTRP007, rule.Violation, rule.Sender, "a trap number, producer and type of table T14",
				fmt.Sprintf("%s of producer %d, type %d", mad.TrapName(number), producer, noType.Uint(d)))
		}
	}
	if v.breaks(rule.SMPTRP007, s.Modifier != 0) {
		v.report(rule.SMPTRP007, rule.Violation, rule.Sender, "attribute modifier 0", fmt.Sprintf("0x%x", s.Modifier))
	}
	if !s.Directed() {
		v.sender(number)
		issuer, from := uint16(noIssuer.Uint(d)), v.p.SLID
		if v.breaks(rule.SMPTRP007, issuer-from >= mostLIDs && from-issuer >= mostLIDs) {
			v.report(rule.SMPTRP007, rule.Violation, rule.Sender, fmt.Sprintf("the LID of the port that sends it, %d, as IssuerLID", from), fmt.Sprintf("%d", issuer))
		}
	}
	v.keep()
}

// sender judges a trap by the port that sends it, and by the trap before it.
func (v *Verifier) sender(number uint16) {
	s, p := &v.s, v.p
	port := v.Subnet.Port(p.SLID)
	v.senderPort(port)
	if number == mad.TrapBadMKey {
		v.badMKey(port)
	}
	v.badPKey(port)
	t := v.traps[trapSource{p.Tap, p.SLID}]
	switch {
	case t == nil:
		t = &trapSender{age: v.age}
		v.traps[trapSource{p.Tap, p.SLID}] = t
	case t.age != v.age:
		*t = trapSender{age: v.age}
	case t.icrc == p.ICRC && p.Time-t.time < early:
		return // mirrored
	default:
		v.nextTrap(t, port)
	}
	if t.tid != s.TID {
		t.repressed = 0
	}
	t.time, t.frame, t.tid, t.icrc = p.Time, p.Frame, s.TID, p.ICRC
	copy(t.data[:], s.Data)
}

// senderPort judges the state of the port that sends a trap, and where it sends the trap (rules SMP-TRP-003, -006).
func (v *Verifier) senderPort(port *subnet.Port) {
	if !port.Knows(subnet.KnowsInfo) {
		return
	}
	if v.breaks(rule.SMPTRP003, port.State != active) {
		v.report(rule.SMPTRP003, v.lasting(), rule.Sender, "traps only from a port that is Active", "the port is "+stateText(port.State), port.Frame)
	}
	if p := v.p; port.SMLID != 0 && v.breaks(rule.SMPTRP006, p.DLID != port.SMLID || p.SL != port.SMSL) {
		v.report(rule.SMPTRP006, v.lasting(), rule.Sender, fmt.Sprintf("a trap to LID %d on SL %d", port.SMLID, port.SMSL), fmt.Sprintf("to LID %d on SL %d", p.DLID, p.SL), port.Frame)
	}
}

// badMKey judges trap 256 of a port, which says that an SMP had a bad M_Key (rule SMP-MK-001).
func (v *Verifier) badMKey(port *subnet.Port) {
	k, d := v.ports[port], v.s.Data
	if k == nil || !k.keyKnown || noGeneric.Uint(d) == 0 {
		return
	}
	key := binary.BigEndian.Uint64(d[badKeyAt:])
	if v.breaks(rule.SMPMK001, key == k.key || k.key == 0) {
		v.report(rule.SMPMK001, v.lasting(), rule.Sender, "no trap: the M_Key of the SMP is that of the port, or the port has none",
			fmt.Sprintf("trap 256: M_Key 0x%016x is bad", key), k.frame)
	}
}

// nextTrap judges a trap that follows another of its port.
func (v *Verifier) nextTrap(t *trapSender, port *subnet.Port) {
	s, p := &v.s, v.p
	if port.Knows(subnet.KnowsInfo) {
		gap := int64(4096) << port.SubnetTimeout
		if v.breaks(rule.SMPTRP002, p.Time-t.time < gap/2) {
			v.report(rule.SMPTRP002, v.lasting(), rule.Sender, fmt.Sprintf("at least %s between traps, SubnetTimeOut %d", rule.Span(gap), port.SubnetTimeout),
				rule.Span(p.Time-t.time), t.frame)
		}
	}
	if s.TID != t.tid {
		return
	}
	// The toggle and count of the notice may change; its other fields may not.
	other := string(s.Data[:8]) != string(t.data[:8]) || string(s.Data[10:]) != string(t.data[10:])
	if v.breaks(rule.SMPTRP004, other) {
		v.report(rule.SMPTRP004, rule.Violation, rule.Sender, "another TID for another trap", fmt.Sprintf("TID 0x%016x of %s again", s.TID, mad.TrapName(uint16(noNumber.Uint(t.data[:])))), t.frame)
		return
	}
	if t.repressed == 0 {
		return
	}
	after := p.Time-t.repressedAt > second/10
	if s.TID == 0 { // of a port that gives all of its traps TID 0: the same may have happened again
		if v.breaks(rule.SMPTRP004, after) {
			v.report(rule.SMPTRP004, rule.Unproven, rule.Sender, "another TID for another trap", "TID 0 of the trap before the TrapRepress again", t.repressed)
		}
		return
	}
	if v.breaks(rule.SMPTRP005, after) {
		v.report(rule.SMPTRP005, v.lasting(), rule.Sender, "no retransmission after the TrapRepress", mad.TrapName(uint16(noNumber.Uint(s.Data)))+" retransmitted", t.repressed)
	}
}

// repress takes the answer of a manager to a trap.
func (v *Verifier) repress() {
	s, p := &v.s, v.p
	v.breaks(rule.SMPTRP005, false)
	if t := v.traps[trapSource{p.Tap, p.DLID}]; t != nil && t.tid == s.TID && !s.Directed() {
		t.repressed, t.repressedAt = p.Frame, p.Time
	}
	v.keep()
}
