package conform

import (
	"fmt"

	"ibwitness/mad"
	"ibwitness/subnet/sma"
)

// otherAttributeTests are those of rows 01 and 13 to 15 of the attributes of C14-24.1.1: Notice, SMInfo, VendorDiag and LedInfo.
var otherAttributeTests = []*Test{aManager, noManager, vendorDiag, noNotice, ledInfo}

// Bits of CapabilityMask (section 14.2.5.6).
const (
	capNotice     = 1 << 2
	capSMDisabled = 1 << 10
)

// Assertions of aManager.
const (
	managerSaid   = "v1c14-024.1.1#13.01"
	managerInfo   = "v1c14-024.1.1#13.02"
	managerLID    = "ours#01"
	masterSMState = 3
)

var aManager = &Test{
	ID: "C14_024_13_1", Title: "SMInfo of a master subnet manager",
	Abstract: "A port at which the master subnet manager runs says so in CapabilityMask, and answers SMInfo.",
	Covers:   []Statement{{"C14-24.1.1", Stated}, {"C14-27", Seen}}, Topology: subnetTopology, Device: Node, Needs: Managed,
	Qualifiers: []string{"the master subnet manager runs at the device, and has given it its LID", keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		"Get SMInfo.",
	},
	Assertions: []Assertion{
		{managerSaid, "IsSM, bit 1 of CapabilityMask, is 1, and Get(SMInfo) is answered with status code 0."},
		{managerInfo, "GUID of SMInfo is the PortGUID of the port, and SMState is 3, master."},
		{managerLID, "MasterSMLID of PortInfo is the LID of the port."},
	},
	Decisions: []Decision{
		{"MasterSMLID is verified to be other than 0.", "As the manager runs at the device, it is its LID (ours)."},
		{"Whether a subnet manager runs is a condition that nothing tells.", "Where IsSM is 0 and SMInfo is refused, none does, and the test is not applicable."},
		{"Which of the numbers #13.01 and #13.02 is what, is told by a comment for the first only.", "#13.01 is IsSM, with the answer to SMInfo; #13.02 is what that has."},
	},
	run: func(r *run) {
		s := r.survey()
		r.at(2)
		x := r.manager.ask(mad.Get, mad.AttrSMInfo, 0, nil)
		is := s.capable(sma.CapSM)
		if !is && !x.succeeded() {
			r.inapplicable("IsSM is 0 and SMInfo is refused: no subnet manager runs at the device")
		}
		actual := fmt.Sprintf("CapabilityMask %#x, %s", s.port.uint(mad.LayoutPortInfo, "capabilityMask"), x.outcome())
		if r.check(managerSaid, is && x.succeeded(), "IsSM 1, and status 0", actual, s.port.got, x.sent, x.got) {
			guid, own, state := x.uint(mad.LayoutSMInfo, "GUID"), s.node.uint(mad.LayoutNodeInfo, "portGUID"), x.uint(mad.LayoutSMInfo, "SMState")
			r.check(managerInfo, guid == own && state == masterSMState, fmt.Sprintf("GUID %#x, SMState %d", own, masterSMState), fmt.Sprintf("GUID %#x, SMState %d", guid, state), s.node.got, x.got)
		}
		lid, manager := s.port.uint(mad.LayoutPortInfo, "LID"), s.port.uint(mad.LayoutPortInfo, "masterSMLID")
		r.check(managerLID, manager != 0 && manager == lid, "MasterSMLID the LID of the port", fmt.Sprintf("MasterSMLID %d, LID %d", manager, lid), s.port.got)
	},
}

// Assertions of noManager.
const (
	notManager    = "v1c14-024.1.1#13.01"
	smInfoRefused = "v1c14-031#01"
	smInfoAgrees  = "v1c14-070#01"
	notDisabled   = "v1c14-070#03"
)

