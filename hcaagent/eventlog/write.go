package eventlog

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"

	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// Writer writes the events of one device as a log.
type Writer struct {
	enc   *json.Encoder
	seq   int64
	whole bool // data is written as far as a line has room for it
}

// NewWriter begins a log of the device with this address. exact says that the events have the clock of the packets.
func NewWriter(w io.Writer, addr packet.Addr, exact bool) (*Writer, error) {
	clock := "host"
	if exact {
		clock = "capture"
	}
	return (&Writer{enc: json.NewEncoder(w)}).begin(addr, clock)
}

// NewRecording begins a log of the device with this address from which all shows again that is judged of its events: data is in it up to the 480 KiB that a line holds. simulation
// says that one clock of a simulation stamps the events, and frames at their last byte; otherwise they have the clock of the packets.
func NewRecording(w io.Writer, addr packet.Addr, simulation bool) (*Writer, error) {
	clock := "capture"
	if simulation {
		clock = "simulation"
	}
	return (&Writer{enc: json.NewEncoder(w), whole: true}).begin(addr, clock)
}

func (w *Writer) begin(addr packet.Addr, clock string) (*Writer, error) {
	head := line{Ev: "device", Clock: &clock}
	if !addr.IsZero() {
		head.GID = to(addr.String())
	}
	return w, w.put(&head)
}

// End says that the log tells of all to the end of the run.
func (w *Writer) End() error { return w.put(&line{Ev: "end"}) }

func (w *Writer) put(l *line) error {
	l.Seq = to(w.seq)
	w.seq++
	if err := w.enc.Encode(l); err != nil {
		return fmt.Errorf("eventlog: %w", err)
	}
	return nil
}

// Write adds an event.
func (w *Writer) Write(e *cq.Event) error {
	l := lineOf(e)
	if w.whole {
		l.data(e, mostInLine)
	}
	return w.put(l)
}

func to[T any](v T) *T { return &v }

