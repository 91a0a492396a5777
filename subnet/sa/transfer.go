package sa

import (
	"bytes"
	"slices"

	"ibwitness/mad"
)

// transfer is the sending of a table in segments (section 13.6.6). Invariant: acked <= sent, window >= acked.
type transfer struct {
	to       End
	tid      uint64
	segments [][]byte // MADs of 256 bytes
	acked    int
	sent     int // of the newest segment that has left
	window   int // NewWindowLast
	left     int // how often it may be retransmitted
	due      int64
}

// segmentRoom is how many bytes of records a segment has.
const segmentRoom = mad.SADataSize

// segments are the MADs of a table of records of one length, which are padded to a multiple of 8 bytes.
func (a *Agent) segments(h mad.Header, records [][]byte) (list [][]byte) {
	var data []byte
	unit := 0
	for _, r := range records {
		data = append(data, r...)
		data = append(data, make([]byte, -len(r)&7)...)
		unit = (len(r) + 7) / 8
	}
	if a.faults[offsetWrong] {
		unit++
	}
	const header = mad.SAHeaderSize - mad.HeaderSize - mad.RMPPSize
	n := max((len(data)+segmentRoom-1)/segmentRoom, 1)
	for i := range n {
		part := data[i*segmentRoom : min((i+1)*segmentRoom, len(data))]
		r := mad.RMPP{Version: 1, Type: mad.RMPPData, Flags: mad.RMPPActive, Data1: uint32(i + 1)}
		if i == 0 {
			r.Flags |= mad.RMPPFirst
			r.Data2 = uint32(len(data) + n*header)
		}
		if i == n-1 {
			r.Flags |= mad.RMPPLast
			r.Data2 = uint32(len(part) + header)
		}
		b := make([]byte, mad.Size)
		if h.Encode(b) != nil || r.Encode(b) != nil || (&mad.SA{AttributeOffset: uint16(unit)}).Encode(b) != nil {
			return nil
		}
		copy(b[mad.SAHeaderSize:], part)
		list = append(list, b)
	}
	return list
}

// table answers a GetTable with records: the first segment leaves, and others as acknowledgements let them.
func (a *Agent) table(now int64, from End, h *mad.Header, records [][]byte) {
	if len(a.transfers) == mostTransfers || a.transfer(from, h.TID) != nil {
		return
	}
	head := *h
	head.Method = mad.GetTableResp
	t := &transfer{to: from, tid: h.TID, segments: a.segments(head, records), window: 1, left: tries - 1}
	a.transfers = append(a.transfers, t)
	a.advance(now, t)
}

func (a *Agent) transfer(from End, tid uint64) *transfer {
	i := slices.IndexFunc(a.transfers, func(t *transfer) bool { return t.to == from && t.tid == tid })
	if i < 0 {
		return nil
	}
	return a.transfers[i]
}

func (a *Agent) forget(t *transfer) {
	a.transfers = slices.DeleteFunc(a.transfers, func(o *transfer) bool { return o == t })
}

// advance sends the segments that the window lets go.
func (a *Agent) advance(now int64, t *transfer) {
	most := t.window
	if a.faults[windowIgnored] && t.acked > 0 {
		most += 2
	}
	for t.sent < min(most, len(t.segments)) {
		t.sent++
		a.send(t.to, a.changed(t, bytes.Clone(t.segments[t.sent-1])))
	}
	t.due = now + again
}

// changed is a segment as a faulty one sends it.
func (a *Agent) changed(t *transfer, b []byte) []byte {
	if a.faults[lastRecordLost] && t.sent == len(t.segments) {
		clear(b[mad.SAHeaderSize:])
	}
	return b
}

// segmentTaken takes an ACK, STOP or ABORT to segments.
func (a *Agent) segmentTaken(now int64, from End, h *mad.Header, r *mad.RMPP) {
	t := a.transfer(from, h.TID)
	if t == nil {
		return
	}
	n, window := int(r.Data1), int(r.Data2)
	switch {
	case r.Type == mad.RMPPStop || r.Type == mad.RMPPAbort:
		if !a.faults[abortIgnored] {
			a.forget(t)
		}
	case r.Type != mad.RMPPAck:
	case n > t.sent:
		a.abort(t, mad.RMPPSegment)
	case window < n:
		a.abort(t, mad.RMPPWindow)
	case n < t.acked: // it was overtaken
		if a.faults[oldACKRestarts] {
			t.sent, t.acked = n, n
			a.advance(now, t)
		}
	case n == len(t.segments):
		a.forget(t)
	default:
		t.acked, t.window, t.left = n, max(t.window, window), tries-1
		a.advance(now, t)
	}
}

// timeout retransmits the segments that are not acknowledged, or gives up.
func (a *Agent) timeout(now int64, t *transfer) {
	if t.left == 0 && !a.faults[resendsForever] {
		a.abort(t, mad.RMPPRetries)
		return
	}
	t.left--
	t.due = now + again
	for _, b := range t.segments[t.acked:t.sent] {
		b = bytes.Clone(b)
		if a.faults[resendsOther] {
			b[mad.SAHeaderSize]++
		}
		a.send(t.to, b)
	}
}

// abort ends a transfer.
func (a *Agent) abort(t *transfer, status mad.RMPPStatus) {
	a.forget(t)
	b := bytes.Clone(t.segments[0])
	clear(b[mad.SAHeaderSize:])
	r := mad.RMPP{Version: 1, Type: mad.RMPPAbort, Flags: mad.RMPPActive, Status: status}
	if r.Encode(b) == nil {
		a.send(t.to, b)
	}
}
