package conform

import (
	"fmt"

	"ibwitness/mad"
	"ibwitness/subnet"
)

// partitionTests are those of row 07 of the attributes of C14-24.1.1, P_KeyTable.
var partitionTests = []*Test{pkeyTable}

// Assertions of pkeyTable.
const (
	pkeyGet     = "ours#01"
	pkeySet     = "ours#02"
	pkeyStored  = "ours#03"
	pkeyOutside = "ours#04"
	pkeyDefault = "ours#05"
)

// P_Keys of a block, and the one that each port has.
const (
	blockPKeys  = 32
	defaultPKey = 0xFFFF
)

var pkeyTable = &Test{
	ID: "X14_009", Title: "P_KeyTable",
	Abstract: "A port stores its P_Keys, in all blocks within its table, and refuses those beyond.",
	Covers:   []Statement{{"C14-24.1.1", Seen}}, Topology: ownTopology, Device: Node, Needs: Managed,
	Qualifiers: []string{keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		"Of each port that has a table, Get P_KeyTable of each block, and Set it: the default P_Key first in block 0, and else one of its own in each entry.",
		"Get each block.",
		"Get and Set the first block that begins at or beyond the end of the table.",
		"Set each block to what it was.",
	},
	Assertions: []Assertion{
		{pkeyGet, "Get of a block within the table is answered with status code 0."},
		{pkeySet, "Set of a block within the table is answered with status code 0."},
		{pkeyStored, "Each entry has the P_Key that was set, in the answer and in the next Get."},
		{pkeyOutside, "Get and Set of a block beyond the table are answered with status code 7."},
		{pkeyDefault, "The first entry of block 0 is the default P_Key, before and after the Sets."},
	},
	Decisions: []Decision{
		{"The page was not seen, only a number that is missing.", "The assertions are ours."},
		{"What a port answers to a P_Key that is there twice is not confirmed.", "It is not tested."},
	},
	run: func(r *run) {
		r.eachAgent(r.survey(), func(s *surveyed) {
			for port, size := range s.pkeyTables() {
				if size > 0 {
					r.pkeysOf(uint32(port), size)
				}
			}
		})
	},
}

// pkeyTables is how many P_Keys ports have: of a switch by their numbers, of another node its port at hand, as 0.
func (s *surveyed) pkeyTables() []int {
	list := []int{int(s.node.uint(mad.LayoutNodeInfo, "partitionCap"))}
	if s.kind == subnet.Switch {
		for range s.ports {
			list = append(list, int(s.switched.uint(mad.LayoutSwitchInfo, "partitionEnforcementCap")))
		}
	}
	return list
}

// pkeysOf sets and reads the table of a port.
func (r *run) pkeysOf(port uint32, size int) {
	t := &table{r: r, a: mad.AttrPKeyTable, size: 2, get: pkeyGet, set: pkeySet, stored: pkeyStored}
	list := blocks(size, blockPKeys)
	first := func() {
		if x := t.read(port << 16); x != nil {
			key := t.entry(x.Data, 0)
			r.check(pkeyDefault, key == defaultPKey, "P_Key 0xffff", fmt.Sprintf("%#x", key), x.frames()...)
		}
	}
	for i := range list {
		list[i].modifier |= port << 16
	}
	r.again(2)
	first()
	t.writeAll(list, func(w *written) []byte {
		return t.block(w.n, func(i int) uint32 {
			n := w.modifier&0xFFFF*blockPKeys + uint32(i)
			if n == 0 {
				return defaultPKey
			}
			return 0x8000*(n&1) + n + port<<6&0x3FFF
		})
	})
	r.again(3)
	t.rereadAll(list)
	first()
	r.again(4)
	r.refused(pkeyOutside, mad.AttrPKeyTable, port<<16|uint32(len(list)), badValue)
	r.again(5)
	t.restoreAll(list)
}
