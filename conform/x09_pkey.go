package conform

import (
	"encoding/binary"
	"fmt"
	"slices"

	"ibwitness/mad"
	"ibwitness/packet"
)

// specialPKeyTests are those of P_Keys at QP0 and QP1.
var specialPKeyTests = []*Test{generalPKeys, subnetPKeys}

// P_Keys of the tests: those that the tester adds to the table, and others.
var (
	addedPKeys   = []uint16{0x8123, 0x8124, 0x8125}
	unknownPKeys = []uint16{0x8777, 0x8001}
)

var generalPKeys = &Test{
	ID: "X09_006", Title: "P_Keys at QP1",
	Abstract: "QP1 takes packets with each P_Key of the table of its port, and drops those with another one.",
	Covers:   []Statement{{"C9-42", Stated}}, Topology: subnetTopology, Device: Node, Needs: Managed,
	Qualifiers: []string{keyQualifier, "PartitionCap is at least 2"}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		activeText + " Set the entries 1 and 2 and the last one of block 0 of P_KeyTable to 0x8123, 0x8124 and 0x8125, as far as it has these.",
		"Get PortCounters with each P_Key of block 0.",
		"Get it with P_Keys 0x8777 and 0x8001, once each, and with 0xFFFF after each.",
		"Set P_KeyTable to what it was.",
	},
	Assertions: []Assertion{
		{"ours#01", "A request with a P_Key of the table is answered with status code 0."},
		{"ours#02", "A request with another P_Key is not answered."},
	},
	Decisions: ours, Breaks: []string{"PKY-004"},
	run: func(r *run) {
		m, s := r.manager, r.survey()
		size := min(int(s.node.uint(mad.LayoutNodeInfo, "partitionCap")), blockPKeys)
		if size < 2 {
			r.inapplicable("PartitionCap is %d, and the test needs a table with room for another P_Key", size)
		}
		r.at(2)
		m.activate()
		was := slices.Clone(m.get(mad.AttrPKeyTable, 0).Data)
		var keys []uint16
		m.write(mad.AttrPKeyTable, 0, func(data []byte) {
			for i, at := range []int{1, 2, size - 1} {
				if at < size {
					binary.BigEndian.PutUint16(data[2*at:], addedPKeys[i])
				}
			}
			for i := range size {
				if key := binary.BigEndian.Uint16(data[2*i:]); key != 0 {
					keys = append(keys, key)
				}
			}
		})
		r.at(3)
		for _, key := range keys {
			r.answered("ours#01", m.counted(key), granted, fmt.Sprintf("P_Key %#x", key))
		}
		r.at(4)
		for _, key := range unknownPKeys {
			r.silent("ours#02", m.counted(key), fmt.Sprintf(", P_Key %#x", key))
			r.answered("ours#01", m.counted(defaultPKey), granted, "P_Key 0xffff")
		}
		r.at(5)
		m.write(mad.AttrPKeyTable, 0, func(data []byte) { copy(data, was) })
	},
}

// counted gets PortCounters with a P_Key, once.
func (m *manager) counted(key uint16) *exchange {
	return m.offer(m.service(performance(mad.Get, mad.AttrPortCounters), m.counterPort()), func(p *packet.Packet) { p.PKey = key }, nil)
}

var subnetPKeys = &Test{
	ID: "X09_007", Title: "P_Keys at QP0",
	Abstract: "QP0 takes packets whatever their P_Key is.",
	Covers:   []Statement{{"C9-41", Stated}}, Topology: subnetTopology, Device: Node, Needs: Managed,
	Qualifiers: []string{keyQualifier}, Setup: nodeSetup,
	Procedure:  []string{surveyText, activeText, "Get NodeInfo by LIDs with P_Keys 0xFFFF, 0x7FFF, 0x8777, 0x0777 and 0x8000."},
	Assertions: []Assertion{{"ours#01", "Each request is answered with status code 0."}},
	Decisions:  ours, Breaks: []string{"PKY-001", "PKY-004"},
	run: func(r *run) {
		m := r.activated()
		for _, key := range []uint16{defaultPKey, 0x7FFF, 0x8777, 0x0777, 0x8000} {
			r.answered("ours#01", r.unlessBusy(func() *exchange {
				return m.offer(m.smpByLID(), func(p *packet.Packet) { p.PKey = key }, nil)
			}), granted, fmt.Sprintf("P_Key %#x", key))
		}
	},
}
