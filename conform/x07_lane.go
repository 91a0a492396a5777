package conform

import (
	"encoding/binary"
	"fmt"
	"time"

	"ibwitness/link"
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/wqe"
)

// linkLaneTests are those of virtual lanes.
var linkLaneTests = []*Test{lanesOfLevels, lanesNotOperational, laneWeights}

// mapLevels sets SLtoVLMappingTable of the adapter, by service level.
func (m *manager) mapLevels(table [16]uint8) {
	m.write(mad.AttrSLtoVL, 0, func(data []byte) {
		clear(data)
		for sl, vl := range table {
			data[sl/2] |= vl << (4 * (1 - sl%2))
		}
	})
}

// atLevel is an address handle to the tester with a service level.
func (r *run) atLevel(sl uint8) wqe.AH {
	return r.handle(r.memory.pd, wqe.AddressVector{SL: sl, HopLimit: 64})
}

// droppedLevels are mapped to VL 15: what has them is dropped.
var droppedLevels = map[int]bool{5: true, 14: true}

var lanesOfLevels = &Test{
	ID: "X07_010", Title: "lanes of service levels",
	Abstract: "A port sends each packet on the lane that SLtoVLMappingTable has for its service level, and none whose lane is 15.",
	Covers:   []Statement{{"", NoneID}}, Topology: cableTopology, Needs: Control | Memory, cabled: true,
	Setup: adapterCable,
	Procedure: []string{
		cableStart + " " + activeStep,
		"Set SLtoVLMappingTable: SL n to VL 3 - n modulo 4, 5 and 14 to VL 15. Have the device send a datagram on each SL from 0 to 15.",
		"Set it the other way, SL n to VL n modulo 4, 5 and 14 to VL 15, and do so again.",
	},
	Assertions: []Assertion{
		{"ours#01", "The lane of each datagram is that of its service level."},
		{"ours#02", "Nothing of a service level whose lane is 15 is sent."},
		{"ours#03", "One datagram of each other service level is."},
	},
	Decisions: ours,
	run: func(r *run) {
		m, d := r.active()
		c := m.cable
		for i, lane := range []func(sl int) uint8{func(sl int) uint8 { return uint8(3 - sl%4) }, func(sl int) uint8 { return uint8(sl % 4) }} {
			r.at(2 + i)
			var table [16]uint8
			for sl := range table {
				if table[sl] = lane(sl); droppedLevels[sl] {
					table[sl] = smpLane
				}
			}
			m.mapLevels(table)
			for sl := range table {
				c.forget()
				d.posts(wqe.OpSend, 64, func(w *wqe.SendRequest) { w.AH = r.atLevel(uint8(sl)) })
				r.wait(int64(time.Millisecond))
				r.level(c.dataOf(), uint8(sl), table[sl])
			}
		}
	},
}

// level judges what the device has sent on a service level.
func (r *run) level(list []*packet.Packet, sl, vl uint8) {
	if vl == smpLane {
		r.check("ours#02", len(list) == 0, "nothing", fmt.Sprintf("%d packets on SL %d", len(list), sl), list...)
		return
	}
	if r.check("ours#03", len(list) == 1, "one packet", fmt.Sprintf("%d packets on SL %d", len(list), sl), list...) {
		r.check("ours#01", list[0].VL == vl && list[0].SL == sl, fmt.Sprintf("SL %d on VL %d", sl, vl), fmt.Sprintf("SL %d on VL %d", list[0].SL, list[0].VL), list...)
	}
}

var lanesNotOperational = &Test{
	ID: "X07_011", Title: "lanes that are not operational",
	Abstract: "A port drops what comes on a data lane that is not operational.",
	Covers:   []Statement{{"", NoneID}}, Topology: cableTopology, Needs: Control | Memory, cabled: true,
	Setup: adapterCable,
	Procedure: []string{
		cableStart + " " + activeStep,
		"Have the device post a receive request. Send a datagram on each lane from the first that is not operational to 14, and wait for 10 ms after each.",
		"Send one on each lane that is.",
	},
	Assertions: []Assertion{
		{"ours#01", "A datagram on a lane that is not operational completes no receive request."}, {"ours#02", "Each on another lane completes one."},
	},
	Decisions: ours, Breaks: []string{"LNK-VL-006"},
	run: func(r *run) {
		m, d := r.active()
		on := func(vl uint8) *packet.Packet {
			p := d.datagramTo(sealed(func(p *packet.Packet) { p.VL = vl }))
			r.settle()
			return p
		}
		r.at(2)
		for range link.Lanes {
			d.postReceive(256)
		}
		for vl := m.cable.count; vl < link.Lanes; vl++ {
			had := d.receives()
			p := on(uint8(vl))
			r.check("ours#01", d.receives() == had, "no completion", fmt.Sprintf("%d after a datagram on VL %d", d.receives()-had, vl), p)
		}
		r.at(3)
		for vl := range m.cable.count {
			had := d.receives()
			p := on(uint8(vl))
			r.check("ours#02", d.receives() == had+1, "one completion", fmt.Sprintf("%d after a datagram on VL %d", d.receives()-had, vl), p)
		}
	},
}

