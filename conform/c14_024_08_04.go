package conform

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"

	"ibwitness/mad"
	"ibwitness/subnet"
	"ibwitness/subnet/sma"
)

// mappingTests are those of row 08 of the attributes of C14-24.1.1, SLtoVLMappingTable.
var mappingTests = []*Test{mappingRefused, mappingStored, adapterMapping, adapterNoMapping}

// Assertions of mappingRefused.
const (
	noTable    = "v1c14-024.1.1#08.01"
	oneLane    = "v1c14-024.1.1#08.02"
	getRefused = "v1c14-024.1.1#08.03"
	setRefused = "v1c14-024.1.1#08.04"
	oneInUse   = "ours#01"
	notKept    = "ours#02"
	sameInfo   = "ours#03"
	firstLane  = "ours#04"
)

var mappingRefused = &Test{
	ID: "C14_024_08_04", Title: "SLtoVLMappingTable not supported, at a switch",
	Abstract: "A switch whose capability mask says that it does not support SLtoVLMappingTable has one data lane, and refuses Get and Set of it for every pair of an input port and an output port.",
	Covers:   []Statement{{"C14-24.1.1", Stated}, {"C13-24", Seen}, {"C14-31", Seen}}, Topology: subnetTopology, Device: Switch, Needs: Managed,
	Qualifiers: []string{"NodeType is 2, a switch", "bit 6 of CapabilityMask of port 0, IsSLMappingSupported, is 0", "the M_Key is 0, or PortInfo shows it"},
	Setup:      []string{"Link the tester with port 1 of the device. Subnet management packets go by a directed route of one hop."},
	Procedure: []string{
		"Get NodeInfo: NodeType and NumPorts.",
		"Get PortInfo of port 0: CapabilityMask, RespTimeValue and SubnetTimeOut, and the M_Key, which all later requests have.",
		"Get SwitchInfo: output ports are from 0 on where EnhancedPort0 is 1, else from 1 on. Where it is 0, Get SLtoVLMappingTable of output port 0 once, and only note the answer.",
		"For each output port, Get its PortInfo: VLCap and OperationalVLs.",
		"For each input port from 0 on, Get SLtoVLMappingTable of the pair: it is refused.",
		"Set it to the inverse of the data that came, to all 0, and to all 15: each is refused.",
		"Get it once more: it is still refused.",
		"After all input ports of an output port, Get its PortInfo: nothing has changed.",
		"Give LIDs to the device and the tester, and take their link to Active. On each SL ask the performance management agent of the device: the answer leaves on VL 0.",
	},
	Assertions: []Assertion{
		{noTable, "No Get and no Set of SLtoVLMappingTable is answered with status code 0."},
		{oneLane, "VLCap of each port says one data lane."},
		{getRefused, "Get of SLtoVLMappingTable is answered, with a status code that refuses it: 1, 2, 3 or 7."},
		{setRefused, "Set of SLtoVLMappingTable is answered, with a status code that refuses it: 1, 2, 3 or 7."},
		{oneInUse, "OperationalVLs of each port says one data lane."},
		{notKept, "A Get that was refused is refused after the Sets too."},
		{sameInfo, "Refused Sets leave PortInfo of the output port as it was."},
		{firstLane, "A packet of each SL leaves on VL 0."},
	},
	Decisions: []Decision{
		{"The speed is given as QDR; the M_Key is not mentioned.", "The speed is no condition. The M_Key and its protect bits are read first, and the key is used; where it is not shown, the test is inconclusive: each Set would be met by silence."},
		{"There is one Get and two receives, and no step looks whether it is a switch.", "One receive. With a NodeType that is not 2 the test is not applicable."},
		{"The capability bit is verified to be 1, and then the test ends.", "0: go on. 1: not applicable, as that is what C14_024_08_03 is about. Never a failure."},
		{"ENHANCED_PORT_0_SUPPORTED is never set, and its If has no body and no end.", "It is EnhancedPort0 of SwitchInfo."},
		{"Output ports begin at ENHANCED_PORT_0_SUPPORTED, which leaves out port 0 just where it is legal.", "Outputs from 0 where EnhancedPort0 is 1, else from 1; inputs from 0 always; both to NumPorts."},
		{"Steps 12 to 22 are repeated, and there are 21, of which 10 reads PortInfo of the port.", "10 to 20."},
		{"PortInfo is read with the modifier of the table, which has two ports.", "PortInfo of the output port: its lanes are meant."},
		{"VLCap is verified for output port 0 of a base port 0, too, where it is not defined.", "For outputs 1 to NumPorts, and for 0 where port 0 is enhanced. OperationalVLs is verified, too (ours)."},
		{"Bits 31:16 of the modifier are 0.", "As it says. Bits 16 and 17 select all ports where the programming is optimised, which is another test."},
		{"The status is verified to be other than 0, which it always is: bit 15 of a directed-route answer is the direction.", "Bits 4:2 are judged. Where the device is busy it is asked three times more, and then the step is inconclusive; busy and redirect are no refusal."},
		{"Which codes refuse is not said.", "3, method and attribute, is expected; 1, 2 and 7 pass with a remark of ours. 4 to 6 are reserved and fail."},
		{"That no answer comes is not provided for.", "Three tries, each as long as RespTimeValue and SubnetTimeOut let it: then it fails, as what is not supported is answered."},
		{"The three assertions on the status are not told apart.", "#08.01 is that no status code is 0, #08.03 the answer to Get, #08.04 that to Set."},
		{"The data of the refused Get are saved.", "They mean nothing, and are only inverted to send something else."},
		{"A Set has any values.", "Three Sets: inverse, all 0, all 15, so lanes within VLCap and beyond."},
		{"The last Get is verified to have the new values.", "A copy of C14_024_08_03: what a refusal carries is not defined, and is only noted. In its place: still refused, PortInfo unchanged, and a packet of each SL leaves on VL 0 (ours): one of the device itself, by port 1."},
		{"The assertions of C13-24 and C14-31 are on the page for channel adapters only.", "The statements are covered (~), without an assertion of their own."},
		{"There are (NumPorts + 1) squared pairs.", "All. With --sample the corners and 200 by chance, which the report says."},
	},
	run: func(r *run) {
		t := &mappingRefusal{r: r, m: r.manager}
		ports, first := t.survey()
		list := portPairs(first, ports, r.opt.Sample, r.seed)
		if n := (ports + 1) * (ports + 1 - first); len(list) < n {
			r.remark("--sample: %d of %d pairs of an input and an output port were asked for", len(list), n)
		}
		for len(list) > 0 {
			n := slices.IndexFunc(list, func(p portPair) bool { return p.out != list[0].out })
			if n < 0 {
				n = len(list)
			}
			t.output(list[:n])
			list = list[n:]
		}
		for code, n := range t.codes {
			if n > 0 && code != expectedCode {
				r.remark("warning: %d requests were refused with status code %d, where %d is expected: the method is not supported for the attribute", n, code, expectedCode)
			}
		}
		t.lanes()
		r.note("data of refused Sets, which nothing defines: %d as sent, %d all 0, %d other", t.echoed, t.zero, t.other)
	},
}

