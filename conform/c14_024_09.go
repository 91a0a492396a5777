package conform

import (
	"fmt"
	"math/rand/v2"

	"ibwitness/mad"
	"ibwitness/subnet"
)

// arbitrationTests are those of row 09 of the attributes of C14-24.1.1, VLArbitrationTable.
var arbitrationTests = []*Test{adapterArbitration, switchArbitration}

// Assertions of VLArbitrationTable.
const (
	arbitrationLanes   = "v1c14-024.1.1#09.01"
	arbitrationGet     = "v1c14-024.1.1#09.02"
	arbitrationSet     = "v1c14-024.1.1#09.03"
	arbitrationStored  = "v1c14-024.1.1#09.04"
	arbitrationRefused = "ours#01"
)

// What a VLArbitrationTable has: blocks 1 and 2 of the low priority table, 3 and 4 of the high one, of 32 entries.
const (
	arbitrationEntries = 32
	laneOfManagement   = 15
)

// arbitrationTest is the test of VLArbitrationTable, at a kind of node.
func arbitrationTest(id, title string, device Kind, topology string, qualifiers ...string) *Test {
	return &Test{
		ID: id, Title: title,
		Abstract: "A port with several data lanes stores its VLArbitrationTable up to VLArbitrationLowCap and VLArbitrationHighCap, and refuses other blocks, and VL 15.",
		Covers:   []Statement{{"C14-24.1.1", Stated}, {"C13-24", Seen}}, Topology: topology, Device: device, Needs: Managed,
		Qualifiers: append(qualifiers, "VLCap is 2 to 5, several data lanes", keyQualifier), Setup: nodeSetup,
		Procedure: []string{
			surveyText,
			"At each port, Get its PortInfo: VLCap, OperationalVLs, VLArbitrationLowCap and VLArbitrationHighCap.",
			"For each block within the two tables, Get VLArbitrationTable, and Set it to data lanes and weights by chance, with weight 0 beyond the table.",
			"Get each block, and Set it to what it was.",
			"Set block 1 with VL 15 in its first entry. Get it.",
			"Get and Set blocks 0, 5 and 65535.",
		},
		Assertions: []Assertion{
			{arbitrationLanes, "VLCap of the port is 2 to 5 where VLArbitrationTable is supported."},
			{arbitrationGet, "Get of a block within the tables is answered with status code 0."},
			{arbitrationSet, "Set of a block within the tables is answered with status code 0."},
			{arbitrationStored, "Each entry within the tables has the lane and the weight that were set, in the answer and in the next Get."},
			{arbitrationRefused, "A Set with VL 15, and Get and Set of other blocks, are answered with status code 7; block 1 is as before."},
		},
		Decisions: []Decision{
			{"VLCap is verified to be 1 to 5, though several lanes are the condition.", "2 to 5. With one lane the test is not applicable."},
			{"Blocks are 0 to 65535.", "Blocks 1 to 4 exist. Of the others 0, 5 and 65535 are taken."},
			{"A block may be whole beyond the table, as block 2 where VLArbitrationLowCap is at most 32.", "What it is answered with is not stated, and it is left out."},
			{"Which of the numbers #09.01 to #09.04 is what, is told by comments only for the first two.", "#09.01 is VLCap, #09.02 the Get, #09.03 the Set, #09.04 what it stores. The refusals are ours."},
		},
		Breaks: []string{"SMP-VA-001"},
		run:    arbitration,
	}
}

var (
	adapterArbitration = arbitrationTest("C14_024_09_CA", "VLArbitrationTable of a channel adapter", ChannelAdapter, eachTopology, anyEnd)
	switchArbitration  = arbitrationTest("C14_024_09_SW", "VLArbitrationTable of a switch", Switch, eachTopology, isSwitch)
)

// arbitration is the procedure of the tests of VLArbitrationTable.
func arbitration(r *run) {
	s := r.survey()
	if s.kind != subnet.Switch && s.port.uint(mad.LayoutPortInfo, "VLCap") < 2 {
		r.inapplicable("VLCap is 1, and the test is for ports with several data lanes")
	}
	chance := rand.New(rand.NewPCG(r.seed, 4))
	for port := s.first; port <= s.ports; port++ {
		r.again(2)
		number := uint32(port)
		if port > 0 {
			r.manager.move(uint8(port))
		}
		if s.kind != subnet.Switch {
			number = 0
		}
		info := r.manager.get(mad.AttrPortInfo, number)
		lanes := info.uint(mad.LayoutPortInfo, "VLCap")
		if s.kind == subnet.Switch && lanes == 1 {
			r.inapplicable("VLCap of port %d is 1, and the test is for ports with several data lanes", port)
		}
		r.check(arbitrationLanes, lanes >= 2 && lanes <= 5, "VLCap 2 to 5", fmt.Sprintf("%d at port %d", lanes, port), info.frames()...)
		r.arbitrationOf(number, info, chance)
	}
}

// arbitrationBlocks are the blocks of a port that are within its tables.
func arbitrationBlocks(port uint32, info *exchange) (list []written) {
	for block := uint32(1); block <= 4; block++ {
		size := int(info.uint(mad.LayoutPortInfo, []string{"VLArbitrationLowCap", "VLArbitrationHighCap"}[(block-1)/2]))
		if n := min(size-arbitrationEntries*int((block-1)%2), arbitrationEntries); n > 0 {
			list = append(list, written{modifier: block<<16 | port, n: n})
		}
	}
	return list
}

// arbitrationOf sets and reads the tables of a port.
func (r *run) arbitrationOf(port uint32, info *exchange, chance *rand.Rand) {
	t := &table{r: r, a: mad.AttrVLArbitration, size: 2, get: arbitrationGet, set: arbitrationSet, stored: arbitrationStored}
	lanes := lanesOf(info.uint(mad.LayoutPortInfo, "operationalVLs"))
	list := arbitrationBlocks(port, info)
	r.again(3)
	t.writeAll(list, func(w *written) []byte {
		return t.block(w.n, func(int) uint32 { return uint32(chance.IntN(lanes)<<8 | chance.IntN(256)) })
	})
	r.again(4)
	t.rereadAll(list)
	t.restoreAll(list)
	r.again(5)
	if len(list) > 0 && list[0].was != nil {
		w := list[0]
		wrong := t.block(w.n, func(i int) uint32 { return uint32(i) << 8 & 0x100 })
		wrong[0], wrong[1] = laneOfManagement, 1
		x := r.manager.ask(mad.Set, mad.AttrVLArbitration, w.modifier, wrong)
		r.answered(arbitrationRefused, x, badValue, "VL 15 in entry 0")
		if now := t.read(w.modifier); now != nil {
			at := t.differs(now.Data, w.was, w.n)
			r.check(arbitrationRefused, at < 0, "block 1 as before", fmt.Sprintf("entry %d differs", at), x.sent, x.got, now.got)
		}
	}
	r.again(6)
	for _, block := range []uint32{0, 5, 0xFFFF} {
		r.refused(arbitrationRefused, mad.AttrVLArbitration, block<<16|port, badValue)
	}
}
