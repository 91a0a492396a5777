package conform

import (
	"fmt"
	"math/rand/v2"

	"ibwitness/mad"
)

// forwardingTests are those of rows 10 to 12 of the attributes of C14-24.1.1: LinearForwardingTable, RandomForwardingTable and MulticastForwardingTable.
var forwardingTests = []*Test{linearRefused, linearStored, linearBeyond, randomTable, multicastTable}

// Assertions of LinearForwardingTable.
const (
	linearWhere   = "v1c14-024.1.1#10.01"
	onlyOneTable  = "v1c14-024.1.1#10.02"
	linearGet     = "v1c14-024.1.1#10.03"
	linearSet     = "v1c14-024.1.1#10.04"
	linearKept    = "v1c14-024.1.1#10.05"
	linearNoPort  = "v1c14-024.1.1#10.06"
	linearOutside = "ours#01"
)

// What the tables have.
const (
	linearEntries    = 64
	randomEntries    = 16
	multicastEntries = 32
	portsOfPosition  = 16
	noRoute          = 255 // of a forwarding table: packets are dropped
)

var linearNumbers = Decision{
	"Six numbers, #10.01 to #10.06, are given for three procedures that number the same cases in two ways.",
	"#10.01 is that the table is there just where LinearFDBCap is not 0, #10.02 that there are not both tables, #10.03 the Get, #10.04 the Set, #10.05 that entries are stored, #10.06 that a port which the switch does not have is no way for packets.",
}

// assertions that there are not both tables.
var oneTable = Assertion{onlyOneTable, "LinearFDBCap and RandomFDBCap are not both other than 0."}

// forwarding begins a test of a forwarding table: it judges that a switch has not both of unicast.
func (r *run) forwarding() *surveyed {
	s := r.survey()
	linear, random := s.switched.uint(mad.LayoutSwitchInfo, "linearFDBCap"), s.switched.uint(mad.LayoutSwitchInfo, "randomFDBCap")
	if r.test.Assertion(onlyOneTable) != nil {
		r.check(onlyOneTable, linear == 0 || random == 0, "one of them 0", fmt.Sprintf("LinearFDBCap %d, RandomFDBCap %d", linear, random), s.switched.got)
	}
	return s
}

var linearRefused = &Test{
	ID: "C14_024_10_01", Title: "LinearForwardingTable not supported",
	Abstract: "A switch whose LinearFDBCap is 0 refuses Get and Set of LinearForwardingTable.",
	Covers:   []Statement{{"C14-24.1.1", Stated}, {"C13-24", Seen}}, Topology: subnetTopology, Device: Switch, Needs: Managed,
	Qualifiers: []string{isSwitch, "LinearFDBCap is 0", keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		"Get LinearForwardingTable of blocks 0 and 767.",
		"Set them.",
	},
	Assertions: []Assertion{
		{linearWhere, "Where LinearFDBCap is 0, no Get and no Set is answered with status code 0."},
		oneTable,
		{linearGet, "Get is answered, with a status code that refuses it: 1, 2, 3 or 7."},
		{linearSet, "Set is answered, with a status code that refuses it: 1, 2, 3 or 7."},
	},
	Decisions: []Decision{
		linearNumbers,
		{"#10.05 and #10.06 are named, too.", "They are about entries, which a switch without the table does not have."},
		{"The status is verified to be other than 0.", "Bits 4:2 are judged, and only defined codes refuse."},
	},
	run: func(r *run) {
		if s := r.forwarding(); s.switched.uint(mad.LayoutSwitchInfo, "linearFDBCap") != 0 {
			r.inapplicable("LinearFDBCap is not 0, and the test is for switches without the table")
		}
		for i, method := range []mad.Method{mad.Get, mad.Set} {
			r.at(i + 2)
			for _, block := range []uint32{0, 767} {
				x := r.manager.ask(method, mad.AttrLinearForwarding, block, make([]byte, mad.SMPDataSize))
				r.answered([]string{linearGet, linearSet}[i], x, refusals, "")
				if x.got != nil && !x.busy() {
					r.check(linearWhere, x.code() != 0, "a status code other than 0", x.outcome()+" to "+x.what(), x.frames()...)
				}
			}
		}
	},
}

