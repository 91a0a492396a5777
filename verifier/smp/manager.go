package smp

import (
	"cmp"
	"fmt"
	"slices"

	"ibwitness/mad"
	"ibwitness/rule"
	"ibwitness/subnet"
)

// mostManagers bounds the managers of a subnet that are kept: each one is compared with all others.
const mostManagers = 1024

// grace is how long there may be two masters before the lower one is blamed.
const grace = 60 * second

var (
	smGUID     = mad.LayoutSMInfo.Field("GUID")
	smCount    = mad.LayoutSMInfo.Field("actCount")
	smPriority = mad.LayoutSMInfo.Field("priority")
	smState    = mad.LayoutSMInfo.Field("SMState")
)

// States of a subnet manager, and the attribute modifiers of a Set of SMInfo, which command a transition (section 14.4.1).
const (
	standby = 2
	master  = 3

	handover    = 1
	acknowledge = 2
	disable     = 3
	discover    = 5
)

var smStates = [...]string{"not active", "discovering", "standby", "master"}

func smText(n uint8) string {
	if int(n) < len(smStates) {
		return smStates[n]
	}
	return fmt.Sprintf("state %d", n)
}

// manager is a subnet manager, by its newest SMInfo.
type manager struct {
	guid     uint64
	lid      uint16 // where it was asked; permissive: on a directed route
	state    uint8
	priority uint8
	count    uint32
	time     int64
	frame    uint64
	rivalled int64 // since when it is known beside a higher master; 0: it is not
}

// smInfoRequest judges the attribute modifier and the sender of a request to a subnet manager (rule SMP-SMI-001).
func (v *Verifier) smInfoRequest(x *exchange) {
	s := &v.s
	if s.Method != mad.Set {
		if v.breaks(rule.SMPSMI001, s.Modifier != 0) {
			x.badModifier = true
			v.report(rule.SMPSMI001, rule.Violation, rule.Requester, "attribute modifier 0 in a Get(SMInfo)", fmt.Sprintf("0x%x", s.Modifier))
		}
		return
	}
	if v.breaks(rule.SMPSMI001, s.Modifier < handover || s.Modifier > discover) {
		x.badModifier = true
		v.report(rule.SMPSMI001, rule.Violation, rule.Requester, "attribute modifier 1 to 5 in a Set(SMInfo)", fmt.Sprintf("0x%x", s.Modifier))
		return
	}
	if s.Directed() || s.Modifier == acknowledge {
		return
	}
	for _, m := range v.managers {
		if m.lid == v.p.SLID && v.breaks(rule.SMPSMI001, m.state != master) {
			v.report(rule.SMPSMI001, v.lasting(), rule.Requester, "a Set(SMInfo) of the master", fmt.Sprintf("of a manager that is %s", smText(m.state)), m.frame)
			return
		}
	}
}

// smInfo judges the SMInfo in the response of a subnet manager (rules SMP-SMI-001, SMP-SMI-002, SMP-PM-001).
func (v *Verifier) smInfo(x *exchange) {
	s, d := &v.s, v.s.Data
	if x.Method == mad.Set && v.breaks(rule.SMPSMI001, x.Modifier < handover || x.Modifier > discover) {
		v.report(rule.SMPSMI001, v.paired(), rule.Responder, invalidValue+": there is no such transition", "status 0 with "+mad.ModifierText(x.Attribute, x.Modifier), x.frame)
	}
	if p := x.at.port(); p.Knows(subnet.KnowsInfo) {
		if v.breaks(rule.SMPPM001, p.CapabilityMask&capSM == 0) {
			v.report(rule.SMPPM001, v.lasting(), rule.Responder, "IsSM in the capability mask of a port that responds to Get(SMInfo)", fmt.Sprintf("CapabilityMask 0x%08x", p.CapabilityMask), x.frame, p.Frame)
		}
	}
	guid, state, count := smGUID.Uint(d), uint8(smState.Uint(d)), uint32(smCount.Uint(d))
	if v.breaks(rule.SMPSMI002, state > master) {
		v.report(rule.SMPSMI002, v.paired(), rule.Responder, "SMState 0 to 3", fmt.Sprintf("SMState %d", state), x.frame)
		return
	}
	if guid == 0 {
		return
	}
	at, ok := slices.BinarySearchFunc(v.managers, guid, func(m *manager, guid uint64) int { return cmp.Compare(m.guid, guid) })
	if !ok {
		if len(v.managers) >= mostManagers {
			v.managers, at = nil, 0
		}
		v.managers = slices.Insert(v.managers, at, &manager{guid: guid, lid: permissive})
	}
	m := v.managers[at]
	if ok && v.breaks(rule.SMPSMI002, count < m.count) {
		v.report(rule.SMPSMI002, rule.Unproven, rule.Responder, fmt.Sprintf("ActCount %d or more", m.count), fmt.Sprintf("%d", count), m.frame)
	}
	m.state, m.count, m.priority, m.time, m.frame = state, count, uint8(smPriority.Uint(d)), v.p.Time, v.p.Frame
	if !s.Directed() {
		m.lid = v.p.SLID
	}
	v.election(m)
}

// election judges a master beside a higher one.
func (v *Verifier) election(m *manager) {
	if m.state != master {
		m.rivalled = 0
		return
	}
	for _, o := range v.managers {
		if o == m || o.state != master || v.p.Time-o.time > 2*grace {
			continue
		}
		low := m.priority < o.priority || m.priority == o.priority && m.guid > o.guid
		if !low {
			v.breaks(rule.SMPSMI003, false)
			continue
		}
		if m.rivalled == 0 {
			m.rivalled = v.p.Time
		}
		if v.breaks(rule.SMPSMI003, v.p.Time-m.rivalled > grace) {
			v.report(rule.SMPSMI003, rule.Unproven, rule.Responder, fmt.Sprintf("one master: 0x%016x, priority %d", o.guid, o.priority),
				fmt.Sprintf("0x%016x, priority %d, is also master", m.guid, m.priority), o.frame)
			m.rivalled = v.p.Time
		}
		return
	}
	m.rivalled = 0
}
