package conform

import (
	"bytes"
	"fmt"
	"slices"

	"ibwitness/mad"
	"ibwitness/packet"
)

// Windows of the test of tables, in segments, and for how long a transfer that nobody answers may go on, in nanoseconds.
var tableWindows = []uint32{1, 4, 2}

const (
	transferEnds = 600_000_000_000
	mostTries    = 16
	mostSegments = 1 << 14 // of a table
)

// received is a table as it comes.
type received struct {
	m        *manager
	a        mad.Attribute
	tid      uint64
	asked    *packet.Packet
	segments map[uint32]administered
	window   uint32
	last     uint32 // number of the segment with the Last flag
	next     uint32
}

// asksTable asks for all NodeRecords.
func (m *manager) asksTable() *received { return m.asksTableOf(mad.AttrNodeRecord, mad.SA{}, nil) }

// asksTableOf asks for a table of records.
func (m *manager) asksTableOf(a mad.Attribute, s mad.SA, data []byte) *received {
	m.tid++
	m.arrived = nil
	t := &received{m: m, a: a, tid: m.tid, segments: map[uint32]administered{}, window: 1, next: 1}
	t.asked = m.asksRecords(mad.Header{Method: mad.GetTable, Attribute: a, TID: m.tid}, mad.RMPP{}, s, data)
	return t
}

// own are the MADs of the transfer: others may be of one before it.
func (t *received) own(list []administered) []administered {
	return slices.DeleteFunc(list, func(x administered) bool { return x.TID != t.tid })
}

// says sends an ACK or ABORT of the transfer.
func (t *received) says(r mad.RMPP) *packet.Packet {
	r.Version, r.Flags = 1, mad.RMPPActive
	return t.m.asksAdministration(mad.Header{Method: mad.GetTable, Attribute: t.a, TID: t.tid}, r, nil)
}

// acks acknowledges all that has come, and lets so many segments more come.
func (t *received) acks(more uint32) *packet.Packet {
	t.window = t.next - 1 + more
	return t.says(mad.RMPP{Type: mad.RMPPAck, Data1: t.next - 1, Data2: t.window})
}

// comes judges the segments that come in the window, and reports whether all went well.
func (t *received) comes(id string) bool {
	r := t.m.r
	for _, x := range t.own(t.m.administrations(t.m.wait, 1<<20)) {
		first, last := x.rmpp.Flags&mad.RMPPFirst != 0, x.rmpp.Flags&mad.RMPPLast != 0
		ok := x.Method == mad.GetTableResp && x.Status == 0 && x.rmpp.Version == 1 && x.rmpp.Type == mad.RMPPData && x.rmpp.Active()
		ok = ok && x.rmpp.Data1 == t.next && t.next <= t.window && first == (t.next == 1) && t.last == 0
		if !r.check(id, ok, fmt.Sprintf("segment %d of GetTableResp, at most %d", t.next, t.window), fmt.Sprintf("%v, %v, segment %d, flags %d", x.Method, x.rmpp.Type, x.rmpp.Data1, x.rmpp.Flags), t.asked, x.p) {
			return false
		}
		t.segments[t.next] = x
		if t.next++; last {
			t.last = x.rmpp.Data1
		}
	}
	return r.check(id, t.last != 0 || t.next == t.window+1, fmt.Sprintf("segments up to %d", t.window), fmt.Sprintf("up to %d", t.next-1), t.asked)
}

// whole takes the table to its end.
func (t *received) whole(id string) bool {
	for i := 0; t.last == 0; i++ {
		if t.next > 1 {
			t.acks(tableWindows[i%len(tableWindows)])
		}
		if !t.comes(id) || t.next > mostSegments {
			return false
		}
	}
	t.acks(0)
	return true
}

// data is the table.
func (t *received) data() (b []byte) {
	for n := uint32(1); n <= t.last; n++ {
		x := t.segments[n]
		size := len(x.data)
		if n == t.last {
			size = min(max(int(x.rmpp.Data2)-(mad.SAHeaderSize-mad.HeaderSize-mad.RMPPSize), 0), size)
		}
		b = append(b, x.data[:size]...)
	}
	return b
}