// linear begins a test of LinearForwardingTable, and returns LinearFDBCap.
func (r *run) linear() (s *surveyed, t *table, size int) {
	s = r.forwarding()
	if size = int(s.switched.uint(mad.LayoutSwitchInfo, "linearFDBCap")); size == 0 {
		r.inapplicable("LinearFDBCap is 0, and the test is for switches with the table")
	}
	return s, &table{r: r, a: mad.AttrLinearForwarding, size: 1, get: linearGet, set: linearSet, stored: linearKept}, size
}

var linearStored = &Test{
	ID: "C14_024_10_02", Title: "LinearForwardingTable, valid ports",
	Abstract: "A switch whose LinearFDBCap is not 0 stores the port of each LID, in all blocks.",
	Covers:   []Statement{{"C14-24.1.1", Stated}, {"C13-24", Seen}}, Topology: subnetTopology, Device: Switch, Needs: Managed,
	Qualifiers: []string{isSwitch, "LinearFDBCap is not 0", keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		"For each block, Get LinearForwardingTable, and Set it to ports by chance, of 0 to NumPorts and 255.",
		"Get each block.",
		"Get and Set the first block that begins at or beyond LinearFDBCap.",
		"Set each block to what it was.",
	},
	Assertions: []Assertion{
		{linearWhere, "Where LinearFDBCap is not 0, Get and Set of a block within it are answered with status code 0."},
		oneTable,
		{linearGet, "Get is answered with status code 0."},
		{linearSet, "Set is answered with status code 0."},
		{linearKept, "Each entry has the port that was set, in the answer and in the next Get."},
		{linearOutside, "Get and Set of a block beyond LinearFDBCap are answered with status code 7."},
	},
	Decisions: []Decision{
		linearNumbers,
		{"LID 0 is left out.", "It is set, as a block has it, and not compared."},
	},
	run: func(r *run) {
		s, t, size := r.linear()
		list := blocks(size, linearEntries)
		chance := rand.New(rand.NewPCG(r.seed, 1))
		r.at(2)
		t.writeAll(list, func(w *written) []byte {
			data := t.block(w.n, func(int) uint32 { return []uint32{uint32(chance.IntN(s.ports + 1)), noRoute}[chance.IntN(8)/7] })
			if w.modifier == 0 {
				data[0] = noRoute
			}
			return data
		})
		r.at(3)
		t.rereadAll(list)
		r.each(linearWhere, fmt.Sprintf("%d blocks", len(list)), s.switched, linearGet, linearSet)
		r.at(4)
		r.refused(linearOutside, mad.AttrLinearForwarding, uint32(len(list)), badValue)
		r.at(5)
		t.restoreAll(list)
	},
}

// beyondLID is a LID to which the tester sends packets that are dropped.
const beyondLID = 40

var linearBeyond = &Test{
	ID: "C14_024_10_03", Title: "LinearForwardingTable, ports that the switch does not have",
	Abstract: "A switch takes a port that it does not have, and drops packets to the LID.",
	Covers:   []Statement{{"C14-24.1.1", Stated}, {"C13-24", Seen}}, Topology: subnetTopology, Device: Switch, Needs: Managed,
	Qualifiers: []string{isSwitch, "LinearFDBCap is not 0", "NumPorts is at most 253", keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		"Give LIDs to the device and the tester, and take their link to Active. Ask the performance management agent of the device.",
		fmt.Sprintf("Set LinearFDBTop to %d, and in LinearForwardingTable LID %d to NumPorts + 1, and then to 254.", beyondLID, beyondLID),
		fmt.Sprintf("After each, send 3 packets to LID %d.", beyondLID),
		"Ask the performance management agent of the device.",
	},
	Assertions: []Assertion{
		{linearWhere, "Where LinearFDBCap is not 0, Get and Set of the table are answered with status code 0."},
		oneTable,
		{linearGet, "Get is answered with status code 0."},
		{linearSet, "Set of a port that the switch does not have is answered with status code 0."},
		{linearNoPort, "A packet to such a LID is dropped: nothing leaves at the link of the tester, before and after which packets to the device are answered."},
	},
	Decisions: []Decision{
		linearNumbers,
		{"#10.05 is named, too.", "Whether the entry is read as it was set is not said of such a port, and only noted."},
		{"Nothing is sent.", "Packets are, as that is what the entry is for. A port that the device does not have shows nothing; only the link of the tester is observed."},
	},
	Breaks: []string{"SMP-LF-001"},
	run: func(r *run) {
		s, _, _ := r.linear()
		m := r.manager
		if s.ports > 253 {
			r.inapplicable("NumPorts is %d: each port number is one that the switch has, or means no way", s.ports)
		}
		r.at(2)
		m.activate()
		before := m.ping(0)
		if before.got == nil {
			r.halt("the device does not answer packets on its link")
		}
		for _, port := range distinct(uint64(s.ports)+1, 254) {
			r.again(3)
			m.set(mad.AttrSwitchInfo, 0, map[string]uint64{"linearFDBTop": beyondLID})
			r.noWay(before, uint8(port))
		}
		r.at(5)
		if x := m.ping(0); x.got == nil {
			r.open(linearNoPort, "the device does not answer packets any more, so that silence shows nothing", x.sent)
		}
		r.each(linearWhere, "block 0", s.switched, linearGet, linearSet)
	},
}

