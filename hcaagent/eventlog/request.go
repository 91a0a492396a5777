package eventlog

import (
	"fmt"
	"hash/crc32"

	"ibwitness/cq"
	"ibwitness/wqe"
)

func (l *record) receive(e *cq.Event, made *made) error {
	if !l.has(kQPN) && !l.has(kSRQ) {
		return missing("qpn")
	}
	e.Receive = put(&made.receives, wqe.ReceiveRequest{ID: l.u64(kWRID), Segments: l.segments(made)})
	if !l.has(kWRID) {
		return missing("wr_id")
	}
	return nil
}

// segments are the scatter or gather list of a line: "sge", or one element by "laddr", "length" and "lkey".
func (l *record) segments(made *made) []wqe.Segment {
	n := len(l.sge)
	if n == 0 && l.has(kLength) {
		n = 1
	}
	if n == 0 {
		return nil
	}
	if cap(made.segments)-len(made.segments) < n {
		made.segments = make([]wqe.Segment, 0, max(n, portion))
	}
	begin := len(made.segments)
	for _, s := range l.sge {
		made.segments = append(made.segments, wqe.Segment{VA: s.Addr, Length: s.Length, LKey: s.LKey})
	}
	if len(l.sge) == 0 {
		made.segments = append(made.segments, wqe.Segment{VA: l.u64(kLAddr), Length: uint32(l.u64(kLength)), LKey: l.u32(kLKey)})
	}
	return made.segments[begin:len(made.segments):len(made.segments)]
}

func (l *record) send(e *cq.Event, made *made) error {
	r := put(&made.sends, wqe.SendRequest{ID: l.u64(kWRID), Flags: sendBits.read(l.u32(kFlags))})
	e.Send, e.Anonymous = r, !l.has(kWRID)
	op := l.word(kOpcode)
	if op.isSend && op.send == wqe.OpBindMW || l.str(kEv) == "bind_mw" {
		r.Op, r.Flags = wqe.OpBindMW, r.Flags|wqe.Signaled
		r.Window = &wqe.Bind{
			MW: wqe.MW(l.u32(kWindowOf)), MR: wqe.MR(l.u32(kRegionOf)), RKey: l.u32(kRKey), VA: l.u64(kAddr), Length: l.u64(kLength),
			Access: accessBits.read(l.u32(kAccess)),
		}
		return nil
	}
	if !op.isSend {
		return fmt.Errorf(`"opcode" is %q: docs/events.md lists the operations`, l.str(kOpcode))
	}
	if !l.has(kWRID) {
		return missing("wr_id")
	}
	r.Op, r.Segments, r.RemoteVA, r.RKey, r.Imm = op.send, l.segments(made), l.u64(kRAddr), l.u32(kRKey), l.u32(kImm)
	r.QKey, r.Dest.QPN, r.AH, r.XRCSRQ = l.u32(kQKey), l.u32(kDQPN), wqe.AH(l.u32(kAH)), l.u32(kXRCSRQ)
	r.Compare, r.SwapAdd = l.u64(kCompAdd), l.u64(kSwap)
	l.operands(r)
	if l.has(kDGID) {
		var err error
		if r.Dest.Addr, err = address(l.str(kDGID)); err != nil {
			return err
		}
	}
	all := uint64(0)
	for _, g := range r.Segments {
		all += uint64(g.Length)
	}
	if err := l.content(e, all); err != nil {
		return err
	}
	// Of what a READ or an atomic fetches nothing is known when it is posted.
	if r.Op == wqe.OpRead || r.Op == wqe.OpCmpSwap || r.Op == wqe.OpFetchAdd {
		e.Sum, e.Summed, e.Data = 0, false, nil
	}
	return nil
}

// operands sets the operands whose fields have another meaning in some operations.
func (l *record) operands(r *wqe.SendRequest) {
	switch r.Op {
	case wqe.OpSendInv, wqe.OpLocalInv:
		r.InvKey = r.RKey
		if l.has(kInvKey) {
			r.InvKey = l.u32(kInvKey)
		}
	case wqe.OpFetchAdd:
		r.Compare, r.SwapAdd = 0, l.u64(kCompAdd)
	case wqe.OpFlush:
		r.Flush = wqe.FlushRequest{Length: uint32(l.u64(kLength)), Placement: l.u8(kPlace), Whole: l.int(kWhole) != 0}
		r.Segments = nil
	}
}

// content sets what a line says of the data of a send request, or of a range of memory, which has so many bytes. Where that is all of it, so is its checksum known.
func (l *record) content(e *cq.Event, all uint64) error {
	if !l.has(kData) {
		return nil
	}
	var err error
	if e.Data, err = l.octets(kData); err != nil {
		return fmt.Errorf(`"data" is no even number of hexadecimal digits: %w`, err)
	}
	if uint64(len(e.Data)) > all {
		return fmt.Errorf(`"data" has %d bytes, of %d that there are`, len(e.Data), all)
	}
	if !e.Summed && uint64(len(e.Data)) == all {
		e.Sum, e.Summed = crc32.ChecksumIEEE(e.Data), true
	}
	return nil
}