var tables = &Test{
	ID: "X13_010", Title: "tables of several segments",
	Abstract: "A table that takes several segments comes as the windows let it; segments that nobody acknowledges are retransmitted as they were, and in the end no more; after an ABORT none comes.",
	Covers:   []Statement{{"", NoneID}}, Topology: subnetTopology, Device: Node, Needs: Managed | Administration,
	Qualifiers: []string{administrationQualifier, "its NodeRecords take at least 8 segments", keyQualifier}, Setup: nodeSetup,
	Procedure: []string{
		surveyText,
		activeText,
		"GetTable of all NodeRecords, with windows of 1, 4 and 2 segments by turns, to its end.",
		"Do so again, and acknowledge segment 1 with a window of 3. Answer nothing to these: let them come once more, acknowledge the first of them, and take the table to its end.",
		"Do so again: acknowledge segments 1 to 4, then send the ACK of segment 2 once more, and take the table to its end.",
		"Do so again, and answer nothing to the first segments.",
		"Do so again, acknowledge segment 1 with a window of 3, and ABORT.",
	},
	Assertions: []Assertion{
		{"ours#01", "Segments come in order, up to the end of the window, with First only in the first and nothing after Last."},
		{"ours#02", "Each NodeRecord has a LID and a GUID, and the table is the same each time."},
		{"ours#03", "Segments that are retransmitted are as they were."},
		{"ours#04", "Segments that nobody acknowledges come at most 16 times, in 10 min; then nothing, or an ABORT."},
		{"ours#05", "An old ACK changes nothing: no segment is retransmitted by it."},
		{"ours#06", "After the ABORT nothing comes."},
	},
	Decisions: ours, Breaks: []string{"MAD-RMP-006"},
	run: func(r *run) {
		m := r.manages()
		if m.subnet != nil {
			r.inapplicable("libumad2sim carries no more of a table than one datagram")
		}
		r.at(3)
		t := m.asksTable()
		if !t.comes("ours#01") || !t.whole("ours#01") {
			r.halt("the table does not come whole")
		}
		if t.last < 8 {
			r.inapplicable("the table has %d segments, and the test needs 8", t.last)
		}
		table := t.data()
		r.recorded(t, table)
		r.at(4)
		t = m.again()
		r.retransmitted(t)
		r.recorded(t, table)
		r.at(5)
		t = m.again()
		t.acks(3)
		if t.comes("ours#01") {
			t.acks(0)
			old := t.says(mad.RMPP{Type: mad.RMPPAck, Data1: 2, Data2: t.window})
			more := t.own(m.administrations(m.wait/2, 1))
			r.check("ours#05", len(more) == 0, "nothing", fmt.Sprintf("%d segments", len(more)), proofs(more, old)...)
			if len(more) == 0 && t.whole("ours#01") {
				r.recorded(t, table)
			}
		}
		r.at(6)
		r.unanswered(m.asksTable())
		r.at(7)
		t = m.again()
		t.acks(3)
		t.comes("ours#01")
		abort := t.says(mad.RMPP{Type: mad.RMPPAbort, Status: mad.RMPPOther})
		more := t.own(m.administrations(transferEnds/10, 1<<20))
		r.check("ours#06", len(more) == 0, "nothing", fmt.Sprintf("%d MADs", len(more)), proofs(more, abort)...)
	},
}

// again asks for the table, and takes its first segment.
func (m *manager) again() *received {
	t := m.asksTable()
	if !t.comes("ours#01") {
		m.r.halt("the table does not come another time")
	}
	return t
}

// recorded judges the records of a table.
func (r *run) recorded(t *received, want []byte) {
	b := t.data()
	size := len(b)
	if unit := t.segments[1]; unit.p != nil {
		var h mad.SA
		r.can(h.Decode(unit.p.Payload))
		size = int(h.AttributeOffset) * 8
	}
	l := mad.LayoutNodeRecord
	ok := size >= l.Size && len(b)%max(size, 1) == 0
	for at := 0; ok && at+l.Size <= len(b); at += size {
		ok = l.Field("LID").Uint(b[at:]) != 0 && mad.LayoutNodeInfo.Field("nodeGUID").Uint(b[at+4:]) != 0
	}
	last := t.segments[t.last]
	r.check("ours#02", ok && bytes.Equal(b, want), "whole records, as the first time", fmt.Sprintf("%d bytes, records of %d bytes, right: %t, the same: %t", len(b), size, ok, bytes.Equal(b, want)), t.asked, last.p)
}

// retransmitted acknowledges segment 1 with a window of 3, has these come twice, and takes the table to its end.
func (r *run) retransmitted(t *received) {
	m := r.manager
	t.acks(3)
	if !t.comes("ours#01") {
		return
	}
	for _, x := range t.own(m.administrations(longWindow, int(t.window-1))) {
		was, had := t.segments[x.rmpp.Data1]
		ok := had && x.rmpp.Data1 > 1 && bytes.Equal(x.p.Payload, was.p.Payload)
		r.check("ours#03", ok, "a segment of the window, as it was", fmt.Sprintf("segment %d, the same: %t", x.rmpp.Data1, ok), was.p, x.p)
	}
	t.whole("ours#01")
}

// unanswered judges that a transfer ends which nobody acknowledges.
func (r *run) unanswered(t *received) {
	m := r.manager
	came := t.own(m.administrations(transferEnds, 1<<20))
	segments, aborts := 0, 0
	for _, x := range came {
		switch x.rmpp.Type {
		case mad.RMPPData:
			segments++
		case mad.RMPPAbort:
			aborts++
		}
	}
	ok := segments >= 1 && segments <= mostTries && segments+aborts == len(came) && aborts <= 1
	r.check("ours#04", ok, fmt.Sprintf("segment 1, at most %d times, and at most one ABORT", mostTries), fmt.Sprintf("%d segments and %d ABORTs of %d MADs", segments, aborts, len(came)), proofs(came[:min(len(came), 8)], t.asked)...)
}
