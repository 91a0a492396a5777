package conform

import (
	"bytes"
	"fmt"

	"ibwitness/mad"
)

// allMappingTests are those of SLtoVLMappingTables that are set together.
var allMappingTests = []*Test{allMappings}

// Assertions of allMappings.
const (
	allTaken   = "ours#01"
	allStored  = "ours#02"
	othersKept = "ours#03"
	allRefused = "ours#04"
)

// Bits of the modifier of SLtoVLMappingTable that mean all input and all output ports, where SwitchInfo says that the programming is optimised.
const (
	allInputs  = 1 << 16
	allOutputs = 1 << 17
)

var allMappings = &Test{
	ID: "X14_010", Title: "SLtoVLMappingTables set together, at a switch",
	Abstract: "A switch that says so sets the SLtoVLMappingTables of all input ports, of all output ports, or of all pairs, by one Set; another refuses that.",
	Covers:   []Statement{{"", NoneID}}, Topology: subnetTopology, Device: Switch, Needs: Managed,
	Qualifiers: []string{isSwitch, "bit 6 of CapabilityMask of port 0, IsSLMappingSupported, is 1", keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		"Where bit 0 of OptimizedSLtoVLMappingProgramming of SwitchInfo is 1, Set SLtoVLMappingTable of the first pair with bit 16 of the modifier, of the last with bit 17, and of the first with both, each to other lanes.",
		"After each Set, Get the table of each pair.",
		"Where the bit is 0, Set SLtoVLMappingTable of the first pair with bit 16, with bit 17, and with both; Get it.",
	},
	Assertions: []Assertion{
		{allTaken, "Where it is supported, the Set is answered with status code 0."},
		{allStored, "Where it is supported, each pair that the Set means has the lanes that were set."},
		{othersKept, "Where it is supported, each other pair has the lanes that it had."},
		{allRefused, "Where it is not supported, the Set is answered with status code 7, and the pair has the lanes that it had."},
	},
	Breaks:    []string{"SMP-SV-001"},
	Decisions: []Decision{{"There are (NumPorts + 1) squared pairs.", "All. With --sample the corners and 200 by chance, which the report says."}},
	run: func(r *run) {
		s := r.survey()
		s.needsLanes(r)
		pairs := portPairs(s.first, s.ports, r.opt.Sample, r.seed)
		if n := (s.ports + 1) * (s.ports + 1 - s.first); len(pairs) < n {
			r.remark("--sample: %d of %d pairs of an input and an output port were read", len(pairs), n)
		}
		first, last := pairs[0], pairs[len(pairs)-1]
		sets := []wideSet{{first, true, false}, {last, false, true}, {first, true, true}}
		if s.switched.uint(mad.LayoutSwitchInfo, "optimizedSLtoVLMappingProgramming")&1 == 0 {
			for _, id := range []string{allTaken, allStored, othersKept} {
				r.skip(id, "SwitchInfo says that it is not supported")
			}
			r.at(4)
			r.wideRefused(first, sets)
			return
		}
		r.skip(allRefused, "SwitchInfo says that it is supported")
		now := map[portPair][]byte{}
		for _, p := range pairs {
			now[p] = make([]byte, mappingBytes)
			copy(now[p], r.manager.get(mad.AttrSLtoVL, p.modifier()).Data)
		}
		for i, w := range sets {
			r.again(2)
			data := mapped(i+1, 2)[:mappingBytes]
			x := r.manager.ask(mad.Set, mad.AttrSLtoVL, w.modifier(), data)
			if r.answered(allTaken, x, granted, "") {
				r.again(3)
				r.wideStored(w, x, pairs, now, data)
			}
		}
	},
}

// wideSet is a Set of a pair that means others, too.
type wideSet struct {
	portPair
	inputs, outputs bool
}

func (w wideSet) modifier() uint32 {
	m := w.portPair.modifier()
	if w.inputs {
		m |= allInputs
	}
	if w.outputs {
		m |= allOutputs
	}
	return m
}

// means reports whether a Set is about a pair.
func (w wideSet) means(p portPair) bool {
	return (w.inputs || p.in == w.in) && (w.outputs || p.out == w.out)
}

// wideStored judges what a Set has made of all pairs, and keeps it.
func (r *run) wideStored(w wideSet, x *exchange, pairs []portPair, now map[portPair][]byte, data []byte) {
	for _, p := range pairs {
		id := othersKept
		if w.means(p) {
			id, now[p] = allStored, data
		}
		y := r.manager.get(mad.AttrSLtoVL, p.modifier())
		got := y.Data[:mappingBytes]
		r.check(id, bytes.Equal(got, now[p]), fmt.Sprintf("lanes %x of input port %d, output port %d", now[p], p.in, p.out), fmt.Sprintf("%x", got), x.sent, x.got, y.got)
	}
}

// wideRefused judges that Sets of many pairs are refused, and change nothing.
func (r *run) wideRefused(first portPair, sets []wideSet) {
	before := r.manager.get(mad.AttrSLtoVL, first.modifier())
	for i, w := range sets {
		w.portPair = first
		x := r.manager.ask(mad.Set, mad.AttrSLtoVL, w.modifier(), mapped(i+1, 2)[:mappingBytes])
		r.answered(allRefused, x, badValue, "")
		y := r.manager.get(mad.AttrSLtoVL, first.modifier())
		r.check(allRefused, bytes.Equal(before.Data[:mappingBytes], y.Data[:mappingBytes]), "lanes as before", fmt.Sprintf("%x", y.Data[:mappingBytes]), before.got, x.sent, x.got, y.got)
	}
}
