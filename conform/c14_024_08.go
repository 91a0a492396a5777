package conform

import (
	"fmt"

	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/subnet/sma"
)

// Assertions of the tests of an SLtoVLMappingTable that is supported.
const (
	mappingWhere = noTable
	mappingGet   = getRefused
	mappingSet   = setRefused
	mappingKept  = "ours#01"
)

var mappingNumbers = Decision{
	"Which of the numbers #08.01, #08.03 and #08.04 is what, is told by comments only.",
	"#08.01 is that the table is there just where the capability mask says so, #08.03 the Get, #08.04 the Set.",
}

// mapped is an SLtoVLMappingTable that the tester sets: 16 lanes below a number of them, other ones for each seed.
func mapped(seed, lanes int) []byte {
	data := make([]byte, mad.SMPDataSize)
	for sl := range 16 {
		data[sl/2] |= uint8((seed*7+seed/5+sl*(1+seed%3))%lanes) << (4 * (1 - sl%2))
	}
	return data
}

// lanesOf is how many data lanes a code of OperationalVLs means.
func lanesOf(code uint64) int { return []int{1, 1, 2, 4, 8, 15}[min(code, 5)] }

// mappingTable is the table of a port or pair of ports: eight bytes, two lanes each.
func (r *run) mappingTable() *table {
	return &table{r: r, a: mad.AttrSLtoVL, size: 1, get: mappingGet, set: mappingSet, stored: mappingKept}
}

// mappingBytes is how many bytes the table has.
const mappingBytes = 8

var mappingStored = &Test{
	ID: "C14_024_08_03", Title: "SLtoVLMappingTable supported, at a switch",
	Abstract: "A switch whose capability mask says that it supports SLtoVLMappingTable keeps one for each pair of an input port and an output port.",
	Covers:   []Statement{{"C14-24.1.1", Stated}}, Topology: subnetTopology, Device: Switch, Needs: Managed,
	Qualifiers: []string{isSwitch, "bit 6 of CapabilityMask of port 0, IsSLMappingSupported, is 1", keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		"For each output port, from 0 on where EnhancedPort0 is 1, else from 1 on, and each input port from 0 on, Get SLtoVLMappingTable, and Set it to lanes within OperationalVLs that differ from pair to pair.",
		"Get the table of each pair.",
		"Set each to what it was.",
	},
	Assertions: []Assertion{
		{mappingWhere, "Get and Set of SLtoVLMappingTable of each pair are answered with status code 0."},
		{mappingGet, "Get of SLtoVLMappingTable is answered with status code 0."},
		{mappingSet, "Set of SLtoVLMappingTable is answered with status code 0."},
		{mappingKept, "Each pair has the lanes that were set, in the answer and in the next Get, when all pairs were set."},
	},
	Decisions: []Decision{
		mappingNumbers,
		{"The table is read after each Set.", "It is read when all are set, so that a pair which is kept in the place of another one shows (ours)."},
		{"Which lanes are set is not said.", "Those of OperationalVLs; of a port that is Down, whose PortInfo may have any values, 0 and 1."},
		{"There are (NumPorts + 1) squared pairs.", "All. With --sample the corners and 200 by chance, which the report says."},
	},
	run: func(r *run) {
		s := r.survey()
		s.needsLanes(r)
		pairs := portPairs(s.first, s.ports, r.opt.Sample, r.seed)
		if n := (s.ports + 1) * (s.ports + 1 - s.first); len(pairs) < n {
			r.remark("--sample: %d of %d pairs of an input and an output port were set", len(pairs), n)
		}
		t, list := r.mappingTable(), make([]written, len(pairs))
		lanes := map[int]int{}
		for i, p := range pairs {
			list[i] = written{modifier: p.modifier(), n: mappingBytes}
			if lanes[p.out] == 0 {
				lanes[p.out] = 2
				r.again(2)
				info := r.manager.get(mad.AttrPortInfo, uint32(p.out))
				if info.uint(mad.LayoutPortInfo, "portState") != sma.Down {
					lanes[p.out] = lanesOf(info.uint(mad.LayoutPortInfo, "operationalVLs"))
				}
			}
		}
		t.writeAll(list, func(w *written) []byte { return mapped(int(w.modifier), lanes[int(w.modifier&0xFF)]) })
		r.at(3)
		t.rereadAll(list)
		r.each(mappingWhere, fmt.Sprintf("%d pairs", len(pairs)), s.port, mappingGet, mappingSet)
		r.at(4)
		t.restoreAll(list)
	},
}

// each judges an assertion that holds where some others did: those on Get and on Set. x is what says that they should.
func (r *run) each(id, what string, x *exchange, others ...string) {
	o, frames := Pass, []*packet.Packet{x.got}
	for _, other := range others {
		if j := r.judged[other]; j != nil && j.Outcome > o {
			o, frames = j.Outcome, append(frames[:1:1], j.frames...)
		}
	}
	if o == Inconclusive {
		r.open(id, "busy, each time that it was asked", frames...)
		return
	}
	r.check(id, o == Pass, "status code 0", "answers to "+what+" as above", frames...)
}

