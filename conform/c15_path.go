package conform

import (
	"bytes"
	"fmt"

	"ibwitness/mad"
)

// noPKey is a P_Key by which no two ports can talk.
const noPKey = 0xFABC

var pathPage = Decision{"numbers of the assertions", "what each number of #17 of the published class says is in no public source: the assertions are ours"}

var onePath = &Test{
	ID: "C15_0_1_012_17_01", Title: "Get of a PathRecord",
	Abstract: "A Get of one path between two ports is answered with a path between them whose components fit together.",
	Covers:   []Statement{{"C15-0.1.12", Seen}}, Topology: subnetTopology, Device: Node, Needs: Managed | Administration,
	Qualifiers: []string{administrationQualifier, keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		activeText,
		"Get PathRecord from the tester's GID to itself with NumbPath 1, three times.",
		"Get PathRecord from the tester's GID to that of the device with NumbPath 1.",
	},
	Assertions: []Assertion{
		{"ours#01", "Each Get is answered with status 0."},
		{"ours#02", "The path has the GIDs of the request and the LIDs of their ports."},
		{"ours#03", "The path is for packets of InfiniBand: RawTraffic 0; its P_Key is not 0, its MTU code is 1 to 5, and its rate code is 2 to 22."},
		{"ours#04", "The path to the tester itself is the same each time."},
	},
	Decisions: []Decision{pathPage},
	run: func(r *run) {
		m := r.manages()
		r.at(3)
		own, device := m.ends()
		var first []byte
		for range 3 {
			got := r.pathOf(own, own, m.self())
			switch {
			case got == nil:
			case first == nil:
				first = got.data
			default:
				r.check("ours#04", bytes.Equal(got.data, first), "the path as before", "another", got.p)
			}
		}
		r.at(4)
		r.pathOf(own, device, uint16(m.lid()))
	},
}

// pathOf judges a Get of a path from the tester to a port, and returns its answer where that has status 0.
func (r *run) pathOf(from, to []byte, dlid uint16) *administered {
	got := r.inquires("ours#01", inquiry{
		method: mad.Get, a: mad.AttrPathRecord, mask: maskDGID | maskSGID | maskNumbPath, values: map[string]uint64{"numbPath": 1}, gids: map[string][]byte{"SGID": from, "DGID": to},
	}, 0)
	if got == nil {
		return nil
	}
	l := mad.LayoutPathRecord
	field := func(name string) uint64 { return l.Field(name).Uint(got.data) }
	ok := bytes.Equal(l.Field("SGID").Bytes(got.data), from) && bytes.Equal(l.Field("DGID").Bytes(got.data), to) && field("SLID") == uint64(r.manager.self()) && field("DLID") == uint64(dlid)
	r.check("ours#02", ok, fmt.Sprintf("LID %d to %d, and their GIDs", r.manager.self(), dlid), fmt.Sprintf("LID %d to %d, GID %x to %x", field("SLID"), field("DLID"),
		l.Field("SGID").Bytes(got.data), l.Field("DGID").Bytes(got.data)), got.p)
	mtu, rate := field("MTU"), field("rate")
	ok = field("rawTraffic") == 0 && field("PKey") != 0 && mtu >= 1 && mtu <= 5 && rate >= 2 && rate <= 22
	r.check("ours#03", ok, "RawTraffic 0, a P_Key, MTU code 1 to 5, rate code 2 to 22", fmt.Sprintf("RawTraffic %d, P_Key %#x, MTU code %d, rate code %d", field("rawTraffic"), field("PKey"), mtu, rate), got.p)
	return got
}