// noWay sets the port of a LID to one that the switch does not have, and sends packets to the LID.
func (r *run) noWay(before *exchange, port uint8) {
	m := r.manager
	x := m.ask(mad.Get, mad.AttrLinearForwarding, 0, nil)
	if !r.answered(linearGet, x, granted, "") {
		return
	}
	data := append([]byte(nil), x.Data...)
	data[beyondLID] = port
	set := m.ask(mad.Set, mad.AttrLinearForwarding, 0, data)
	if !r.answered(linearSet, set, granted, fmt.Sprintf("port %d", port)) {
		return
	}
	r.note("the answer has port %d for LID %d", set.Data[beyondLID], beyondLID)
	r.again(4)
	for range madTries {
		had := len(r.result.Frames)
		sent := m.stray(beyondLID)
		r.settle()
		r.check(linearNoPort, len(r.result.Frames) == had+1, "nothing leaves", fmt.Sprintf("%d frames of the device after a packet to LID %d, port %d", len(r.result.Frames)-had-1, beyondLID, port), before.got, sent, m.passed)
	}
}

// Assertions of randomTable.
const (
	randomGet     = "v1c14-024.1.1#11.01"
	randomSet     = "v1c14-024.1.1#11.02"
	randomStored  = "v1c14-024.1.1#11.03"
	randomOutside = "ours#01"
)

// The valid bit of an entry of a RandomForwardingTable (section 14.2.5.11).
const randomValid = 1 << 15

var randomTable = &Test{
	ID: "C14_024_11", Title: "RandomForwardingTable, supported or not",
	Abstract: "A switch whose RandomFDBCap is not 0 stores RandomForwardingTable; another refuses it.",
	Covers:   []Statement{{"C14-24.1.1", Stated}, {"C13-24", Seen}}, Topology: subnetTopology, Device: Switch, Needs: Managed,
	Qualifiers: []string{isSwitch, keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		"Where RandomFDBCap is not 0, for each block Get RandomForwardingTable, and Set it: a LID of its own in each entry, valid, and a port by chance.",
		"Get each block; Get and Set the first that begins at or beyond RandomFDBCap; Set each to what it was.",
		"Where RandomFDBCap is 0, Get and Set RandomForwardingTable.",
	},
	Assertions: []Assertion{
		oneTable,
		{randomGet, "Where RandomFDBCap is not 0, Get is answered with status code 0; where it is 0, Get and Set are answered with status code 3."},
		{randomSet, "Where it is supported, Set is answered with status code 0."},
		{randomStored, "Each entry has the values that were set, in the answer and in the next Get."},
		{randomOutside, "Get and Set of a block beyond RandomFDBCap are answered with status code 7."},
	},
	Decisions: []Decision{
		{"Which of the numbers #11.01 to #11.03 is what, is not told.", "As of MulticastForwardingTable: #11.01 is that the table is there just where RandomFDBCap is not 0, and its Get, #11.02 the Set, #11.03 what it stores."},
		{"SwitchInfo is read out of the answer to NodeInfo.", "It is read by a Get of its own."},
	},
	run: func(r *run) {
		s := r.forwarding()
		size := int(s.switched.uint(mad.LayoutSwitchInfo, "randomFDBCap"))
		if size == 0 {
			for _, id := range []string{randomSet, randomStored, randomOutside} {
				r.skip(id, "RandomForwardingTable is not supported")
			}
			r.at(4)
			r.refused(randomGet, mad.AttrRandomForwarding, 0, noMethod)
			return
		}
		t := &table{r: r, a: mad.AttrRandomForwarding, size: 4, get: randomGet, set: randomSet, stored: randomStored}
		list := blocks(size, randomEntries)
		chance := rand.New(rand.NewPCG(r.seed, 2))
		r.at(2)
		t.writeAll(list, func(w *written) []byte {
			return t.block(w.n, func(i int) uint32 {
				lid := uint32(int(w.modifier)*randomEntries+i)%0xBFFF + 1
				return lid<<16 | randomValid | uint32(chance.IntN(s.ports)+1)
			})
		})
		r.at(3)
		t.rereadAll(list)
		r.refused(randomOutside, mad.AttrRandomForwarding, uint32(len(list)), badValue)
		t.restoreAll(list)
	},
}

