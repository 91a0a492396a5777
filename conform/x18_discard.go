package conform

import (
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"ibwitness/link"
	"ibwitness/mad"
	"ibwitness/packet"
)

var switchDamaged = &Test{
	ID: "X18_006", Title: "packets that are damaged on the way to a switch",
	Abstract: "A switch drops a packet whose VCRC, link version or end is wrong, or ends it with EBP; it does not forward it as a good one.",
	Covers:   []Statement{{"", NoneID}}, Topology: relayTopology, Device: Switch, Needs: Managed, cabled: true,
	Qualifiers: switchQualifiers, Setup: cableSetup,
	Procedure: []string{
		surveyText, relayStep,
		"Send datagrams from port 1 to port 2 of which one bit each is changed on the way: of the BTH, of the payload, of the ICRC and of the VCRC. Send one that is right after each.",
		"Do so with ones of link version 1, and with ones that end with EBP, SLP, SDP and an invalid code group.",
	},
	Assertions: []Assertion{{"ours#01", "A damaged datagram does not leave, or ends with EBP and has a wrong VCRC."}, {"ours#02", "One that is right leaves."}},
	Decisions:  ours, Breaks: []string{"LNK-CRC-001", "LNK-LRH-002"},
	run: func(r *run) {
		w := r.switches(2)
		r.at(3)
		w.forwarded("ours#02", w.datagramFrom(1, relayLID+2), 2)
		for _, at := range []int{14, 40, 28 + 64 + 2, 28 + 64 + 5} {
			w.spoiltOnTheWay(wrongPacket{fmt.Sprintf("byte %d changed", at), func(b []byte) []byte { b[at] ^= 0x10; return b }, link.Mark{}})
		}
		r.at(4)
		w.spoiltOnTheWay(linkVersions.list[0])
		for _, x := range slices.Concat(badPacket.list, delimiters.list) {
			w.spoiltOnTheWay(x)
		}
	},
}

// spoiltOnTheWay has a packet that is wrong come in at port 1, judges that it is not forwarded as a good one, and has one that is right come after it.
func (w *switched) spoiltOnTheWay(x wrongPacket) {
	r, p := w.r, w.datagramFrom(1, relayLID+2)
	p.Complete()
	w.forgets()
	sent := w.entersAs(1, p, x.change, x.mark)
	r.settle()
	good, proof := 0, []*packet.Packet{sent}
	for _, list := range w.left() {
		for _, q := range list {
			if proof = append(proof, q); q.Flaws&packet.FlawDelimiter == 0 || q.VCRCState != packet.CRCBad {
				good++
			}
		}
	}
	r.check("ours#01", good == 0, "nothing, or a packet that ends with EBP", fmt.Sprintf("packets: %d, as good ones: %d; what came in was %s", len(proof)-1, good, x.what), proof...)
	w.forwarded("ours#02", w.datagramFrom(1, relayLID+2), 2)
}

// P_Keys of the test of partition enforcement: in the table of the ports, and of nobody.
const (
	enforcedKey = 0x8007
	foreignKey  = 0x8009
)

var switchPartitions = &Test{
	ID: "X18_007", Title: "partition enforcement",
	Abstract: "A switch port that enforces partitions discards and counts packets whose P_Key is not in its table, inbound and outbound.",
	Covers:   []Statement{{"", NoneID}}, Topology: relayTopology, Device: Switch, Needs: Managed, cabled: true,
	Qualifiers: append([]string{"PartitionEnforcementCap is not 0, and Inbound and OutboundEnforcementCap are 1"}, switchQualifiers...), Setup: cableSetup,
	Procedure: []string{
		surveyText, relayStep,
		"Give ports 1 and 2 the P_Keys 0xFFFF and 0x8007. Send datagrams of 0x8007 and of 0x8009 from port 1 to port 2.",
		"Set PartitionEnforcementInbound of port 1, and send both.",
		"Clear it, set PartitionEnforcementOutbound of port 2, and send both.",
	},
	Assertions: []Assertion{
		{"ours#01", "With inbound enforcement the datagram of 0x8009 does not leave."},
		{"ours#02", "PortRcvConstraintErrors of port 1 counts it."},
		{"ours#03", "With outbound enforcement the datagram of 0x8009 does not leave."},
		{"ours#04", "PortXmitConstraintErrors of port 2 counts it."},
		{"ours#05", "One of 0x8007, and without enforcement each, leaves."},
	},
	Decisions: ours,
	run: func(r *run) {
		w := r.switches(2)
		info := w.get(mad.AttrSwitchInfo, 0)
		if info.uint(mad.LayoutSwitchInfo, "inboundEnforcementCap") == 0 || info.uint(mad.LayoutSwitchInfo, "outboundEnforcementCap") == 0 {
			r.inapplicable("InboundEnforcementCap or OutboundEnforcementCap is 0")
		}
		r.at(3)
		for port := uint32(1); port <= 2; port++ {
			w.write(mad.AttrPKeyTable, port<<16, func(data []byte) {
				binary.BigEndian.PutUint16(data, 0xFFFF)
				binary.BigEndian.PutUint16(data[2:], enforcedKey)
			})
		}
		of := func(key uint16) *packet.Packet {
			p := w.datagramFrom(1, relayLID+2)
			p.PKey, p.DestQP = key, 0x600+uint32(key&0xFF)
			return p
		}
		w.forwarded("ours#05", of(enforcedKey), 2)
		w.forwarded("ours#05", of(foreignKey), 2)
		r.at(4)
		w.set(mad.AttrPortInfo, 1, map[string]uint64{"partitionEnforcementInbound": 1})
		w.forwarded("ours#05", of(enforcedKey), 2)
		w.discarded("ours#01", "ours#02", of(foreignKey), 1, "portRcvConstraintErrors")
		r.at(5)
		w.set(mad.AttrPortInfo, 1, map[string]uint64{"partitionEnforcementInbound": 0})
		w.set(mad.AttrPortInfo, 2, map[string]uint64{"partitionEnforcementOutbound": 1})
		w.forwarded("ours#05", of(enforcedKey), 2)
		w.discarded("ours#03", "ours#04", of(foreignKey), 2, "portXmitConstraintErrors")
	},
}