var pathTable = &Test{
	ID: "C15_0_1_012_17_02_1", Title: "GetTable of PathRecords by SGID and NumbPath",
	Abstract: "A GetTable of the paths from a port is answered with a table of paths from it to each port, at most NumbPath to each.",
	Covers:   []Statement{{"C15-0.1.12", Seen}}, Topology: subnetTopology, Device: Node, Needs: Managed | Administration,
	Qualifiers: []string{administrationQualifier, keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		activeText,
		"GetTable of PathRecords from the tester's GID, with NumbPath 1.",
	},
	Assertions: []Assertion{
		{"ours#01", "The answer is a table, by RMPP, of records of 64 bytes: AttributeOffset 8."},
		{"ours#02", "Each path has the tester's GID and LID as its source."},
		{"ours#03", "There is at most one path to each DGID."},
		{"ours#04", "There are paths to the tester itself and to the device."},
	},
	Decisions: []Decision{pathPage, segmentPage},
	run: func(r *run) {
		m := r.manages()
		r.at(3)
		own, device := m.ends()
		t, list := m.tableOf(inquiry{method: mad.GetTable, a: mad.AttrPathRecord, mask: maskSGID | maskNumbPath, values: map[string]uint64{"numbPath": 1}, gids: map[string][]byte{"SGID": own}})
		if !r.pathUnits(t) {
			return
		}
		count := map[string]int{}
		most := 0
		for _, b := range list {
			sgid, slid := mad.LayoutPathRecord.Field("SGID").Bytes(b), mad.LayoutPathRecord.Field("SLID").Uint(b)
			r.check("ours#02", bytes.Equal(sgid, own) && slid == uint64(m.self()), fmt.Sprintf("SGID %x, SLID %d", own, m.self()), fmt.Sprintf("SGID %x, SLID %d", sgid, slid), t.proofs()...)
			to := string(mad.LayoutPathRecord.Field("DGID").Bytes(b))
			count[to]++
			most = max(most, count[to])
		}
		r.check("ours#03", most <= 1, "at most one path to a port", fmt.Sprintf("%d to one", most), t.proofs()...)
		r.check("ours#04", count[string(own)] > 0 && count[string(device)] > 0, "paths to tester and device", fmt.Sprintf("%d and %d, of %d", count[string(own)], count[string(device)], len(list)), t.proofs()...)
	},
}

var segmentPage = Decision{"RMPP of a real subnet manager over libumad2sim", "the kernel makes the segments of a table, and libumad2sim leaves that out: its table is taken for one segment"}

// pathUnits judges the form of a table of PathRecords.
func (r *run) pathUnits(t *received) bool {
	first := t.segments[1]
	var h mad.SA
	r.can(h.Decode(first.p.Payload))
	ok := first.Method == mad.GetTableResp && first.Status == 0 && t.last > 0 && int(h.AttributeOffset)*8 == mad.LayoutPathRecord.Size
	return r.check("ours#01", ok, "GetTableResp, status 0, by RMPP, AttributeOffset 8", fmt.Sprintf("%v, %s, RMPP: %t, AttributeOffset %d", first.Method,
		mad.Status(first.Status).Text(first.Class), t.last > 0, h.AttributeOffset), t.proofs()...)
}

var pathPartition = &Test{
	ID: "C15_0_1_012_17_02_3", Title: "GetTable of PathRecords by SGID, NumbPath and P_Key",
	Abstract: "A GetTable of the paths from a port in a partition is answered with paths of that partition only.",
	Covers:   []Statement{{"C15-0.1.12", Seen}}, Topology: subnetTopology, Device: Node, Needs: Managed | Administration,
	Qualifiers: []string{administrationQualifier, "the ports are in the default partition", keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		activeText,
		"GetTable of PathRecords from the tester's GID with NumbPath 1 and P_Key 0xFFFF.",
		"The same with P_Key 0xFABC, of which no port is a member.",
	},
	Assertions: []Assertion{
		{"ours#01", "The answer is a table, by RMPP, of records of 64 bytes: AttributeOffset 8."},
		{"ours#02", "There are paths, and each is of the default partition: bits 14 to 0 of its P_Key are all 1."},
		{"ours#03", "No path of another partition is returned: a table without records, or a refusal."},
	},
	Decisions: []Decision{pathPage, segmentPage},
	run: func(r *run) {
		m := r.manages()
		own, _ := m.ends()
		asks := func(key uint64) (*received, [][]byte) {
			return m.tableOf(inquiry{
				method: mad.GetTable, a: mad.AttrPathRecord, mask: maskSGID | maskNumbPath | maskPathPKey, values: map[string]uint64{"numbPath": 1, "PKey": key},
				gids: map[string][]byte{"SGID": own},
			})
		}
		r.at(3)
		t, list := asks(0xFFFF)
		if r.pathUnits(t) {
			other := 0
			for _, b := range list {
				if mad.LayoutPathRecord.Field("PKey").Uint(b)&0x7FFF != 0x7FFF {
					other++
				}
			}
			r.check("ours#02", len(list) > 0 && other == 0, "paths of the default partition", fmt.Sprintf("%d paths, %d of others", len(list), other), t.proofs()...)
		}
		r.at(4)
		t, list = asks(noPKey)
		r.check("ours#03", len(list) == 0, "no path", fmt.Sprintf("%d paths", len(list)), t.proofs()...)
	},
}
