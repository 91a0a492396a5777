package conform

import (
	"fmt"

	"ibwitness/mad"
)

// performanceTests are those of the attributes of performance management.
var performanceTests = []*Test{performanceClass, counterSelect, portSelect}

// Bits of CapabilityMask in ClassPortInfo of performance management (section 16.1.3.1).
const (
	allPortsCounted = 1 << 8
	wideCounters    = 3 << 9 // with or without those of unicast and multicast packets
	waitCounted     = 1 << 12
)

// allPorts is the PortSelect that means all ports.
const allPorts = 0xFF

// portCounters are the components of PortCounters, in the order of CounterSelect: first those of errors.
var portCounters = []string{
	"symbolErrorCounter", "linkErrorRecoveryCounter", "linkDownedCounter", "portRcvErrors", "portRcvRemotePhysicalErrors", "portRcvSwitchRelayErrors", "portXmitDiscards",
	"portXmitConstraintErrors", "portRcvConstraintErrors", "localLinkIntegrityErrors", "excessiveBufferOverrunErrors", "VL15Dropped",
	"portXmitData", "portRcvData", "portXmitPkts", "portRcvPkts", "portXmitWait",
}

// How the components of PortCounters are divided.
const (
	errorCounters = 12
	packetsEnd    = 16 // portXmitWait follows
)

// allCounters has the bit of each counter that every port has.
const allCounters = 1<<packetsEnd - 1

// counterData is PortCounters of a port, for a Set of the counters of a mask.
func counterData(port uint8, mask uint64, values map[string]uint64) []byte {
	l, b := mad.LayoutPortCounters, make([]byte, mad.LayoutPortCounters.Size)
	l.Field("portSelect").PutUint(b, uint64(port))
	l.Field("counterSelect").PutUint(b, mask&0xFFFF)
	l.Field("counterSelect2").PutUint(b, mask>>16)
	for name, v := range values {
		l.Field(name).PutUint(b, v)
	}
	return b
}

// performed has an attribute of performance management that the test cannot do without.
func (m *manager) performed(method mad.Method, a mad.Attribute, data []byte) *exchange {
	x := m.perform(method, a, data)
	if !x.succeeded() {
		m.r.halt("%s: %s", x.what(), x.outcome())
	}
	return x
}

// counters gets PortCounters of a port.
func (m *manager) counters(port uint8) *exchange {
	return m.performed(mad.Get, mad.AttrPortCounters, counterData(port, 0, nil))
}

// setCounters sets the counters of a mask.
func (m *manager) setCounters(port uint8, mask uint64, values map[string]uint64) *exchange {
	return m.performed(mad.Set, mad.AttrPortCounters, counterData(port, mask, values))
}

// counter is a component of PortCounters that came.
func (x *exchange) counter(name string) uint64 { return x.counted(mad.LayoutPortCounters, name) }

// counted is a component of an attribute of performance management that came.
func (x *exchange) counted(l *mad.Layout, name string) uint64 {
	return l.Field(name).Uint(x.got.Payload[mad.PerformanceData:])
}

// measured begins a test of performance management: the link is Active, and CapabilityMask of ClassPortInfo is returned.
func (r *run) measured() (s *surveyed, capabilities uint64) {
	s = r.survey()
	r.at(2)
	r.manager.activate()
	return s, r.manager.performed(mad.Get, mad.AttrClassPortInfo, nil).counted(mad.LayoutClassPortInfo, "capabilityMask")
}

// measuredText is the second step of these tests.
const measuredText = activeText + " Get ClassPortInfo of performance management."

var performanceClass = &Test{
	ID: "X16_001", Title: "ClassPortInfo of performance management",
	Abstract: "Each port answers Get(ClassPortInfo) of performance management.",
	Covers:   []Statement{{"", NoneID}}, Topology: ownTopology, Device: Node, Needs: Managed,
	Qualifiers: []string{keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		"At each port that has an agent, give LIDs to the device and the tester, take their link to Active, and get ClassPortInfo of performance management.",
	},
	Assertions: []Assertion{
		{"ours#01", "Get(ClassPortInfo) is answered with status code 0."},
		{"ours#02", "BaseVersion and ClassVersion in it are 1."},
	},
	run: func(r *run) {
		s, m := r.survey(), r.manager
		r.eachAgent(s, func(*surveyed) {
			r.again(2)
			m.activate()
			x := m.perform(mad.Get, mad.AttrClassPortInfo, nil)
			if !r.answered("ours#01", x, granted, "") {
				return
			}
			base, class := x.counted(mad.LayoutClassPortInfo, "baseVersion"), x.counted(mad.LayoutClassPortInfo, "classVersion")
			r.check("ours#02", base == 1 && class == 1, "BaseVersion 1, ClassVersion 1", fmt.Sprintf("BaseVersion %d, ClassVersion %d", base, class), x.frames()...)
		})
	},
}

// Values of counters before a Set: those of packets and data go on.
const (
	presetPackets = 1_000_000
	goneOn        = 100_000
)