// expectedCode is the status code of a method that is not supported for an attribute (table T10).
const expectedCode = int(mad.StatusAttribute >> 2)

// mappingRefusal is a run of mappingRefused.
type mappingRefusal struct {
	r                   *run
	m                   *manager
	codes               [8]int // refusals by status code
	echoed, zero, other int    // refused Sets by the data of their answers
}

// portPair is an input and an output port of a switch: a legal modifier of SLtoVLMappingTable (table T11).
type portPair struct{ in, out int }

func (p portPair) modifier() uint32 { return uint32(p.in<<8 | p.out) }

// sampled is how many pairs by chance a sample has, beside the corners.
const sampled = 200

// portPairs are the pairs of an input port from 0 and an output port from first on, both up to ports, in the order of outputs.
func portPairs(first, ports int, sample bool, seed uint64) (list []portPair) {
	corner := func(p portPair) bool { return (p.in == 0 || p.in == ports) && (p.out == first || p.out == ports) }
	for out := first; out <= ports; out++ {
		for in := range ports + 1 {
			list = append(list, portPair{in, out})
		}
	}
	if !sample || len(list) <= sampled+4 {
		return list
	}
	var kept []portPair
	rest := rand.New(rand.NewPCG(seed, 0x5A3B)).Perm(len(list))
	rest = slices.DeleteFunc(rest, func(i int) bool { return corner(list[i]) })[:sampled]
	for i, p := range list {
		if corner(p) || slices.Contains(rest, i) {
			kept = append(kept, p)
		}
	}
	return kept
}

// survey looks whether the test is for the device, and returns its number of ports and its first output port.
func (t *mappingRefusal) survey() (ports, first int) {
	r, m := t.r, t.m
	r.at(1)
	info := m.get(mad.AttrNodeInfo, 0)
	kind := subnet.NodeType(mad.LayoutNodeInfo.Field("nodeType").Uint(info.Data))
	ports = int(mad.LayoutNodeInfo.Field("numPorts").Uint(info.Data))
	if kind != subnet.Switch {
		r.inapplicable("NodeType is %d, %v, and the test is for switches", kind, kind)
	}
	r.at(2)
	managed := m.get(mad.AttrPortInfo, 0)
	m.learn(managed)
	if mask := mad.LayoutPortInfo.Field("capabilityMask").Uint(managed.Data); mask&sma.CapSLtoVL != 0 {
		r.inapplicable("CapabilityMask %#x says that SLtoVLMappingTable is supported, and the test is for switches without it", mask)
	}
	r.at(3)
	if mad.LayoutSwitchInfo.Field("enhancedPort0").Uint(m.get(mad.AttrSwitchInfo, 0).Data) == 0 {
		first = 1
		r.note("output port 0 of a base port 0: %s", m.ask(mad.Get, mad.AttrSLtoVL, portPair{0, 0}.modifier(), nil).outcome())
	}
	return ports, first
}