// some returns a pointer to v, or nil where v is zero.
func some[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

func flag(b bool) *int {
	if b {
		return to(1)
	}
	return nil
}

// lineOf is the line of an event; its event() is the event again.
func lineOf(e *cq.Event) *line {
	l := &line{T: to(e.Time), After: some(e.After), Order: some(e.Order), Ev: name(kinds, e.Kind), QPN: to(e.QP.QPN), CQ: some(uint32(e.CQ)), SRQ: some(uint32(e.SRQ)), RC: flag(e.Failed)}
	if e.Summed {
		l.CRC = to(e.Sum)
	}
	switch e.Kind {
	case cq.EvCreateQP, cq.EvModifyQP, cq.EvQueryQP:
		l.queuePair(e)
	case cq.EvCreateCQ, cq.EvResizeCQ, cq.EvCreateSRQ, cq.EvModifySRQ:
		l.queue(e)
	case cq.EvCreateAH, cq.EvModifyAH, cq.EvDestroyAH:
		l.addressHandle(e)
	case cq.EvAttachGroup, cq.EvDetachGroup:
		if e.Group != nil {
			l.DGID = to(e.Group.String())
		}
	case cq.EvDevice:
		l.device(e.Device)
	case cq.EvRegisterMR, cq.EvDeregisterMR, cq.EvAllocateMW, cq.EvDeallocateMW:
		l.region(e.Region)
	case cq.EvPostSend, cq.EvPostReceive:
		l.post(e)
	case cq.EvCompletion:
		l.completed(e)
	case cq.EvLost, cq.EvReset:
		l.QPN = nil
	case cq.EvMemory:
		l.memory(e)
	case cq.EvArm:
		l.Solicited = flag(e.Arm == cq.ArmSolicited)
	case cq.EvAsync:
		l.What = to(name(asyncs, e.Async))
	}
	return l
}

func (l *line) queuePair(e *cq.Event) {
	switch e.Kind {
	case cq.EvCreateQP:
		if n := e.New; n != nil {
			l.Type, l.PD, l.SendCQ, l.RecvCQ = name(types, n.Type), some(uint32(n.PD)), some(uint32(n.SendCQ)), some(uint32(n.RecvCQ))
			l.SRQ, l.MaxSendWR, l.MaxRecvWR, l.SigAll = some(uint32(n.SRQ)), some(n.MaxSend), some(n.MaxReceive), flag(n.SignalAll)
			l.XRCD = some(uint32(n.XRCD))
			l.MaxSendSGE, l.MaxRecvSGE, l.MaxInline = some(n.MaxSendSegments), some(n.MaxRecvSegments), some(n.MaxInline)
		}
	case cq.EvModifyQP:
		l.To = to(name(states, e.State))
		l.give(e.Attr)
	case cq.EvQueryQP:
		l.State = to(uint8(e.State))
		l.give(e.Attr)
	}
}

// queue writes how deep a completion queue or SRQ is, or for modify_srq its limit.
func (l *line) queue(e *cq.Event) {
	if e.Kind == cq.EvModifySRQ {
		l.Limit = to(e.Depth)
		return
	}
	l.Depth, l.XRCD = some(e.Depth), some(uint32(e.XRCD))
}

func (l *line) addressHandle(e *cq.Event) {
	l.AH, l.PD = to(uint32(e.AH)), some(uint32(e.PD))
	if v := e.Vector; v != nil {
		l.DGID, l.SL, l.TClass, l.HopLimit, l.GRH = to(v.Dest.String()), some(v.SL), some(v.TClass), some(v.HopLimit), flag(v.GRH)
	}
}

func (l *line) device(d *qp.Limits) {
	if d != nil {
		l.DeviceRd, l.DeviceDestRd, l.PKeys, l.Ports = to(d.MaxRdAtomic), to(d.MaxDestRdAtomic), to(d.PKeys), to(d.Ports)
	}
}

func (l *line) region(r *wqe.Region) {
	if r == nil {
		return
	}
	l.PD, l.RegionOf, l.WindowOf = some(uint32(r.PD)), some(uint32(r.MR)), some(uint32(r.MW))
	l.Addr, l.Length, l.LKey, l.RKey, l.Access = some(r.VA), some(r.Length), some(r.LKey), some(r.RKey), some(accessBits.write(r.Access))
	if r.Window != 0 {
		l.Type = r.Window
	}
}

// memory writes what a range of memory holds.
func (l *line) memory(e *cq.Event) {
	if r := e.Region; r != nil {
		l.QPN, l.Addr, l.Length, l.Wrote = nil, some(r.VA), some(r.Length), flag(e.Wrote)
		l.content(e)
	}
}

// give writes the attributes that are known.
func (l *line) give(a *qp.Attr) {
	if a == nil {
		return
	}
	set := func(k qp.Known, f func()) {
		if a.Known&k != 0 {
			f()
		}
	}
	set(qp.KnowsPMTU, func() { l.PathMTU = to(a.PMTU) })
	set(qp.KnowsSQPSN, func() { l.SQPSN = to(uint32(a.SQPSN)) })
	set(qp.KnowsRQPSN, func() { l.RQPSN = to(uint32(a.RQPSN)) })
	set(qp.KnowsDestQPN, func() { l.DestQPN = to(a.DestQPN) })
	set(qp.KnowsDestAddr, func() { l.DGID = to(a.DestAddr.String()) })
	set(qp.KnowsTimeout, func() { l.Timeout = to(a.Timeout) })
	set(qp.KnowsRetryCnt, func() { l.RetryCnt = to(a.RetryCnt) })
	set(qp.KnowsRNRRetry, func() { l.RNRRetry = to(a.RNRRetry) })
	set(qp.KnowsMinRNRTimer, func() { l.MinRNRTimer = to(a.MinRNRTimer) })
	set(qp.KnowsMaxRdAtomic, func() { l.MaxRd = to(a.MaxRdAtomic) })
	set(qp.KnowsMaxDestRdAtomic, func() { l.MaxDestRd = to(a.MaxDestRdAtomic) })
	set(qp.KnowsPKey, func() {
		if a.PKey == 0 {
			l.PKeyIndex = to(a.PKeyIndex)
			return
		}
		l.PKey, l.PKeyIndex = to(a.PKey), some(a.PKeyIndex)
	})
	set(qp.KnowsQKey, func() { l.QKey = to(a.QKey) })
	set(qp.KnowsAccess, func() { l.QPAccess = to(accessBits.write(a.Access)) })
	set(qp.KnowsMigState, func() { l.MigState = to(uint8(a.MigState)) })
	set(qp.KnowsTClass, func() { l.TClass = to(a.TClass) })
	set(qp.KnowsHopLimit, func() { l.HopLimit = to(a.HopLimit) })
	set(qp.KnowsSL, func() { l.SL = to(a.SL) })
	set(qp.KnowsPort, func() { l.Port = to(a.Port) })
	set(qp.KnowsCurState, func() { l.CurState = to(uint8(a.CurState)) })
	set(qp.KnowsAltPath, func() { l.AltDGID = to(a.AltAddr.String()) })
	set(qp.KnowsRateLimit, func() { l.RateLimit = to(a.RateLimit) })
	set(qp.KnowsSQDNotify, func() {
		n := 0
		if a.SQDNotify {
			n = 1
		}
		l.SQDNotify = &n
	})
}

func (l *line) gather(list []wqe.Segment) {
	for _, s := range list {
		l.SGE = append(l.SGE, segment{s.VA, s.Length, s.LKey})
	}
}

// mostData is the longest data of a message, or of a range of memory, that is written: a log holds little more than what happened.
const mostData = 256

func (l *line) content(e *cq.Event) {
	if len(e.Data) <= mostData {
		l.data(e, mostData)
	}
}

// mostInLine is the longest data in a line that can be read.
const mostInLine = 480 << 10

// data writes the data of an event: of a message its beginning, up to most bytes, of memory all or nothing.
func (l *line) data(e *cq.Event, most int) {
	data := e.Data
	if len(data) > most && e.Kind == cq.EvPostSend {
		data = data[:most]
	}
	if n := len(data); n > 0 && n <= most {
		l.Data = to(hex.EncodeToString(data))
	}
}

// post writes a work request.
func (l *line) post(e *cq.Event) {
	switch {
	case e.Kind == cq.EvPostSend && e.Send != nil:
		l.send(e)
	case e.Kind == cq.EvPostReceive && e.Receive != nil:
		l.WRID = to(e.Receive.ID)
		l.gather(e.Receive.Segments)
	}
}

func (l *line) send(e *cq.Event) {
	r := e.Send
	l.Flags = some(sendBits.write(r.Flags))
	if r.Window != nil && e.Anonymous {
		l.Ev = "bind_mw"
	}
	if !e.Anonymous {
		l.WRID = to(r.ID)
	}
	l.content(e)
	l.Opcode = to(name(sendOps, r.Op))
	l.gather(r.Segments)
	l.RAddr, l.RKey, l.Imm = some(r.RemoteVA), some(r.RKey), some(r.Imm)
	l.QKey, l.DQPN, l.AH, l.XRCSRQ = some(r.QKey), some(r.Dest.QPN), some(uint32(r.AH)), some(r.XRCSRQ)
	l.CompAdd, l.Swap, l.InvKey = some(r.Compare), some(r.SwapAdd), some(r.InvKey)
	if !r.Dest.Addr.IsZero() {
		l.DGID = to(r.Dest.Addr.String())
	}
	switch {
	case r.Op == wqe.OpFetchAdd:
		l.CompAdd, l.Swap = some(r.SwapAdd), nil
	case r.Op == wqe.OpFlush:
		l.Length, l.Place, l.Whole = some(uint64(r.Flush.Length)), some(r.Flush.Placement), flag(r.Flush.Whole)
	case r.Window != nil:
		b := r.Window
		l.WindowOf, l.RegionOf, l.RKey = some(uint32(b.MW)), some(uint32(b.MR)), some(b.RKey)
		l.Addr, l.Length, l.Access = some(b.VA), some(b.Length), some(accessBits.write(b.Access))
	}
}

func (l *line) completed(e *cq.Event) {
	l.Poll, l.Emptied = some(e.Poll), flag(e.Emptied)
	if e.Completion != nil {
		l.complete(e.Completion)
	}
	if len(e.Head) > 0 {
		l.Head = to(hex.EncodeToString(e.Head))
	}
}

func (l *line) complete(c *cq.Completion) {
	l.QPN, l.WRID, l.StatusCode, l.Status = to(c.QP.QPN), to(c.ID), to(uint8(c.Status)), to(c.Status.String())
	if c.Status != cq.Success {
		return
	}
	l.Opcode, l.ByteLen, l.SrcQP, l.SLID, l.SL = to(name(doneOps, c.Op)), to(c.ByteLen), some(c.SrcQP), some(c.SLID), some(c.SL)
	if c.Flags&cq.WithImm != 0 {
		l.Imm = to(c.Imm)
	}
	if c.Flags&cq.WithInv != 0 {
		l.InvKey = to(c.InvKey)
	}
	l.GRH = flag(c.Flags&cq.WithGRH != 0)
}