var counterSelect = &Test{
	ID: "X16_003", Title: "CounterSelect",
	Abstract: "A Set of PortCounters sets the counters that CounterSelect names, and no others.",
	Covers:   []Statement{{"", NoneID}}, Topology: subnetTopology, Device: Node, Needs: Managed,
	Qualifiers: []string{keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		measuredText,
		"Set each counter to a value of its own, by all bits of CounterSelect. Get PortCounters.",
		"For each counter, set all as before, and then this one to 0, by its bit. Get PortCounters.",
	},
	Assertions: []Assertion{
		{"ours#01", "After the Set of all, each counter has its value."},
		{"ours#02", "After the Set of one, this one is 0."},
		{"ours#03", "The other counters are as they were set."},
	},
	Decisions: []Decision{{"Counters of data and packets count while they are asked for.", "They may be up to 100,000 more."}},
	run: func(r *run) {
		_, capabilities := r.measured()
		m := r.manager
		n, mask := packetsEnd, uint64(allCounters)
		if capabilities&waitCounted != 0 {
			n, mask = packetsEnd+1, mask|1<<packetsEnd
		}
		preset := map[string]uint64{}
		for i, name := range portCounters[:n] {
			if preset[name] = uint64(i) + 1; i >= errorCounters {
				preset[name] += presetPackets
			}
		}
		all := func() *exchange { return m.setCounters(m.at.Port, mask, preset) }
		has := func(id string, x, set *exchange, i int, want uint64) {
			got := x.counter(portCounters[i])
			ok := got == want || i >= errorCounters && got >= want && got < want+goneOn
			r.check(id, ok, fmt.Sprintf("%s %d", portCounters[i], want), decimal(got), set.sent, set.got, x.got)
		}
		r.at(3)
		set := all()
		x := m.counters(m.at.Port)
		for i := range n {
			has("ours#01", x, set, i, preset[portCounters[i]])
		}
		for one := range n {
			r.again(4)
			all()
			set := m.setCounters(m.at.Port, 1<<one, nil)
			x := m.counters(m.at.Port)
			for i := range n {
				if i == one {
					has("ours#02", x, set, i, 0)
					continue
				}
				has("ours#03", x, set, i, preset[portCounters[i]])
			}
		}
	},
}

var portSelect = &Test{
	ID: "X16_006", Title: "PortSelect, and counters of 64 bits",
	Abstract: "PortSelect names the port of the counters: 255 means all ports, one that is not there is refused. Counters of PortCountersExtended have 64 bits.",
	Covers:   []Statement{{"", NoneID}}, Topology: subnetTopology, Device: Node, Needs: Managed,
	Qualifiers: []string{keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		measuredText,
		"At each port, set SymbolErrorCounter to the number of the port. Get PortCounters of each.",
		"Where AllPortSelect is announced, get PortCounters with PortSelect 255.",
		"Get PortCounters with PortSelect NumPorts + 1 and 254.",
		"Where PortCountersExtended is announced, set its counters of data and packets to 0xFFFFFFFF, get ClassPortInfo 10 times, and get it.",
	},
	Assertions: []Assertion{
		{"ours#01", "SymbolErrorCounter of each port is as it was set there."},
		{"ours#02", "That of all ports is the sum."},
		{"ours#03", "A PortSelect beyond NumPorts is answered with status code 7."},
		{"ours#04", "The counters of PortCountersExtended go on beyond 32 bits."},
	},
	run: func(r *run) {
		s, capabilities := r.measured()
		m, sum := r.manager, uint64(0)
		r.at(3)
		for port := 1; port <= s.ports; port++ {
			m.setCounters(uint8(port), 1, map[string]uint64{portCounters[0]: uint64(port)})
			sum += uint64(port)
		}
		for port := 1; port <= s.ports; port++ {
			x := m.counters(uint8(port))
			got := x.counter(portCounters[0])
			r.check("ours#01", got == uint64(port), fmt.Sprintf("SymbolErrorCounter %d of port %d", port, port), decimal(got), x.frames()...)
		}
		r.at(4)
		if capabilities&allPortsCounted == 0 {
			r.skip("ours#02", "CapabilityMask does not announce AllPortSelect")
		} else if x := m.perform(mad.Get, mad.AttrPortCounters, counterData(allPorts, 0, nil)); r.answered("ours#02", x, granted, "PortSelect 255") {
			got := x.counter(portCounters[0])
			r.check("ours#02", got == sum, fmt.Sprintf("SymbolErrorCounter %d of all ports", sum), decimal(got), x.frames()...)
		}
		r.at(5)
		for _, port := range distinct(uint64(s.ports)+1, allPorts-1) {
			if int(port) > s.ports && port < allPorts {
				r.answered("ours#03", m.perform(mad.Get, mad.AttrPortCounters, counterData(uint8(port), 0, nil)), badValue, fmt.Sprintf("PortSelect %d", port))
			}
		}
		r.at(6)
		if capabilities&wideCounters == 0 {
			r.skip("ours#04", "CapabilityMask does not announce PortCountersExtended")
			return
		}
		r.wide()
	},
}

// wide judges that counters of PortCountersExtended go beyond 32 bits.
func (r *run) wide() {
	const most = 1<<32 - 1
	m, l := r.manager, mad.LayoutPortCountersExtended
	b := make([]byte, l.Size)
	l.Field("portSelect").PutUint(b, uint64(m.at.Port))
	names := portCounters[errorCounters:packetsEnd]
	for i, name := range names {
		l.Field("counterSelect").PutUint(b, l.Field("counterSelect").Uint(b)|1<<i)
		l.Field(name).PutUint(b, most)
	}
	set := m.performed(mad.Set, mad.AttrPortCountersExtended, b)
	for range somePackets {
		m.performed(mad.Get, mad.AttrClassPortInfo, nil)
	}
	x := m.performed(mad.Get, mad.AttrPortCountersExtended, b[:2])
	for _, name := range names {
		got := x.counted(l, name)
		r.check("ours#04", got > most && got < most+goneOn, fmt.Sprintf("%s beyond %d", name, uint64(most)), decimal(got), set.sent, set.got, x.got)
	}
}