var noManager = &Test{
	ID: "C14_024_13_3", Title: "SMInfo where no subnet manager runs",
	Abstract: "A port at which no subnet manager runs says so in CapabilityMask, and refuses SMInfo.",
	Covers:   []Statement{{"C14-24.1.1", Stated}, {"C14-70", Stated}, {"C14-31", Seen}, {"C13-24", Seen}}, Topology: subnetTopology, Device: Node, Needs: Managed,
	Qualifiers: []string{"no subnet manager runs at the device", keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		"Get SMInfo.",
	},
	Assertions: []Assertion{
		{notManager, "IsSM, bit 1 of CapabilityMask, is 0."},
		{smInfoRefused, "Get(SMInfo) is answered with a status code that refuses it: 1, 2, 3 or 7."},
		{smInfoAgrees, "IsSM says what the answer to SMInfo says: 0 where it is refused."},
		{notDisabled, "IsSM and IsSMdisabled, bit 10 of CapabilityMask, are not both 1."},
	},
	Decisions: []Decision{
		{"Whether a subnet manager runs is a condition that nothing tells.", "Where IsSM is 1 and SMInfo is answered with status 0, one runs, and the test is not applicable."},
		{"The status is verified to be other than 0.", "Bits 4:2 are judged, and only defined codes refuse."},
	},
	run: func(r *run) {
		s := r.survey()
		r.at(2)
		x := r.manager.ask(mad.Get, mad.AttrSMInfo, 0, nil)
		is, disabled := s.capable(sma.CapSM), s.capable(capSMDisabled)
		if is && x.succeeded() {
			r.inapplicable("IsSM is 1 and SMInfo is answered: a subnet manager runs at the device")
		}
		r.answered(smInfoRefused, x, refusals, "")
		actual := fmt.Sprintf("CapabilityMask %#x", s.port.uint(mad.LayoutPortInfo, "capabilityMask"))
		r.check(notManager, !is, "IsSM 0", actual, s.port.got)
		if x.got != nil && !x.busy() {
			r.check(smInfoAgrees, is == x.succeeded(), "IsSM 1 just where SMInfo is answered with status 0", actual+", "+x.outcome(), s.port.got, x.sent, x.got)
		}
		r.check(notDisabled, !is || !disabled, "not both IsSM and IsSMdisabled", actual, s.port.got)
	},
}

// Assertions of vendorDiag.
const (
	diagTaken   = "ours#01"
	diagEnds    = "ours#02"
	diagRefused = "ours#03"
)

var vendorDiag = &Test{
	ID: "X14_011", Title: "VendorDiag",
	Abstract: "The list of diagnostics is read along NextIndex to its end, and cannot be set.",
	Covers:   []Statement{{"C14-24.1.1", Seen}}, Topology: subnetTopology, Device: Node, Needs: Managed,
	Qualifiers: []string{keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		"Get VendorDiag with index 0 as modifier, and then with each NextIndex that comes, until it is 0.",
		"Set VendorDiag.",
	},
	Assertions: []Assertion{
		{diagTaken, "Get(VendorDiag) is answered with status code 0."},
		{diagEnds, "NextIndex names no index that was read already, and is 0 in the end."},
		{diagRefused, "Set(VendorDiag) is answered with status code 3."},
	},
	run: func(r *run) {
		r.survey()
		r.at(2)
		seen := map[uint64]bool{}
		for index := uint64(0); ; {
			x := r.manager.ask(mad.Get, mad.AttrVendorDiag, uint32(index), nil)
			if !r.answered(diagTaken, x, granted, "") {
				break
			}
			seen[index] = true
			index = x.uint(mad.LayoutVendorDiag, "nextIndex")
			ok := index == 0 || !seen[index]
			r.check(diagEnds, ok, "0, or an index that was not read", fmt.Sprintf("NextIndex %d", index), x.frames()...)
			if index == 0 || !ok {
				break
			}
		}
		r.at(3)
		r.answered(diagRefused, r.manager.ask(mad.Set, mad.AttrVendorDiag, 0, make([]byte, mad.SMPDataSize)), noMethod, "")
	},
}

// noticeRefused is the assertion of noNotice.
const noticeRefused = "ours#01"

var noNotice = &Test{
	ID: "X14_012", Title: "Notice, where there is no queue of notices",
	Abstract: "A node whose CapabilityMask says that it has no queue of notices refuses Get and Set of Notice.",
	Covers:   []Statement{{"C14-24.1.1", Seen}}, Topology: subnetTopology, Device: Node, Needs: Managed,
	Qualifiers: []string{"bit 2 of CapabilityMask, IsNoticeSupported, is 0", keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		"Get Notice.",
		"Set Notice.",
	},
	Assertions: []Assertion{{noticeRefused, "Get and Set of Notice are answered with status code 3."}},
	Decisions:  []Decision{{"What takes a notice out of a queue is not stated.", "A queue is not tested."}},
	run: func(r *run) {
		if s := r.survey(); s.capable(capNotice) {
			r.inapplicable("CapabilityMask says that Notice is supported, and the test is for nodes without it")
		}
		for step, method := range []mad.Method{mad.Get, mad.Set} {
			r.at(step + 2)
			r.answered(noticeRefused, r.manager.ask(method, mad.AttrNotice, 0, make([]byte, mad.SMPDataSize)), noMethod, "")
		}
	},
}

