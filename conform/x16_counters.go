package conform

import (
	"fmt"

	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/subnet"
)

// counterTests are those of what counters count.
var counterTests = []*Test{traffic, saturated, errorsCounted}

// somePackets is how many packets the tests of counters send.
const somePackets = 10

// words are the units of 4 bytes that counters of data count: from the LRH to the ICRC (section 16.1.3.5).
func words(list []sentAt, port uint8) (packets, words uint64, of []*packet.Packet) {
	for _, x := range list {
		if x.port == port {
			packets, words, of = packets+1, words+uint64(x.p.PktLen), append(of, x.p)
		}
	}
	return packets, words, of
}

var traffic = &Test{
	ID: "X16_002", Title: "counters of data and packets",
	Abstract: "PortCounters count the packets that come in and leave, and their data in units of 4 bytes.",
	Covers:   []Statement{{"", NoneID}}, Topology: twoTopology, Device: Node, Needs: Managed,
	Qualifiers: []string{keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		measuredText + " Link a second tester with port 2 of a switch that has one, give it a LID and the device a way to it, and take that link to Active.",
		"Set the counters of packets and data of port 1 and, where there is a second tester, of port 2, to 0. Get PortCounters of both.",
		"Get ClassPortInfo 10 times. Send 10 packets of general services to the second tester, where there is one.",
		"Get PortCounters of both.",
	},
	Assertions: []Assertion{
		{"ours#01", "PortRcvPkts and PortXmitPkts of port 1 have grown by the packets that have come in and left there since the first Get: its answer, and the second Get."},
		{"ours#02", "PortRcvData and PortXmitData of port 1 have grown by their data, from the LRH to the ICRC, in units of 4 bytes."},
		{"ours#03", "PortXmitPkts and PortXmitData of port 2 have grown by the packets that have left there, and their data."},
	},
	Decisions: []Decision{{"Whether subnet management counts.", "It does, as all lanes do; none is sent between the Gets."}},
	run: func(r *run) {
		s, _ := r.measured()
		m, ports := r.manager, []uint8{1}
		relays := s.kind == subnet.Switch && s.ports >= secondPort
		if relays {
			m.linkSecond()
			m.activateSecond()
			ports = append(ports, secondPort)
		} else {
			r.skip("ours#03", "the device does not relay packets between two ports")
		}
		r.at(3)
		for _, port := range ports {
			m.setCounters(port, allCounters, nil)
		}
		var before, after [secondPort + 1]*exchange
		first := func(port uint8) { before[port] = m.counters(port) }
		if relays {
			first(secondPort)
		}
		first(1)
		last := before[1].got
		r.at(4)
		m.departed, m.entered = []sentAt{{1, last}}, nil
		for range somePackets {
			m.performed(mad.Get, mad.AttrClassPortInfo, nil)
		}
		if relays {
			for range somePackets {
				m.stray(secondLID)
				r.wait(turnaround)
			}
		}
		r.at(5)
		after[1] = m.counters(1)
		entered, departed := m.entered, m.departed[:len(m.departed)-1] // its own answer left when it was made
		grown := func(port uint8, id, name string, want uint64, of []*packet.Packet) {
			got := after[port].counter(name) - before[port].counter(name)
			r.check(id, got == want, fmt.Sprintf("%s of port %d %d more", name, port, want), decimal(got), append(of, before[port].got, after[port].got)...)
		}
		in, inWords, ofIn := words(entered, 1)
		out, outWords, ofOut := words(departed, 1)
		grown(1, "ours#01", "portRcvPkts", in, ofIn)
		grown(1, "ours#01", "portXmitPkts", out, ofOut)
		grown(1, "ours#02", "portRcvData", inWords, ofIn)
		grown(1, "ours#02", "portXmitData", outWords, ofOut)
		if relays {
			after[secondPort] = m.counters(secondPort)
			out, outWords, ofOut = words(departed, secondPort)
			grown(secondPort, "ours#03", "portXmitPkts", out, ofOut)
			grown(secondPort, "ours#03", "portXmitData", outWords, ofOut)
		}
	},
}