// What waits on each lane in the test of weights.
const (
	weighedPackets = 28
	weighedSize    = 640 - 8 - 40 - 12 - 8 - 4 // bytes of payload of a packet of 640 bytes, 10 units of weight
	unitsAPacket   = 10
)

var laneWeights = &Test{
	ID: "X07_014", Title: "weights of lanes",
	Abstract: "Lanes on which packets wait send in the ratio of their weights in VLArbitrationTable; those of its high priority part first, as far as VLHighLimit lets them.",
	Covers:   []Statement{{"", NoneID}}, Topology: cableTopology, Needs: Control | Memory, cabled: true,
	Setup: adapterCable,
	Procedure: []string{
		cableStart + " Set SLtoVLMappingTable: SL n to VL n modulo 4. Set VLArbitrationTable, low priority: VL 0 to 3 with weights 40, 30, 20 and 10.",
		"Take the link down, and up to Active without credits. Have the device post 28 datagrams of 640 bytes on each lane. Offer credits on all lanes at once.",
		"Do so with VL 3 in the high priority part, with weight 10, and not in the low one, and VLHighLimit 255.",
		"Do so with VLHighLimit 1.",
	},
	Assertions: []Assertion{
		{"ours#01", "As long as packets of each lane wait, the bytes of a lane are in the ratio of its weight to that of lane 0, within one weight."},
		{"ours#02", "With VLHighLimit 255 all packets of VL 3 are sent before others."},
		{"ours#03", "With VLHighLimit 1 not more than 4096 bytes and one packet of VL 3 are sent between others that wait."},
	},
	Decisions: []Decision{{"The plan has 10,000 packets.", "28 a lane: seven rounds of the table show the ratio."}},
	run: func(r *run) {
		m := r.begins()
		m.mapLevels([16]uint8{0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3})
		m.weigh(1, []uint16{0<<8 | 40, 1<<8 | 30, 2<<8 | 20, 3<<8 | 10})
		r.at(2)
		list := m.saturated()
		counts := upTo(list, weighedPackets)
		for vl, n := range counts {
			weight := 40 - 10*vl
			want := counts[0] * weight / 40
			r.check("ours#01", n >= want-weight/unitsAPacket && n <= want+weight/unitsAPacket, fmt.Sprintf("%d packets, and %d more or less, of VL %d", want, weight/unitsAPacket, vl),
				fmt.Sprintf("%d, where VL 0 has %d", n, counts[0]), list...)
		}
		r.at(3)
		m.weigh(1, []uint16{0<<8 | 40, 1<<8 | 30, 2<<8 | 20})
		m.weigh(3, []uint16{3<<8 | 10})
		m.highLimit(255)
		list = m.saturated()
		first := 0
		for first < len(list) && list[first].VL == 3 {
			first++
		}
		r.check("ours#02", first == weighedPackets, fmt.Sprintf("%d packets of VL 3 first", weighedPackets), fmt.Sprintf("%d", first), list...)
		r.at(4)
		m.highLimit(1)
		list = m.saturated()
		longest := longestRun(list, 3)
		most := 4096/640 + 1
		r.check("ours#03", longest <= most, fmt.Sprintf("at most %d packets of VL 3 one after the other", most), fmt.Sprintf("%d", longest), list...)
	},
}

// weigh sets the first entries of a block of VLArbitrationTable, and the others to 0.
func (m *manager) weigh(block uint32, entries []uint16) {
	m.write(mad.AttrVLArbitration, block<<16, func(data []byte) {
		clear(data)
		for i, e := range entries {
			binary.BigEndian.PutUint16(data[2*i:], e)
		}
	})
}

// highLimit sets VLHighLimit.
func (m *manager) highLimit(n uint64) {
	m.set(mad.AttrPortInfo, uint32(m.at.Port), map[string]uint64{"VLHighLimit": n})
}

// saturated has packets wait on all lanes, gives credits on all at once, and returns what the device sends, in order.
func (m *manager) saturated() []*packet.Packet {
	r, c := m.r, m.cable
	m.bounced(0)
	for vl := range c.count {
		d := r.datagram()
		for range weighedPackets {
			d.posts(wqe.OpSend, weighedSize, func(w *wqe.SendRequest) { w.AH = r.atLevel(uint8(vl)) })
		}
	}
	r.wait(interval)
	c.forget()
	for vl := range c.count {
		c.lanes[vl].free = link.Window
	}
	for vl := c.count - 1; vl >= 0; vl-- {
		c.tell(vl, nil)
	}
	r.settle()
	return c.dataOf()
}

// upTo counts the packets of each lane until all of one lane have come.
func upTo(list []*packet.Packet, all int) (n [4]int) {
	for _, p := range list {
		if p.VL < 4 {
			n[p.VL]++
			if n[p.VL] == all {
				break
			}
		}
	}
	return n
}

// longestRun is how many packets of a lane are sent one after the other at most, as long as others follow.
func longestRun(list []*packet.Packet, vl uint8) (longest int) {
	n := 0
	for _, p := range list {
		if p.VL == vl {
			n++
			continue
		}
		longest, n = max(longest, n), 0
	}
	return longest
}
