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

// or returns *p, or zero where p is nil.
func or[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

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

// event is the event of a line.
func (l *line) event(made *made) (e cq.Event, err error) {
	e.Time, e.Kind, e.Failed = or(l.T), kinds[l.Ev], or(l.RC) != 0
	if l.T == nil && e.Kind != cq.EvDevice {
		return e, missing("t")
	}
	e.QP.QPN, e.CQ, e.SRQ = or(l.QPN), wqe.CQ(or(l.CQ)), wqe.SRQ(or(l.SRQ))
	if l.CRC != nil {
		e.Sum, e.Summed = *l.CRC, true
	}
	switch e.Kind {
	case cq.EvCreateQP, cq.EvModifyQP, cq.EvDestroyQP, cq.EvQueryQP, cq.EvPostSend, cq.EvCompletion,
		cq.EvAttachGroup, cq.EvDetachGroup:
		if l.QPN == nil {
			return e, missing("qpn")
		}
	}
	switch e.Kind {
	case cq.EvCreateQP:
		e.New, err = l.newQP()
	case cq.EvModifyQP:
		err = l.modify(&e)
	case cq.EvQueryQP:
		if l.State == nil || qp.State(*l.State) > qp.Err {
			return e, fmt.Errorf(`"state" is a number from 0 (RESET) to 6 (ERR)`)
		}
		e.State = qp.State(*l.State)
		e.Attr, err = l.attr()
	case cq.EvCreateCQ, cq.EvCreateSRQ, cq.EvResizeCQ:
		e.Depth, e.XRCD = or(l.Depth), wqe.XRCD(or(l.XRCD))
	case cq.EvModifySRQ:
		e.Depth = or(l.Limit)
	case cq.EvCreateAH, cq.EvModifyAH, cq.EvDestroyAH:
		err = l.addressHandle(&e)
	case cq.EvAttachGroup, cq.EvDetachGroup:
		if l.DGID == nil {
			return e, missing("dgid")
		}
		group, wrong := address(*l.DGID)
		e.Group, err = &group, wrong
	case cq.EvDevice:
		e.Device = &qp.Limits{MaxRdAtomic: or(l.DeviceRd), MaxDestRdAtomic: or(l.DeviceDestRd), PKeys: or(l.PKeys), Ports: or(l.Ports)}
	case cq.EvRegisterMR, cq.EvDeregisterMR, cq.EvAllocateMW, cq.EvDeallocateMW:
		l.region(&e, made)
	case cq.EvPostSend:
		err = l.send(&e, made)
	case cq.EvPostReceive:
		if l.QPN == nil && l.SRQ == nil {
			return e, missing("qpn")
		}
		e.Receive = put(&made.receives, wqe.ReceiveRequest{ID: or(l.WRID), Segments: l.segments(made)})
		if l.WRID == nil {
			err = missing("wr_id")
		}
	case cq.EvCompletion:
		e.Poll, e.Emptied = or(l.Poll), or(l.Emptied) != 0
		err = l.completed(&e, made)
	case cq.EvMemory:
		e.Region, e.Wrote = put(&made.regions, wqe.Region{VA: or(l.Addr), Length: or(l.Length)}), or(l.Wrote) != 0
	case cq.EvArm:
		if or(l.Solicited) != 0 {
			e.Arm = cq.ArmSolicited
		}
	case cq.EvAsync:
		a, ok := asyncs[or(l.What)]
		if !ok {
			return e, fmt.Errorf(`"what" is %q: docs/events.md lists the asynchronous events`, or(l.What))
		}
		e.Async = a
	}
	return e, err
}

// completed sets the completion of a line, and the bytes that it shows of what was received.
func (l *line) completed(e *cq.Event, made *made) (err error) {
	if e.Completion, err = l.completion(made); err != nil || l.Head == nil {
		return err
	}
	if e.Head, err = hex.DecodeString(*l.Head); err != nil || len(e.Head) == 0 {
		return fmt.Errorf(`"head" is %q: give the bytes as hexadecimal digits`, *l.Head)
	}
	return nil
}

// addressHandle sets what a line says of an address handle.
func (l *line) addressHandle(e *cq.Event) (err error) {
	e.AH, e.PD = wqe.AH(or(l.AH)), wqe.PD(or(l.PD))
	if l.DGID == nil {
		return nil
	}
	v := wqe.AddressVector{SL: or(l.SL), TClass: or(l.TClass), HopLimit: or(l.HopLimit), GRH: or(l.GRH) != 0}
	if v.Dest, err = address(*l.DGID); err == nil {
		e.Vector = &v
	}
	return err
}

// region sets what a line says of a memory region or window.
func (l *line) region(e *cq.Event, made *made) {
	e.Region = put(&made.regions, wqe.Region{
		PD: wqe.PD(or(l.PD)), MR: wqe.MR(or(l.RegionOf)), MW: wqe.MW(or(l.WindowOf)),
		VA: or(l.Addr), Length: or(l.Length), LKey: or(l.LKey), RKey: or(l.RKey), Access: accessBits.read(or(l.Access)),
	})
	if n, ok := l.Type.(float64); ok {
		e.Region.Window = int(n)
	}
}

func (l *line) newQP() (*qp.InitAttr, error) {
	t, ok := types[fmt.Sprint(l.Type)]
	if !ok {
		return nil, fmt.Errorf(`"type" is %v: give rc, uc, ud, xrc_ini, xrc_tgt, smi, gsi or raw`, l.Type)
	}
	return &qp.InitAttr{
		Type: t, PD: wqe.PD(or(l.PD)), SendCQ: wqe.CQ(or(l.SendCQ)), RecvCQ: wqe.CQ(or(l.RecvCQ)), SRQ: wqe.SRQ(or(l.SRQ)),
		XRCD: wqe.XRCD(or(l.XRCD)), MaxSend: or(l.MaxSendWR), MaxReceive: or(l.MaxRecvWR), MaxSendSegments: or(l.MaxSendSGE), MaxRecvSegments: or(l.MaxRecvSGE),
		MaxInline: or(l.MaxInline), SignalAll: or(l.SigAll) != 0,
	}, nil
}

func (l *line) modify(e *cq.Event) (err error) {
	s, ok := states[or(l.To)]
	if !ok {
		return fmt.Errorf(`"to" is %q: give RESET, INIT, RTR, RTS, SQD, SQE or ERR, or the state that the QP has`, or(l.To))
	}
	e.State = s
	e.Attr, err = l.attr()
	return err
}

// attr is the attributes that a line gives.
func (l *line) attr() (*qp.Attr, error) {
	a := &qp.Attr{
		PMTU: or(l.PathMTU), SQPSN: packet.PSN(or(l.SQPSN)), RQPSN: packet.PSN(or(l.RQPSN)), DestQPN: or(l.DestQPN), Timeout: or(l.Timeout),
		RetryCnt: or(l.RetryCnt), RNRRetry: or(l.RNRRetry), MinRNRTimer: or(l.MinRNRTimer), MaxRdAtomic: or(l.MaxRd),
		MaxDestRdAtomic: or(l.MaxDestRd), PKey: or(l.PKey), PKeyIndex: or(l.PKeyIndex), QKey: or(l.QKey), Access: accessBits.read(or(l.QPAccess)),
		MigState: qp.MigState(or(l.MigState)), TClass: or(l.TClass), HopLimit: or(l.HopLimit), SL: or(l.SL), Port: or(l.Port),
		CurState: qp.State(or(l.CurState)), RateLimit: or(l.RateLimit), SQDNotify: or(l.SQDNotify) != 0,
	}
	for _, k := range [...]struct {
		given bool
		known qp.Known
	}{
		{l.PathMTU != nil, qp.KnowsPMTU},
		{l.SQPSN != nil, qp.KnowsSQPSN},
		{l.RQPSN != nil, qp.KnowsRQPSN},
		{l.DestQPN != nil, qp.KnowsDestQPN},
		{l.DGID != nil, qp.KnowsDestAddr},
		{l.Timeout != nil, qp.KnowsTimeout},
		{l.RetryCnt != nil, qp.KnowsRetryCnt},
		{l.RNRRetry != nil, qp.KnowsRNRRetry},
		{l.MinRNRTimer != nil, qp.KnowsMinRNRTimer},
		{l.MaxRd != nil, qp.KnowsMaxRdAtomic},
		{l.MaxDestRd != nil, qp.KnowsMaxDestRdAtomic},
		{l.PKeyIndex != nil || l.PKey != nil, qp.KnowsPKey},
		{l.QKey != nil, qp.KnowsQKey},
		{l.QPAccess != nil, qp.KnowsAccess},
		{l.MigState != nil, qp.KnowsMigState},
		{l.TClass != nil, qp.KnowsTClass},
		{l.HopLimit != nil, qp.KnowsHopLimit},
		{l.SL != nil, qp.KnowsSL},
		{l.Port != nil, qp.KnowsPort},
		{l.CurState != nil, qp.KnowsCurState},
		{l.AltDGID != nil, qp.KnowsAltPath},
		{l.RateLimit != nil, qp.KnowsRateLimit},
		{l.SQDNotify != nil, qp.KnowsSQDNotify},
	} {
		if k.given {
			a.Known |= k.known
		}
	}
	var err error
	if l.DGID != nil {
		if a.DestAddr, err = address(*l.DGID); err != nil {
			return nil, err
		}
	}
	if l.AltDGID != nil {
		a.AltAddr, err = address(*l.AltDGID)
	}
	return a, err
}

// segments are the scatter or gather list of a line: "sge", or one element by "laddr", "length" and "lkey".
func (l *line) segments(made *made) []wqe.Segment {
	n := len(l.SGE)
	if n == 0 && l.Length != nil {
		n = 1
	}
	if n == 0 {
		return nil
	}
	if cap(made.segments)-len(made.segments) < n {
		made.segments = make([]wqe.Segment, 0, max(n, portion))
	}
	begin := len(made.segments)
	for _, s := range l.SGE {
		made.segments = append(made.segments, wqe.Segment{VA: s.Addr, Length: s.Length, LKey: s.LKey})
	}
	if len(l.SGE) == 0 {
		made.segments = append(made.segments, wqe.Segment{VA: or(l.LAddr), Length: uint32(*l.Length), LKey: or(l.LKey)})
	}
	return made.segments[begin:len(made.segments):len(made.segments)]
}

func (l *line) send(e *cq.Event, made *made) error {
	r := put(&made.sends, wqe.SendRequest{ID: or(l.WRID), Flags: sendBits.read(or(l.Flags))})
	e.Send, e.Anonymous = r, l.WRID == nil
	if l.Ev == "bind_mw" || or(l.Opcode) == "BIND_MW" {
		r.Op, r.Flags = wqe.OpBindMW, r.Flags|wqe.Signaled
		r.Window = &wqe.Bind{
			MW: wqe.MW(or(l.WindowOf)), MR: wqe.MR(or(l.RegionOf)), RKey: or(l.RKey), VA: or(l.Addr), Length: or(l.Length),
			Access: accessBits.read(or(l.Access)),
		}
		return nil
	}
	op, ok := sendOps[or(l.Opcode)]
	if !ok {
		return fmt.Errorf(`"opcode" is %q: docs/events.md lists the operations`, or(l.Opcode))
	}
	if l.WRID == nil {
		return missing("wr_id")
	}
	r.Op, r.Segments, r.RemoteVA, r.RKey, r.Imm = op, l.segments(made), or(l.RAddr), or(l.RKey), or(l.Imm)
	r.QKey, r.Dest.QPN, r.AH, r.XRCSRQ = or(l.QKey), or(l.DQPN), wqe.AH(or(l.AH)), or(l.XRCSRQ)
	r.Compare, r.SwapAdd = or(l.CompAdd), or(l.Swap)
	switch op {
	case wqe.OpSendInv, wqe.OpLocalInv:
		r.InvKey = r.RKey
		if l.InvKey != nil {
			r.InvKey = *l.InvKey
		}
	case wqe.OpFetchAdd:
		r.Compare, r.SwapAdd = 0, or(l.CompAdd)
	case wqe.OpFlush:
		r.Flush = wqe.FlushRequest{Length: uint32(or(l.Length)), Placement: or(l.Place), Whole: or(l.Whole) != 0}
		r.Segments = nil
	}
	if l.DGID != nil {
		var err error
		if r.Dest.Addr, err = address(*l.DGID); err != nil {
			return err
		}
	}
	if err := l.content(e); err != nil {
		return err
	}
	// Of what a READ or an atomic fetches nothing is known when it is posted.
	if op == wqe.OpRead || op == wqe.OpCmpSwap || op == wqe.OpFetchAdd {
		e.Sum, e.Summed, e.Data = 0, false, nil
	}
	return nil
}

// content sets what a line says of the data of a send request. Where that is all of it, so is its checksum known.
func (l *line) content(e *cq.Event) (err error) {
	if l.Data == nil {
		return nil
	}
	if e.Data, err = hex.DecodeString(*l.Data); err != nil {
		return fmt.Errorf(`"data" is no even number of hexadecimal digits: %w`, err)
	}
	all := 0
	for _, g := range e.Send.Segments {
		all += int(g.Length)
	}
	if len(e.Data) > all {
		return fmt.Errorf(`"data" has %d bytes, and the message %d`, len(e.Data), all)
	}
	if !e.Summed && len(e.Data) == all {
		e.Sum, e.Summed = crc32.ChecksumIEEE(e.Data), true
	}
	return nil
}

func (l *line) completion(made *made) (*cq.Completion, error) {
	if l.WRID == nil {
		return nil, missing("wr_id")
	}
	if l.StatusCode == nil {
		return nil, missing("status_code")
	}
	c := put(&made.completions, cq.Completion{
		ID: *l.WRID, QP: wqe.QP{QPN: *l.QPN}, Status: cq.Status(*l.StatusCode), ByteLen: or(l.ByteLen), SrcQP: or(l.SrcQP),
		SLID: or(l.SLID), SL: or(l.SL), Imm: or(l.Imm), InvKey: or(l.InvKey),
	})
	op, ok := doneOps[or(l.Opcode)]
	if !ok && c.Status == cq.Success {
		return nil, fmt.Errorf(`"opcode" is %q: docs/events.md lists those of completions`, or(l.Opcode))
	}
	c.Op = op
	if l.Imm != nil {
		c.Flags |= cq.WithImm
	}
	if l.InvKey != nil {
		c.Flags |= cq.WithInv
	}
	if or(l.GRH) != 0 {
		c.Flags |= cq.WithGRH
	}
	return c, nil
}