// Assertions of multicastTable.
const (
	multicastGet     = "v1c14-024.1.1#12.01"
	multicastSet     = "v1c14-024.1.1#12.02"
	multicastStored  = "v1c14-024.1.1#12.03"
	multicastOutside = "ours#01"
)

var multicastTable = &Test{
	ID: "C14_024_12", Title: "MulticastForwardingTable, supported or not",
	Abstract: "A switch whose MulticastFDBCap is not 0 stores the ports of each multicast LID, in all blocks and positions; another refuses the table.",
	Covers:   []Statement{{"C14-24.1.1", Stated}, {"C13-24", Seen}}, Topology: subnetTopology, Device: Switch, Needs: Managed,
	Qualifiers: []string{isSwitch, keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		"Where MulticastFDBCap is not 0, for each block and each position that has ports Get MulticastForwardingTable, and Set masks by chance, of ports 0 to NumPorts.",
		"Get each block; Get and Set the first that begins at or beyond MulticastFDBCap; Set each to what it was.",
		"Where MulticastFDBCap is 0, Get and Set MulticastForwardingTable.",
	},
	Assertions: []Assertion{
		{multicastGet, "Where MulticastFDBCap is not 0, Get is answered with status code 0; where it is 0, Get and Set are refused, with status code 1, 2, 3 or 7."},
		{multicastSet, "Where it is supported, Set is answered with status code 0."},
		{multicastStored, "Each mask is the one that was set, in the answer and in the next Get."},
		{multicastOutside, "Get and Set of a block beyond MulticastFDBCap are answered with status code 7."},
	},
	Decisions: []Decision{
		{"Of the numbers #12.01 to #12.03 only the first is told: MulticastFDBCap.", "#12.01 is that the table is there just where that is not 0, and its Get, #12.02 the Set, #12.03 what it stores."},
		{"Masks may name ports that the switch does not have.", "Only ports from 0 to NumPorts are set and compared."},
	},
	run: func(r *run) {
		s := r.forwarding()
		size := int(s.switched.uint(mad.LayoutSwitchInfo, "multicastFDBCap"))
		if size == 0 {
			for _, id := range []string{multicastSet, multicastStored, multicastOutside} {
				r.skip(id, "MulticastForwardingTable is not supported")
			}
			r.at(4)
			r.refused(multicastGet, mad.AttrMulticastForwarding, 0, refusals)
			return
		}
		t := &table{r: r, a: mad.AttrMulticastForwarding, size: 2, get: multicastGet, set: multicastSet, stored: multicastStored}
		chance := rand.New(rand.NewPCG(r.seed, 3))
		list := positions(size, s.ports)
		r.at(2)
		t.writeAll(list, func(w *written) []byte {
			there := min(s.ports+1-int(w.modifier>>28)*portsOfPosition, portsOfPosition)
			return t.block(w.n, func(int) uint32 { return uint32(chance.IntN(1 << there)) })
		})
		r.at(3)
		t.rereadAll(list)
		r.refused(multicastOutside, mad.AttrMulticastForwarding, uint32((size+multicastEntries-1)/multicastEntries), badValue)
		t.restoreAll(list)
	},
}

// positions are the blocks of a MulticastForwardingTable, each at all positions that have ports: block in bits 8:0, position in bits 31:28.
func positions(entries, ports int) (list []written) {
	for _, w := range blocks(entries, multicastEntries) {
		for p := 0; p*portsOfPosition <= ports; p++ {
			at := w
			at.modifier |= uint32(p) << 28
			list = append(list, at)
		}
	}
	return list
}
