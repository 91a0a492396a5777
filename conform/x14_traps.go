package conform

import (
	"bytes"
	"fmt"

	"ibwitness/fabricagent/ibsim"
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/subnet"
	"ibwitness/subnet/sma"
)

// trapTests are those of traps.
var trapTests = []*Test{traps}

// Assertions of traps.
const (
	trapComes   = "ours#01"
	trapAddress = "ours#02"
	trapNotice  = "ours#03"
	trapAgain   = "ours#04"
	trapSlow    = "ours#05"
	trapQuiet   = "ours#06"
	trapOther   = "ours#07"
)

// How a device is to send traps, in the test.
const (
	trapTimeout = 18 // SubnetTimeOut: 1.07 s
	trapSL      = 0
	mostTraps   = 16                         // that a device sends before the test causes any
	trapPeriods = 4                          // of SubnetTimeOut that the tester listens
	trapStep    = 1_000_000                  // nanoseconds, how often a device in software is asked for its next trap
	trapGap     = int64(4096) << trapTimeout // SubnetTimeOut in nanoseconds
)

// trapCause is what makes a device send a trap.
type trapCause struct {
	number uint16
	text   string
	make   func(m *manager)
}

// trapCauses are those that the tester can bring about at a device.
func (m *manager) trapCauses(s *surveyed) []trapCause {
	list := []trapCause{{mad.TrapBadMKey, "a Set with a wrong M_Key", func(m *manager) {
		m.once(otherKey, mad.Set, mad.AttrGUIDInfo, 0, make([]byte, mad.SMPDataSize))
	}}}
	switch {
	case s.kind != subnet.Switch:
		list = append(list, trapCause{mad.TrapCapability, "a Set that changes LinkWidthEnabled", func(m *manager) {
			was := m.get(mad.AttrPortInfo, 0)
			m.set(mad.AttrPortInfo, 0, map[string]uint64{"linkWidthEnabled": bitsOf(was.uint(mad.LayoutPortInfo, "linkWidthSupported"), 8)[0]})
		}})
	case s.ports >= secondPort:
		list = append(list, trapCause{mad.TrapLinkState, "the link at port 2, which is unplugged", func(m *manager) {
			m.r.can(m.fabric.Unlink(m.r.now(), m.second))
		}})
	}
	return list
}

var traps = &Test{
	ID: "X14_013", Title: "traps",
	Abstract: "A port sends a trap to its manager, repeats it with its transaction ID, not faster than SubnetTimeOut lets it, and stops at the TrapRepress.",
	Covers:   []Statement{{"o14-1", Stated}, {"o14-2", Seen}, {"o14-3.2.1", Stated}, {"o13-5", Stated}}, Topology: twoTopology, Device: Node, Needs: Managed,
	Qualifiers: []string{"bit 3 of CapabilityMask, IsTrapSupported, is 1", keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		"Link a second tester with port 2 of a switch that has one. Give LIDs to the device and the tester, take their link to Active, set SubnetTimeOut to 18 and an M_Key with lease period 0. Send a TrapRepress to each trap that comes, until none does.",
		"Cause trap 256 by a Set with a wrong M_Key; then trap 144 of a channel adapter or router by a Set that changes LinkWidthEnabled, or 128 of a switch by unplugging port 2.",
		"After each, listen for four times SubnetTimeOut.",
		"Send the TrapRepress, and listen as long.",
		unguardText,
	},
	Assertions: []Assertion{
		{trapComes, "The trap comes: its number is that of its cause."},
		{trapAddress, "It goes to MasterSMLID on MasterSMSL from the LID of the device, and its M_Key is 0."},
		{trapNotice, "It is generic, its type is one that is defined, its producer the kind of the node, and its IssuerLID the LID of the device."},
		{trapAgain, "A trap that is repeated has the transaction ID and the notice of the first."},
		{trapSlow, "Between two traps is at least SubnetTimeOut."},
		{trapQuiet, "After its TrapRepress no trap comes."},
		{trapOther, "A trap of another cause has another transaction ID."},
	},
	Decisions: []Decision{{"Traps 129 to 131, 257 and 258 are named, too.", "What causes them is not sent by the tester: errors of a link, and packets of other queue pairs."}},
	run: func(r *run) {
		s, m := r.survey(), r.manager
		if !s.capable(sma.CapTrap) {
			r.inapplicable("CapabilityMask says that traps are not supported")
		}
		r.at(2)
		if s.kind == subnet.Switch && s.ports >= secondPort {
			m.linkSecond()
		}
		m.activate()
		m.set(mad.AttrPortInfo, 0, map[string]uint64{"subnetTimeOut": trapTimeout, "masterSMSL": trapSL})
		m.learnTimes(m.get(mad.AttrPortInfo, 0))
		m.guard(guard{key: testerKey})
		m.settle()
		tids := map[uint64]bool{}
		for _, c := range m.trapCauses(s) {
			r.again(3)
			r.note("trap %d: %s", c.number, c.text)
			c.make(m)
			r.again(4)
			list := m.listen(trapPeriods * trapGap)
			if !r.check(trapComes, len(list) > 0, fmt.Sprintf("trap %d in %s after %s", c.number, exact(trapPeriods*trapGap), c.text), fmt.Sprintf("%d traps", len(list)), list...) {
				continue
			}
			tid := r.trapsOf(s, c, list, tids)
			r.again(5)
			m.stopTrap(tid)
			late := m.listen(trapPeriods * trapGap)
			if !r.check(trapQuiet, len(late) == 0, "no trap after the TrapRepress", fmt.Sprintf("%d", len(late)), append(late, list[0])...) {
				r.note("the rest of the procedure needs a device that sends no traps")
				break
			}
		}
		r.at(6)
		m.unguard()
	},
}