// Assertions of ledInfo.
const (
	ledWhere  = "v1c14-024.1.1#15.01"
	ledGet    = "v1c14-024.1.1#15.02"
	ledSet    = "v1c14-024.1.1#15.03"
	ledStored = "v1c14-024.1.1#15.04"
)

var ledInfo = &Test{
	ID: "C14_024_15", Title: "LedInfo, supported or not",
	Abstract: "A node whose capability mask says that it supports LedInfo stores it for each port; another refuses it.",
	Covers:   []Statement{{"C14-24.1.1", Stated}, {"C13-24", Seen}, {"C14-27", Seen}}, Topology: ownTopology, Device: Node, Needs: Managed,
	Qualifiers: []string{keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		"Where bit 9 of CapabilityMask, IsLedInfoSupported, is 1, Get LedInfo of each port; Set it to 1, to 0, and to what it was, with a Get after each.",
		"Where the bit is 0, Get and Set LedInfo of each port.",
	},
	Assertions: []Assertion{
		{ledWhere, "IsLedInfoSupported is 1 just where LedInfo is answered with status code 0; else Get and Set are refused, with status code 1, 2, 3 or 7."},
		{ledGet, "Where it is supported, Get(LedInfo) is answered with status code 0."},
		{ledSet, "Where it is supported, Set(LedInfo) is answered with status code 0."},
		{ledStored, "The answer to the Set has the LedMask that was set, and so has the next Get."},
	},
	Decisions: []Decision{
		{"Of the numbers #15.01 to #15.04 only the first is told: the bit of CapabilityMask.", "#15.01 is that LedInfo is there just where the bit says so, #15.02 the Get, #15.03 the Set, #15.04 what it stores."},
		{"The test is skipped where LedInfo is not supported, though its heading has that, too.", "Where the bit is 0, it is to be refused."},
		{"Which port is meant is not said.", "The modifier is the port: of a switch each external one, of another node 0, its own."},
	},
	run: func(r *run) {
		s := r.survey()
		if s.capable(sma.CapLed) {
			r.eachAgent(s, func(s *surveyed) {
				for _, port := range s.modifiers() {
					r.again(2)
					r.ledOf(port)
				}
			})
			r.each(ledWhere, "LedInfo", s.port, ledGet)
			return
		}
		for _, id := range []string{ledGet, ledSet, ledStored} {
			r.skip(id, "LedInfo is not supported")
		}
		for _, port := range s.modifiers() {
			r.again(3)
			for _, method := range []mad.Method{mad.Get, mad.Set} {
				r.answered(ledWhere, r.manager.ask(method, mad.AttrLedInfo, port, make([]byte, mad.SMPDataSize)), refusals, "")
			}
		}
	},
}

// ledOf sets the LED of a port on, off, and to what it was.
func (r *run) ledOf(port uint32) {
	m := r.manager
	x := m.ask(mad.Get, mad.AttrLedInfo, port, nil)
	if !r.answered(ledGet, x, granted, "") {
		return
	}
	mask := mad.LayoutLedInfo.Field("ledMask")
	for _, on := range []uint64{1, 0, mask.Uint(x.Data)} {
		data := make([]byte, mad.SMPDataSize)
		mask.PutUint(data, on)
		set := m.ask(mad.Set, mad.AttrLedInfo, port, data)
		if !r.answered(ledSet, set, granted, fmt.Sprintf("LedMask %d", on)) {
			continue
		}
		now := m.get(mad.AttrLedInfo, port)
		r.check(ledStored, mask.Uint(set.Data) == on && mask.Uint(now.Data) == on, fmt.Sprintf("LedMask %d", on),
			fmt.Sprintf("%d in the answer, %d in the next Get", mask.Uint(set.Data), mask.Uint(now.Data)), set.sent, set.got, now.got)
	}
}