var saturated = &Test{
	ID: "X16_004", Title: "counters at their greatest value",
	Abstract: "A counter that has reached its greatest value stays there.",
	Covers:   []Statement{{"", NoneID}}, Topology: subnetTopology, Device: Node, Needs: Managed,
	Qualifiers: []string{keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		measuredText,
		"Set the counters of packets and data to 0xFFFFFFFD. Get ClassPortInfo 10 times, and PortCounters.",
		"Of a switch, set PortRcvSwitchRelayErrors to 0xFFFD, send 10 packets to a LID that it has no way to, and get PortCounters.",
		"Set LinkDownedCounter to 253. Unplug the link and plug it in 4 times, take it to Active, and get PortCounters.",
	},
	Assertions: []Assertion{
		{"ours#01", "PortXmitData, PortRcvData, PortXmitPkts and PortRcvPkts are 0xFFFFFFFF."},
		{"ours#02", "PortRcvSwitchRelayErrors is 0xFFFF."},
		{"ours#03", "LinkDownedCounter is 255."},
	},
	Decisions: []Decision{{"Counters of 4 bits are named, too.", "They count errors of the link, which the tester does not make."}},
	run: func(r *run) {
		s, _ := r.measured()
		m := r.manager
		stays := func(id string, x *exchange, name string) {
			most, got := uint64(1)<<mad.LayoutPortCounters.Field(name).Bits-1, x.counter(name)
			r.check(id, got == most, fmt.Sprintf("%s %d", name, most), decimal(got), x.frames()...)
		}
		near := func(names ...string) {
			mask, values := uint64(0), map[string]uint64{}
			for i, name := range portCounters {
				for _, n := range names {
					if n == name {
						mask |= 1 << i
						values[name] = 1<<mad.LayoutPortCounters.Field(name).Bits - 3
					}
				}
			}
			m.setCounters(m.at.Port, mask, values)
		}
		r.at(3)
		names := portCounters[errorCounters:packetsEnd]
		near(names...)
		for range somePackets {
			m.performed(mad.Get, mad.AttrClassPortInfo, nil)
		}
		x := m.counters(m.at.Port)
		for _, name := range names {
			stays("ours#01", x, name)
		}
		r.at(4)
		if s.kind == subnet.Switch {
			near("portRcvSwitchRelayErrors")
			for range somePackets {
				m.stray(nowhereLID)
				r.wait(turnaround)
			}
			stays("ours#02", m.counters(m.at.Port), "portRcvSwitchRelayErrors")
		} else {
			r.skip("ours#02", "the device is no switch")
		}
		r.at(5)
		near("linkDownedCounter")
		for range 4 {
			m.replug()
		}
		m.activate()
		stays("ours#03", m.counters(m.at.Port), "linkDownedCounter")
	},
}

// nowhereLID is a LID that no device has, and to which there is no way.
const nowhereLID = 60

var errorsCounted = &Test{
	ID: "X16_005", Title: "counters of errors",
	Abstract: "Each error is counted once, by the counter that is for it.",
	Covers:   []Statement{{"", NoneID}}, Topology: subnetTopology, Device: Node, Needs: Managed,
	Qualifiers: []string{keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		measuredText,
		"Set all counters to 0. Send a packet with a wrong VCRC, and get PortCounters.",
		"Of a switch, set all counters to 0, send a packet to a LID that it has no way to, and get PortCounters.",
		"Of a switch that has a port 2, set all counters of it to 0, send a packet to a LID to which the way is that port, where nothing is linked, and get its PortCounters.",
		"Set all counters to 0. Unplug the link, plug it in, take it to Active, and get PortCounters.",
		"Send a packet of general services with a P_Key that the device does not have. Get PortInfo before and after it.",
	},
	Assertions: []Assertion{
		{"ours#01", "PortRcvErrors is 1, and all other counters of errors are 0."},
		{"ours#02", "PortRcvSwitchRelayErrors is 1, and all other counters of errors are 0."},
		{"ours#03", "PortXmitDiscards of port 2 is 1, and all other counters of errors are 0."},
		{"ours#04", "LinkDownedCounter is 1, and all other counters of errors are 0."},
		{"ours#05", "The packet is not answered, and PKeyViolations has grown by 1."},
	},
	Decisions: []Decision{{"Dropped packets of VL15, and such as wait for credits, are named, too.", "How many packets a device has room for, and how long it waits, is its own affair: not tested."}},
	run: func(r *run) {
		s, _ := r.measured()
		m := r.manager
		counts := func(id, name string, port uint8, cause func()) {
			m.setCounters(port, allCounters, nil)
			cause()
			r.onlyCounted(id, name, m.counters(port))
		}
		r.at(3)
		counts("ours#01", "portRcvErrors", m.at.Port, func() {
			m.offer(m.service(performance(mad.Get, mad.AttrClassPortInfo), nil), nil, func(p *packet.Packet) { p.VCRC ^= 1 })
		})
		r.at(4)
		if s.kind == subnet.Switch {
			counts("ours#02", "portRcvSwitchRelayErrors", m.at.Port, func() { m.stray(nowhereLID) })
		} else {
			r.skip("ours#02", "the device is no switch")
		}
		r.at(5)
		if s.kind == subnet.Switch && s.ports >= secondPort {
			m.activateSecond()
			counts("ours#03", "portXmitDiscards", secondPort, func() { m.stray(secondLID) })
		} else {
			r.skip("ours#03", "the device is no switch with a port 2")
		}
		r.at(6)
		counts("ours#04", "linkDownedCounter", m.at.Port, func() { m.replug(); m.activate() })
		r.at(7)
		const name = "PKeyViolations"
		before := m.get(mad.AttrPortInfo, 0)
		x := m.offer(m.service(performance(mad.Get, mad.AttrClassPortInfo), nil), func(p *packet.Packet) { p.PKey = foreignPKey }, nil)
		r.silent("ours#05", x, ", P_Key "+hex(foreignPKey))
		after := m.get(mad.AttrPortInfo, 0)
		grown := after.uint(mad.LayoutPortInfo, name) - before.uint(mad.LayoutPortInfo, name)
		r.check("ours#05", grown == 1, name+" 1 more", decimal(grown), x.sent, before.got, after.got)
	},
}

// foreignPKey is one that no port has.
const foreignPKey = 0xFEDC

// onlyCounted judges that of the counters of errors only one is 1, and all others are 0.
func (r *run) onlyCounted(id, name string, x *exchange) {
	for _, n := range portCounters[:errorCounters] {
		want, got := uint64(0), x.counter(n)
		if n == name {
			want = 1
		}
		r.check(id, got == want, fmt.Sprintf("%s %d", n, want), decimal(got), x.frames()...)
	}
}