// settle ends the traps that a device sends before the test causes any. The test ends where they go on.
func (m *manager) settle() {
	var list []*packet.Packet
	for range mostTraps {
		if list = m.listen(trapPeriods * trapGap); len(list) == 0 {
			return
		}
		for _, p := range list {
			var x mad.SMP
			if x.Decode(p.Payload) == nil {
				m.stopTrap(x.TID)
			}
		}
	}
	m.r.halt("the device sends traps before any is caused, and goes on: frame %d", list[0].Frame)
}

// stopTrap sends the TrapRepress to a trap, which is not answered.
func (m *manager) stopTrap(tid uint64) {
	s := mad.SMP{Header: mad.Header{BaseVersion: 1, Class: mad.ClassSubnetLID, ClassVersion: 1, Method: mad.TrapRepress, Attribute: mad.AttrNotice, TID: tid}, MKey: m.key}
	d := ibsim.Datagram{SLID: testerLID, DLID: uint16(m.lid())}
	m.r.can(s.Encode(d.MAD[:]))
	m.send(d)
	m.r.settle()
	m.arrived = nil
}

// trapsOf judges the traps of a cause, and returns the transaction ID of the last.
func (r *run) trapsOf(s *surveyed, c trapCause, list []*packet.Packet, tids map[uint64]bool) uint64 {
	var first, x mad.SMP
	for i, p := range list {
		r.can(x.Decode(p.Payload))
		field := func(name string) uint64 { return mad.LayoutNotice.Field(name).Uint(x.Data) }
		if i == 0 {
			first = x
			r.check(trapOther, !tids[x.TID], "a transaction ID of its own", fmt.Sprintf("%#x", x.TID), p)
			tids[x.TID] = true
		} else {
			same := x.TID == first.TID && bytes.Equal(x.Data[10:], first.Data[10:]) && bytes.Equal(x.Data[:8], first.Data[:8])
			r.check(trapAgain, same, fmt.Sprintf("transaction ID %#x and the same notice", first.TID), fmt.Sprintf("%#x", x.TID), list[0], p)
			gap := p.Time - list[i-1].Time
			r.check(trapSlow, gap >= trapGap, "at least "+exact(trapGap), exact(gap), list[i-1], p)
		}
		r.check(trapComes, field("trapNumber") == uint64(c.number), fmt.Sprintf("trap %d", c.number), decimal(field("trapNumber")), p)
		ok := p.Src == packet.LIDAddr(uint16(r.manager.lid())) && p.Dst == packet.LIDAddr(testerLID) && p.SL == trapSL && x.MKey == 0
		r.check(trapAddress, ok, fmt.Sprintf("%v to %v, SL %d, M_Key 0", packet.LIDAddr(uint16(r.manager.lid())), packet.LIDAddr(testerLID), trapSL),
			fmt.Sprintf("%v to %v, SL %d, M_Key %#x", p.Src, p.Dst, p.SL, x.MKey), p)
		kind := field("noticeType")
		ok = field("isGeneric") == 1 && mad.NoticeTypeDefined(uint8(kind)) && field("nodeType") == uint64(s.kind) && field("issuerLID") == r.manager.lid()
		r.check(trapNotice, ok, fmt.Sprintf("a generic notice of producer %d, LID %d", s.kind, r.manager.lid()), fmt.Sprintf("type %d, producer %d, LID %d", kind, field("nodeType"), field("issuerLID")), p)
	}
	return x.TID
}

// listen lets time go on, and returns the traps that have come. A device in software sends its traps only then.
func (m *manager) listen(d int64) (list []*packet.Packet) {
	end := m.r.now() + d
	for m.r.now() < end {
		b, port := m.node.Trap(m.r.now())
		if b == nil {
			m.r.wait(trapStep)
			continue
		}
		lid, sl := m.node.Manager(port)
		own, _ := m.node.LID(port)
		t := ibsim.Datagram{SLID: own, DLID: lid, SL: sl}
		copy(t.MAD[:], b)
		before := m.passed
		if _, ok := m.fabric.Carry(m.r.now(), ibsim.End{Node: m.node, Port: port}, &t); ok && m.passed != before {
			list = append(list, m.passed)
		}
	}
	return list
}
