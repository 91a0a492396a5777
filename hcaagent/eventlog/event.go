package eventlog

import (
	"fmt"
	"math"

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

// event sets the event of a line, whose kind is known.
func (l *record) event(e *cq.Event, made *made) error {
	if err := l.common(e); err != nil {
		return err
	}
	switch e.Kind {
	case cq.EvCreateQP, cq.EvModifyQP, cq.EvQueryQP:
		return l.queuePair(e)
	case cq.EvCreateCQ, cq.EvResizeCQ, cq.EvCreateSRQ, cq.EvModifySRQ:
		l.queue(e)
	case cq.EvCreateAH, cq.EvModifyAH, cq.EvDestroyAH:
		return l.addressHandle(e)
	case cq.EvAttachGroup, cq.EvDetachGroup:
		return l.group(e)
	case cq.EvDevice:
		e.Device = &qp.Limits{MaxRdAtomic: l.u8(kDeviceRd), MaxDestRdAtomic: l.u8(kDeviceDestRd), PKeys: l.int(kPKeys), Ports: l.u8(kPorts)}
	case cq.EvRegisterMR, cq.EvDeregisterMR, cq.EvAllocateMW, cq.EvDeallocateMW:
		l.region(e, made)
	case cq.EvPostSend:
		return l.send(e, made)
	case cq.EvPostReceive:
		return l.receive(e, made)
	case cq.EvCompletion:
		return l.completed(e, made)
	case cq.EvMemory:
		return l.memory(e, made)
	case cq.EvArm:
		if l.int(kSolicited) != 0 {
			e.Arm = cq.ArmSolicited
		}
	case cq.EvAsync:
		return l.async(e)
	}
	return nil
}

// common sets what lines of all events have: the time, and the queues that they are about.
func (l *record) common(e *cq.Event) error {
	e.Time, e.Failed = l.i64(kT), l.int(kRC) != 0
	if !l.has(kT) && e.Kind != cq.EvDevice {
		return missing("t")
	}
	e.After, e.Order = l.u64(kAfter), l.u64(kOrder)
	e.QP.QPN, e.CQ, e.SRQ = l.u32(kQPN), wqe.CQ(l.u32(kCQ)), wqe.SRQ(l.u32(kSRQ))
	if l.has(kCRC) {
		e.Sum, e.Summed = l.u32(kCRC), true
	}
	if ofQP[e.Kind] && !l.has(kQPN) && !(e.Kind == cq.EvCreateQP && e.Failed) {
		return missing("qpn")
	}
	return nil
}

// ofQP are the events that are always of one queue pair.
var ofQP = [math.MaxUint8 + 1]bool{
	cq.EvCreateQP: true, cq.EvModifyQP: true, cq.EvDestroyQP: true, cq.EvQueryQP: true, cq.EvPostSend: true, cq.EvCompletion: true,
	cq.EvAttachGroup: true, cq.EvDetachGroup: true,
}

// queuePair sets what a line says of a queue pair that is created, modified or queried.
func (l *record) queuePair(e *cq.Event) (err error) {
	switch e.Kind {
	case cq.EvCreateQP:
		if e.Failed { // there is none
			e.New = &qp.InitAttr{}
			return nil
		}
		e.New, err = l.newQP()
	case cq.EvModifyQP:
		err = l.modify(e)
	case cq.EvQueryQP:
		if !l.has(kState) || qp.State(l.u8(kState)) > qp.Err {
			return fmt.Errorf(`"state" is a number from 0 (RESET) to 6 (ERR)`)
		}
		e.State = qp.State(l.u8(kState))
		e.Attr, err = l.attr()
	}
	return err
}

// queue sets what a line says of a completion queue or SRQ: how deep it is, or for modify_srq its limit.
func (l *record) queue(e *cq.Event) {
	if e.Kind == cq.EvModifySRQ {
		e.Depth = l.int(kLimit)
		return
	}
	e.Depth, e.XRCD = l.int(kDepth), wqe.XRCD(l.u32(kXRCD))
}

// group sets the multicast group that a queue pair joins or leaves.
func (l *record) group(e *cq.Event) error {
	if !l.has(kDGID) {
		return missing("dgid")
	}
	group, err := address(l.str(kDGID))
	e.Group = &group
	return err
}

// memory sets what a line says that a range of memory holds.
func (l *record) memory(e *cq.Event, made *made) error {
	e.Region, e.Wrote = put(&made.regions, wqe.Region{VA: l.u64(kAddr), Length: l.u64(kLength)}), l.int(kWrote) != 0
	return l.content(e, e.Region.Length)
}

func (l *record) async(e *cq.Event) error {
	a, ok := asyncs[l.str(kWhat)]
	if !ok {
		return fmt.Errorf(`"what" is %q: docs/events.md lists the asynchronous events`, l.str(kWhat))
	}
	e.Async = a
	return nil
}

// completed sets the completion of a line, and the bytes that it shows of what was received.
func (l *record) completed(e *cq.Event, made *made) (err error) {
	e.Poll, e.Emptied = l.u32(kPoll), l.int(kEmptied) != 0
	if e.Completion, err = l.completion(made); err != nil || !l.has(kHead) {
		return err
	}
	if e.Head, err = l.octets(kHead); err != nil || len(e.Head) == 0 {
		return fmt.Errorf(`"head" is %q: give the bytes as hexadecimal digits`, l.digits(kHead))
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