// output asks for all pairs of one output port.
func (t *mappingRefusal) output(pairs []portPair) {
	r, out := t.r, pairs[0].out
	r.again(4)
	before := t.m.get(mad.AttrPortInfo, uint32(out))
	for _, x := range []struct{ id, field string }{{oneLane, "VLCap"}, {oneInUse, "operationalVLs"}} {
		code := mad.LayoutPortInfo.Field(x.field).Uint(before.Data)
		r.check(x.id, code == 1, x.field+" code 1: one data lane", fmt.Sprintf("code %d at port %d", code, out), before.frames()...)
	}
	var last *exchange
	for _, p := range pairs {
		last = t.pair(p)
	}
	r.again(8)
	after := t.m.get(mad.AttrPortInfo, uint32(out))
	d := portInfoDiffers(before.Data, after.Data)
	r.check(sameInfo, d == "", fmt.Sprintf("PortInfo of port %d as before the Sets", out), actually(d, "unchanged"), before.got, last.sent, after.got)
}

// pair asks for one pair, and returns its last Set.
func (t *mappingRefusal) pair(p portPair) (last *exchange) {
	r := t.r
	r.again(5)
	first := t.m.ask(mad.Get, mad.AttrSLtoVL, p.modifier(), nil)
	refused := t.refused(getRefused, mad.Get, p, first)
	r.again(6)
	for _, data := range mappings(first) {
		last = t.m.ask(mad.Set, mad.AttrSLtoVL, p.modifier(), data)
		if !t.refused(setRefused, mad.Set, p, last) {
			continue
		}
		switch got := last.Data[:len(data)]; {
		case bytes.Equal(got, data):
			t.echoed++
		case bytes.Equal(got, make([]byte, len(data))):
			t.zero++
		default:
			t.other++
		}
	}
	r.again(7)
	x := t.m.ask(mad.Get, mad.AttrSLtoVL, p.modifier(), nil)
	switch {
	case !refused: // before the Sets: they have changed nothing
	case x.busy():
		r.open(notKept, "busy, each time that it was asked", x.frames()...)
	default:
		r.check(notKept, x.got != nil && x.code() != 0, "a refusal, as before the Sets", x.outcome(), first.got, last.sent, x.sent, x.got)
	}
	return last
}

// lanes judges on which virtual lane the device answers packets of each service level.
func (t *mappingRefusal) lanes() {
	r := t.r
	r.at(9)
	t.m.activate()
	for sl := range uint8(16) {
		x := t.m.ping(sl)
		if x.got == nil {
			r.open(firstLane, fmt.Sprintf("no answer to %d packets of SL %d", madTries, sl), x.sent)
			continue
		}
		r.check(firstLane, x.got.VL == 0, "VL 0", fmt.Sprintf("VL %d with SL %d", x.got.VL, sl), x.frames()...)
	}
}

// mappings are what a pair is set to, 16 virtual lanes of 4 bits each: the inverse of what came, all 0, all 15.
func mappings(came *exchange) [3][]byte {
	const size = 8
	inverse, ones := make([]byte, size), bytes.Repeat([]byte{0xFF}, size)
	copy(inverse, came.Data)
	for i := range inverse {
		inverse[i] ^= 0xFF
	}
	return [3][]byte{inverse, make([]byte, size), ones}
}

// refused judges that a request was answered with a refusal, and returns whether it was.
func (t *mappingRefusal) refused(id string, method mad.Method, p portPair, x *exchange) bool {
	const want = "a refusal: status code 1, 2, 3 or 7"
	what := fmt.Sprintf("%v for input port %d, output port %d", method, p.in, p.out)
	switch {
	case x.got == nil:
		return t.r.check(id, false, want, fmt.Sprintf("no answer to %d tries of %s, each for %s", madTries, what, exact(t.m.wait)), x.sent)
	case x.busy():
		t.r.open(id, fmt.Sprintf("busy, each of the %d times that it was asked: %s", busyTries, what), x.frames()...)
		return false
	}
	actual := fmt.Sprintf("%s to %s", x.outcome(), what)
	t.r.check(noTable, x.code() != 0, "a status code other than 0", actual, x.frames()...)
	if !t.r.check(id, x.code() == 7 || x.code() > 0 && x.code() < 4, want, actual, x.frames()...) {
		return false
	}
	t.codes[x.code()]++
	return true
}

// variable are the components of PortInfo that change without a Set: what the link and the traffic make of them.
var variable = []string{
	"diagCode", "portState", "portPhysicalState", "linkWidthActive", "linkSpeedActive", "linkSpeedExtActive", "MKeyViolations", "PKeyViolations", "QKeyViolations",
	"maxCreditHint", "linkRoundTripLatency",
}

// portInfoDiffers says in what two PortInfo of a port differ that only a Set changes; empty: in nothing.
func portInfoDiffers(a, b []byte) string { return differs(mad.LayoutPortInfo, a, b, variable) }