// lifeCode is the code of HOQLife and LifeTimeValue in the test of lifetimes: 4.2 ms.
const lifeCode = 10

var switchLife = &Test{
	ID: "X18_008", Title: "lifetimes of packets in a switch",
	Abstract: "A switch discards a packet that waits for its port for longer than HOQLife of that or LifeTimeValue.",
	Covers:   []Statement{{"", NoneID}}, Topology: relayTopology, Device: Switch, Needs: Managed, cabled: true,
	Qualifiers: switchQualifiers, Setup: cableSetup,
	Procedure: []string{
		surveyText, relayStep,
		"Have the link of port 2 come up without credits. Send a datagram from port 1 to port 2, wait for 10 ms, and give credits.",
		"Do so with HOQLife of port 2 code 10, 4.2 ms.",
		"Do so with HOQLife without end, and LifeTimeValue code 10.",
	},
	Assertions: []Assertion{
		{"ours#01", "Without an end the datagram leaves when there are credits."},
		{"ours#02", "With HOQLife it does not."},
		{"ours#03", "With LifeTimeValue it does not."},
		{"ours#04", "PortXmitDiscards of port 2 counts those that do not leave."},
	},
	Decisions: ours,
	run: func(r *run) {
		w := r.switches(2)
		c := w.plugged.cables[2]
		life := func(id string, leaves bool, hoq, total uint64) {
			w.set(mad.AttrSwitchInfo, 0, map[string]uint64{"lifeTimeValue": total})
			w.starve(2)
			w.set(mad.AttrPortInfo, 2, map[string]uint64{"HOQLife": hoq})
			was := w.counterOf(2, "portXmitDiscards")
			p := w.datagramFrom(1, relayLID+2)
			p.Complete()
			w.forgets()
			sent := w.enters(1, p, nil)
			r.settle()
			early := len(w.left()[2])
			for vl := range c.lanes {
				c.lanes[vl].free = link.Window
			}
			for vl := range c.count {
				c.tell(vl, nil)
			}
			r.settle()
			list := w.left()[2]
			want := map[bool]int{true: 1}[leaves]
			r.check(id, early == 0 && len(list) == want, fmt.Sprintf("%d packets after credits", want), fmt.Sprintf("%d before, %d in all", early, len(list)), append([]*packet.Packet{sent}, list...)...)
			if !leaves {
				now := w.counterOf(2, "portXmitDiscards")
				r.check("ours#04", now == was+1, fmt.Sprintf("PortXmitDiscards %d", was+1), fmt.Sprintf("%d", now), sent)
			}
		}
		r.at(3)
		life("ours#01", true, noEnd, noEnd)
		r.at(4)
		life("ours#02", false, lifeCode, noEnd)
		r.at(5)
		life("ours#03", false, noEnd, lifeCode)
	},
}

// starve has the link of a port come up to Active without credits.
func (w *switched) starve(port uint8) {
	r, c := w.r, w.plugged.cables[port]
	c.link.Down()
	c.beats++
	w.node.Cut(r.now(), port)
	w.nodes[port].Cut(r.now(), 1)
	w.plugged.sync()
	r.wait(int64(time.Millisecond))
	for vl := range c.lanes {
		c.lanes[vl].free = 0
	}
	w.plugged.join(c, w.nodes[port])
	w.raise(port)
	r.wait(4 * c.every)
}
