package eventlog

import (
	"encoding/hex"
	"fmt"
	"hash/crc32"

	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// made is room for what events point to, so that it is not allocated one by one.
type made struct {
	sends       []wqe.SendRequest
	receives    []wqe.ReceiveRequest
	completions []cq.Completion
	regions     []wqe.Region
	segments    []wqe.Segment
}

// put returns where x is, in a room that is renewed where it is full.
func put[T any](room *[]T, x T) *T {
	if len(*room) == cap(*room) {
		*room = make([]T, 0, portion)
	}
	*room = append(*room, x)
	return &(*room)[len(*room)-1]
}

// event sets the event of a line.
func (l *record) event(e *cq.Event, made *made) (err error) {
	e.Time, e.Kind, e.Failed = l.i64(kT), l.word(kEv).kind, l.int(kRC) != 0
	if !l.has(kT) && e.Kind != cq.EvDevice {
		return missing("t")
	}
	e.After, e.Order = l.u64(kAfter), l.u64(kOrder)
	e.QP.QPN, e.CQ, e.SRQ = l.u32(kQPN), wqe.CQ(l.u32(kCQ)), wqe.SRQ(l.u32(kSRQ))
	if l.has(kCRC) {
		e.Sum, e.Summed = l.u32(kCRC), true
	}
	switch e.Kind {
	case cq.EvCreateQP, cq.EvModifyQP, cq.EvDestroyQP, cq.EvQueryQP, cq.EvPostSend, cq.EvCompletion,
		cq.EvAttachGroup, cq.EvDetachGroup:
		if !l.has(kQPN) {
			return missing("qpn")
		}
	}
	switch e.Kind {
	case cq.EvCreateQP:
		e.New, err = l.newQP()
	case cq.EvModifyQP:
		err = l.modify(e)
	case cq.EvQueryQP:
		if !l.has(kState) || qp.State(l.u8(kState)) > qp.Err {
			return fmt.Errorf(`"state" is a number from 0 (RESET) to 6 (ERR)`)
		}
		e.State = qp.State(l.u8(kState))
		e.Attr, err = l.attr()
	case cq.EvCreateCQ, cq.EvCreateSRQ, cq.EvResizeCQ:
		e.Depth, e.XRCD = l.int(kDepth), wqe.XRCD(l.u32(kXRCD))
	case cq.EvModifySRQ:
		e.Depth = l.int(kLimit)
	case cq.EvCreateAH, cq.EvModifyAH, cq.EvDestroyAH:
		err = l.addressHandle(e)
	case cq.EvAttachGroup, cq.EvDetachGroup:
		if !l.has(kDGID) {
			return missing("dgid")
		}
		group, wrong := address(l.str(kDGID))
		e.Group, err = &group, wrong
	case cq.EvDevice:
		e.Device = &qp.Limits{MaxRdAtomic: l.u8(kDeviceRd), MaxDestRdAtomic: l.u8(kDeviceDestRd), PKeys: l.int(kPKeys), Ports: l.u8(kPorts)}
	case cq.EvRegisterMR, cq.EvDeregisterMR, cq.EvAllocateMW, cq.EvDeallocateMW:
		l.region(e, made)
	case cq.EvPostSend:
		err = l.send(e, made)
	case cq.EvPostReceive:
		if !l.has(kQPN) && !l.has(kSRQ) {
			return missing("qpn")
		}
		e.Receive = put(&made.receives, wqe.ReceiveRequest{ID: l.u64(kWRID), Segments: l.segments(made)})
		if !l.has(kWRID) {
			err = missing("wr_id")
		}
	case cq.EvCompletion:
		e.Poll, e.Emptied = l.u32(kPoll), l.int(kEmptied) != 0
		err = l.completed(e, made)
	case cq.EvMemory:
		e.Region, e.Wrote = put(&made.regions, wqe.Region{VA: l.u64(kAddr), Length: l.u64(kLength)}), l.int(kWrote) != 0
		err = l.content(e, e.Region.Length)
	case cq.EvArm:
		if l.int(kSolicited) != 0 {
			e.Arm = cq.ArmSolicited
		}
	case cq.EvAsync:
		a, ok := asyncs[l.str(kWhat)]
		if !ok {
			return fmt.Errorf(`"what" is %q: docs/events.md lists the asynchronous events`, l.str(kWhat))
		}
		e.Async = a
	}
	return err
}

// completed sets the completion of a line, and the bytes that it shows of what was received.
func (l *record) completed(e *cq.Event, made *made) (err error) {
	if e.Completion, err = l.completion(made); err != nil || !l.has(kHead) {
		return err
	}
	text := l.digits(kHead)
	e.Head = make([]byte, hex.DecodedLen(len(text)))
	if _, err = hex.Decode(e.Head, text); err != nil || len(e.Head) == 0 {
		return fmt.Errorf(`"head" is %q: give the bytes as hexadecimal digits`, text)
	}
	return nil
}

// addressHandle sets what a line says of an address handle.
func (l *record) addressHandle(e *cq.Event) (err error) {
	e.AH, e.PD = wqe.AH(l.u32(kAH)), wqe.PD(l.u32(kPD))
	if !l.has(kDGID) {
		return nil
	}
	v := wqe.AddressVector{SL: l.u8(kSL), TClass: l.u8(kTClass), HopLimit: l.u8(kHopLimit), GRH: l.int(kGRH) != 0}
	if v.Dest, err = address(l.str(kDGID)); err == nil {
		e.Vector = &v
	}
	return err
}

// region sets what a line says of a memory region or window.
func (l *record) region(e *cq.Event, made *made) {
	e.Region = put(&made.regions, wqe.Region{
		PD: wqe.PD(l.u32(kPD)), MR: wqe.MR(l.u32(kRegionOf)), MW: wqe.MW(l.u32(kWindowOf)),
		VA: l.u64(kAddr), Length: l.u64(kLength), LKey: l.u32(kLKey), RKey: l.u32(kRKey), Access: accessBits.read(l.u32(kAccess)),
		Window: l.int(kWindowType),
	})
}

func (l *record) newQP() (*qp.InitAttr, error) {
	t, ok := types[l.typeName()]
	if !ok {
		return nil, fmt.Errorf(`"type" is %v: give rc, uc, ud, xrc_ini, xrc_tgt, smi, gsi or raw`, l.typeName())
	}
	return &qp.InitAttr{
		Type: t, PD: wqe.PD(l.u32(kPD)), SendCQ: wqe.CQ(l.u32(kSendCQ)), RecvCQ: wqe.CQ(l.u32(kRecvCQ)), SRQ: wqe.SRQ(l.u32(kSRQ)),
		XRCD: wqe.XRCD(l.u32(kXRCD)), MaxSend: l.int(kMaxSendWR), MaxReceive: l.int(kMaxRecvWR), MaxSendSegments: l.int(kMaxSendSGE), MaxRecvSegments: l.int(kMaxRecvSGE),
		MaxInline: l.int(kMaxInline), SignalAll: l.int(kSigAll) != 0,
	}, nil
}

func (l *record) modify(e *cq.Event) (err error) {
	s, ok := states[l.str(kTo)]
	if !ok {
		return fmt.Errorf(`"to" is %q: give RESET, INIT, RTR, RTS, SQD, SQE or ERR, or the state that the QP has`, l.str(kTo))
	}
	e.State = s
	e.Attr, err = l.attr()
	return err
}

// attr is the attributes that a line gives.
func (l *record) attr() (*qp.Attr, error) {
	a := &qp.Attr{
		PMTU: l.u32(kPathMTU), SQPSN: packet.PSN(l.u32(kSQPSN)), RQPSN: packet.PSN(l.u32(kRQPSN)), DestQPN: l.u32(kDestQPN), Timeout: l.u8(kTimeout),
		RetryCnt: l.u8(kRetryCnt), RNRRetry: l.u8(kRNRRetry), MinRNRTimer: l.u8(kMinRNRTimer), MaxRdAtomic: l.u8(kMaxRd),
		MaxDestRdAtomic: l.u8(kMaxDestRd), PKey: l.u16(kPKey), PKeyIndex: l.u16(kPKeyIndex), QKey: l.u32(kQKey), Access: accessBits.read(l.u32(kQPAccess)),
		MigState: qp.MigState(l.u8(kMigState)), TClass: l.u8(kTClass), HopLimit: l.u8(kHopLimit), SL: l.u8(kSL), Port: l.u8(kPort),
		CurState: qp.State(l.u8(kCurState)), RateLimit: l.u32(kRateLimit), SQDNotify: l.int(kSQDNotify) != 0,
	}
	for _, k := range [...]struct {
		given bool
		known qp.Known
	}{
		{l.has(kPathMTU), qp.KnowsPMTU},
		{l.has(kSQPSN), qp.KnowsSQPSN},
		{l.has(kRQPSN), qp.KnowsRQPSN},
		{l.has(kDestQPN), qp.KnowsDestQPN},
		{l.has(kDGID), qp.KnowsDestAddr},
		{l.has(kTimeout), qp.KnowsTimeout},
		{l.has(kRetryCnt), qp.KnowsRetryCnt},
		{l.has(kRNRRetry), qp.KnowsRNRRetry},
		{l.has(kMinRNRTimer), qp.KnowsMinRNRTimer},
		{l.has(kMaxRd), qp.KnowsMaxRdAtomic},
		{l.has(kMaxDestRd), qp.KnowsMaxDestRdAtomic},
		{l.has(kPKeyIndex) || l.has(kPKey), qp.KnowsPKey},
		{l.has(kQKey), qp.KnowsQKey},
		{l.has(kQPAccess), qp.KnowsAccess},
		{l.has(kMigState), qp.KnowsMigState},
		{l.has(kTClass), qp.KnowsTClass},
		{l.has(kHopLimit), qp.KnowsHopLimit},
		{l.has(kSL), qp.KnowsSL},
		{l.has(kPort), qp.KnowsPort},
		{l.has(kCurState), qp.KnowsCurState},
		{l.has(kAltDGID), qp.KnowsAltPath},
		{l.has(kRateLimit), qp.KnowsRateLimit},
		{l.has(kSQDNotify), qp.KnowsSQDNotify},
	} {
		if k.given {
			a.Known |= k.known
		}
	}
	var err error
	if l.has(kDGID) {
		if a.DestAddr, err = address(l.str(kDGID)); err != nil {
			return nil, err
		}
	}
	if l.has(kAltDGID) {
		a.AltAddr, err = address(l.str(kAltDGID))
	}
	return a, err
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

// content sets what a line says of the data of a send request, or of a range of memory, which has so many bytes. Where that is all of it, so is its checksum known.
func (l *record) content(e *cq.Event, all uint64) error {
	if !l.has(kData) {
		return nil
	}
	text := l.digits(kData)
	e.Data = make([]byte, hex.DecodedLen(len(text)))
	if _, err := hex.Decode(e.Data, text); err != nil {
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

func (l *record) completion(made *made) (*cq.Completion, error) {
	if !l.has(kWRID) {
		return nil, missing("wr_id")
	}
	if !l.has(kStatusCode) {
		return nil, missing("status_code")
	}
	c := put(&made.completions, cq.Completion{
		ID: l.u64(kWRID), QP: wqe.QP{QPN: l.u32(kQPN)}, Status: cq.Status(l.u8(kStatusCode)), ByteLen: l.u32(kByteLen), SrcQP: l.u32(kSrcQP),
		SLID: l.u16(kSLID), SL: l.u8(kSL), Imm: l.u32(kImm), InvKey: l.u32(kInvKey),
	})
	op := l.word(kOpcode)
	if c.Op = op.done; !op.isDone && c.Status == cq.Success {
		return nil, fmt.Errorf(`"opcode" is %q: docs/events.md lists those of completions`, l.str(kOpcode))
	}
	if l.has(kImm) {
		c.Flags |= cq.WithImm
	}
	if l.has(kInvKey) {
		c.Flags |= cq.WithInv
	}
	if l.int(kGRH) != 0 {
		c.Flags |= cq.WithGRH
	}
	return c, nil
}