var adapterMapping = &Test{
	ID: "C14_024_08_01", Title: "SLtoVLMappingTable supported, at a channel adapter",
	Abstract: "A channel adapter or router whose capability mask says that it supports SLtoVLMappingTable stores it.",
	Covers:   []Statement{{"C14-24.1.1", Stated}, {"C14-31", Seen}}, Topology: eachTopology, Device: ChannelAdapter, Needs: Managed,
	Qualifiers: []string{anyEnd, "bit 6 of CapabilityMask, IsSLMappingSupported, is 1", keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		"At each port, Get SLtoVLMappingTable, and Set it to lanes within OperationalVLs: a mapping by chance, all 0, and the last lane for all.",
		"Get it after each Set.",
		"Set it to what it was.",
	},
	Assertions: []Assertion{
		{mappingWhere, "Get and Set of SLtoVLMappingTable are answered with status code 0."},
		{mappingGet, "Get of SLtoVLMappingTable is answered with status code 0."},
		{mappingSet, "Set of SLtoVLMappingTable is answered with status code 0."},
		{mappingKept, "Each service level has the lane that was set, in the answer and in the next Get."},
	},
	Decisions: []Decision{mappingNumbers},
	run: func(r *run) {
		s := r.survey()
		s.needsLanes(r)
		t := r.mappingTable()
		for port := 1; port <= s.ports; port++ {
			r.again(2)
			r.manager.move(uint8(port))
			lanes := lanesOf(r.manager.get(mad.AttrPortInfo, 0).uint(mad.LayoutPortInfo, "operationalVLs"))
			first := t.read(0)
			if first == nil {
				continue
			}
			same := func(lane int) []byte {
				return t.block(mappingBytes, func(int) uint32 { return uint32(lane<<4 | lane) })
			}
			for _, data := range [][]byte{mapped(port, lanes), same(0), same(lanes - 1)} {
				r.again(2)
				set := t.write(0, data, mappingBytes)
				r.again(3)
				t.reread(0, data, mappingBytes, set)
			}
			r.again(4)
			r.manager.ask(mad.Set, mad.AttrSLtoVL, 0, first.Data)
		}
		r.each(mappingWhere, fmt.Sprintf("%d ports", s.ports), s.port, mappingGet, mappingSet)
	},
}

var adapterNoMapping = &Test{
	ID: "C14_024_08_02", Title: "SLtoVLMappingTable not supported, at a channel adapter",
	Abstract: "A channel adapter or router whose capability mask says that it does not support SLtoVLMappingTable has one data lane, and refuses Get and Set of it.",
	Covers:   []Statement{{"C14-24.1.1", Stated}, {"C13-24", Seen}, {"C14-31", Seen}}, Topology: eachTopology, Device: ChannelAdapter, Needs: Managed,
	Qualifiers: []string{anyEnd, "bit 6 of CapabilityMask, IsSLMappingSupported, is 0", keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		"At each port, Get PortInfo: VLCap.",
		"Get SLtoVLMappingTable.",
		"Set it to the inverse of the data that came, to all 0, and to all 15.",
	},
	Assertions: []Assertion{
		{noTable, "No Get and no Set of SLtoVLMappingTable is answered with status code 0."},
		{oneLane, "VLCap says one data lane."},
		{getRefused, "Get of SLtoVLMappingTable is answered, with a status code that refuses it: 1, 2, 3 or 7."},
		{setRefused, "Set of SLtoVLMappingTable is answered, with a status code that refuses it: 1, 2, 3 or 7."},
	},
	Decisions: []Decision{
		{"The capability bit is verified to be 0.", "Where it is 1, the test is not applicable."},
		{"The status is verified to be other than 0.", "Bits 4:2 are judged, and only defined codes refuse."},
	},
	run: func(r *run) {
		s := r.survey()
		if s.capable(sma.CapSLtoVL) {
			r.inapplicable("CapabilityMask says that SLtoVLMappingTable is supported, and the test is for devices without it")
		}
		for port := 1; port <= s.ports; port++ {
			r.again(2)
			r.manager.move(uint8(port))
			info := r.manager.get(mad.AttrPortInfo, 0)
			code := info.uint(mad.LayoutPortInfo, "VLCap")
			r.check(oneLane, code == 1, "VLCap code 1: one data lane", fmt.Sprintf("code %d at port %d", code, port), info.frames()...)
			r.again(3)
			x := r.manager.ask(mad.Get, mad.AttrSLtoVL, 0, nil)
			r.mappingRefused(getRefused, x)
			r.again(4)
			for _, data := range mappings(x) {
				r.mappingRefused(setRefused, r.manager.ask(mad.Set, mad.AttrSLtoVL, 0, data))
			}
		}
	},
}

// mappingRefused judges that a request for SLtoVLMappingTable is refused.
func (r *run) mappingRefused(id string, x *exchange) {
	r.answered(id, x, refusals, "")
	if x.got != nil && !x.busy() {
		r.check(noTable, x.code() != 0, "a status code other than 0", x.outcome()+" to "+x.what(), x.frames()...)
	}
}
