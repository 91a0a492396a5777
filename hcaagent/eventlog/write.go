package eventlog

import (
	"fmt"
	"io"

	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// Writer writes the events of one device as a log.
type Writer struct {
	w     io.Writer
	seq   int64
	whole bool   // data is written as far as a line has room for it
	line  fields // the newest one
}

// NewWriter begins a log of the device with this address. exact says that the events have the clock of the packets.
func NewWriter(w io.Writer, addr packet.Addr, exact bool) (*Writer, error) {
	clock := "host"
	if exact {
		clock = "capture"
	}
	return (&Writer{w: w}).begin(addr, clock)
}

// NewRecording begins a log of the device with this address from which all shows again that is judged of its events: data is in it up to the 480 KiB that a line holds. simulation
// says that one clock of a simulation stamps the events, and frames at their last byte; otherwise they have the clock of the packets.
func NewRecording(w io.Writer, addr packet.Addr, simulation bool) (*Writer, error) {
	clock := "capture"
	if simulation {
		clock = "simulation"
	}
	return (&Writer{w: w, whole: true}).begin(addr, clock)
}

func (w *Writer) begin(addr packet.Addr, clock string) (*Writer, error) {
	l := w.next()
	l.text("ev", "device")
	if !addr.IsZero() {
		l.text("gid", addr.String())
	}
	l.text("clock", clock)
	return w, w.put()
}

// End says that the log tells of all to the end of the run.
func (w *Writer) End() error {
	w.next().text("ev", "end")
	return w.put()
}

// Write adds an event.
func (w *Writer) Write(e *cq.Event) error {
	w.next().event(e, w.whole)
	return w.put()
}

// next begins a line.
func (w *Writer) next() *fields {
	w.line = w.line[:0]
	w.line.begin()
	w.line.signed("seq", w.seq)
	w.seq++
	return &w.line
}

// put writes the line.
func (w *Writer) put() error {
	w.line.end()
	w.line = append(w.line, '\n')
	if _, err := w.w.Write(w.line); err != nil {
		return fmt.Errorf("eventlog: %w", err)
	}
	return nil
}

// event writes an event, so that line.event() is the event again. whole says that its data is written as far as a line has room for it.
func (f *fields) event(e *cq.Event, whole bool) {
	f.signed("t", e.Time)
	f.some("after", e.After)
	f.some("order", e.Order)
	f.text("ev", eventName(e))
	f.flag("rc", e.Failed)
	switch {
	case e.Kind == cq.EvLost, e.Kind == cq.EvReset, e.Kind == cq.EvMemory && e.Region != nil:
	case e.Kind == cq.EvCompletion && e.Completion != nil:
		f.number("qpn", uint64(e.Completion.QP.QPN))
	default:
		f.number("qpn", uint64(e.QP.QPN))
	}
	f.some("cq", uint64(e.CQ))
	if e.Kind == cq.EvCreateQP && e.New != nil {
		f.create(e.New)
	} else {
		f.some("srq", uint64(e.SRQ))
	}
	f.before(e)
	f.content(e, whole)
	f.after(e)
}

func eventName(e *cq.Event) string {
	if e.Kind == cq.EvPostSend && e.Send != nil && e.Send.Window != nil && e.Anonymous {
		return "bind_mw"
	}
	return kindNames.of(e.Kind)
}

// before writes the fields before the data.
func (f *fields) before(e *cq.Event) {
	switch e.Kind {
	case cq.EvModifyQP:
		f.text("to", stateNames.of(e.State))
		f.attributes(e.Attr)
	case cq.EvQueryQP:
		f.number("state", uint64(e.State))
		f.attributes(e.Attr)
	case cq.EvCreateCQ, cq.EvResizeCQ, cq.EvCreateSRQ:
		f.some("xrcd", uint64(e.XRCD))
		f.some("depth", uint64(e.Depth))
	case cq.EvModifySRQ:
		f.signed("limit", int64(e.Depth))
	case cq.EvCreateAH, cq.EvModifyAH, cq.EvDestroyAH:
		f.addressVector(e)
	case cq.EvAttachGroup, cq.EvDetachGroup:
		if e.Group != nil {
			f.text("dgid", e.Group.String())
		}
	case cq.EvRegisterMR, cq.EvDeregisterMR, cq.EvAllocateMW, cq.EvDeallocateMW:
		f.region(e.Region)
	case cq.EvPostSend:
		f.send(e)
	case cq.EvPostReceive:
		f.receive(e.Receive)
	case cq.EvCompletion:
		f.completed(e.Completion)
	case cq.EvMemory:
		f.memory(e)
	case cq.EvArm:
		f.flag("solicited_only", e.Arm == cq.ArmSolicited)
	case cq.EvAsync:
		f.text("what", asyncNames.of(e.Async))
	}
}

// after writes the fields after the data.
func (f *fields) after(e *cq.Event) {
	switch e.Kind {
	case cq.EvCreateAH, cq.EvModifyAH, cq.EvDestroyAH:
		f.number("ah", uint64(e.AH))
		f.flag("grh", e.Vector != nil && e.Vector.GRH)
	case cq.EvDevice:
		if d := e.Device; d != nil {
			f.number("max_qp_init_rd_atom", uint64(d.MaxRdAtomic))
			f.number("max_qp_rd_atom", uint64(d.MaxDestRdAtomic))
			f.signed("max_pkeys", int64(d.PKeys))
			f.number("phys_port_cnt", uint64(d.Ports))
		}
	case cq.EvRegisterMR, cq.EvDeregisterMR, cq.EvAllocateMW, cq.EvDeallocateMW:
		if r := e.Region; r != nil {
			f.some("mw", uint64(r.MW))
			f.some("mr", uint64(r.MR))
		}
	case cq.EvPostSend:
		if e.Send != nil {
			f.operands(e.Send)
		}
	case cq.EvCompletion:
		f.status(e)
	}
}

// create writes what a queue pair is created with.
func (f *fields) create(n *qp.InitAttr) {
	f.some("send_cq", uint64(n.SendCQ))
	f.some("recv_cq", uint64(n.RecvCQ))
	f.some("srq", uint64(n.SRQ))
	f.some("xrcd", uint64(n.XRCD))
	f.some("pd", uint64(n.PD))
	f.text("type", typeNames.of(n.Type))
	f.flag("sq_sig_all", n.SignalAll)
	f.some("max_send_wr", uint64(n.MaxSend))
	f.some("max_recv_wr", uint64(n.MaxReceive))
	f.some("max_send_sge", uint64(n.MaxSendSegments))
	f.some("max_recv_sge", uint64(n.MaxRecvSegments))
	f.some("max_inline", uint64(n.MaxInline))
}

func (f *fields) addressVector(e *cq.Event) {
	f.some("pd", uint64(e.PD))
	if v := e.Vector; v != nil {
		f.text("dgid", v.Dest.String())
		f.some("hop_limit", uint64(v.HopLimit))
		f.some("traffic_class", uint64(v.TClass))
		f.some("sl", uint64(v.SL))
	}
}

func (f *fields) region(r *wqe.Region) {
	if r == nil {
		return
	}
	f.some("pd", uint64(r.PD))
	f.some("type", uint64(r.Window))
	f.some("addr", r.VA)
	f.some("length", r.Length)
	f.some("lkey", uint64(r.LKey))
	f.some("rkey", uint64(r.RKey))
	f.some("access", uint64(accessBits.write(r.Access)))
}

// memory writes a range of memory, whose data follows.
func (f *fields) memory(e *cq.Event) {
	if r := e.Region; r != nil {
		f.some("addr", r.VA)
		f.some("length", r.Length)
		f.flag("wrote", e.Wrote)
	}
}

// attributes writes those that are known.
func (f *fields) attributes(a *qp.Attr) {
	if a == nil {
		return
	}
	known := func(k qp.Known, name string, v uint64) {
		if a.Known&k != 0 {
			f.number(name, v)
		}
	}
	address := func(k qp.Known, name string, v packet.Addr) {
		if a.Known&k != 0 {
			f.text(name, v.String())
		}
	}
	known(qp.KnowsCurState, "cur_qp_state", uint64(a.CurState))
	if a.PKeyIndex != 0 || a.PKey == 0 {
		known(qp.KnowsPKey, "pkey_index", uint64(a.PKeyIndex))
	}
	if a.PKey != 0 {
		known(qp.KnowsPKey, "pkey", uint64(a.PKey))
	}
	known(qp.KnowsPort, "port_num", uint64(a.Port))
	known(qp.KnowsAccess, "qp_access_flags", uint64(accessBits.write(a.Access)))
	known(qp.KnowsQKey, "qkey", uint64(a.QKey))
	known(qp.KnowsPMTU, "path_mtu", uint64(a.PMTU))
	known(qp.KnowsDestQPN, "dest_qp_num", uint64(a.DestQPN))
	address(qp.KnowsDestAddr, "dgid", a.DestAddr)
	known(qp.KnowsRQPSN, "rq_psn", uint64(a.RQPSN))
	known(qp.KnowsSQPSN, "sq_psn", uint64(a.SQPSN))
	known(qp.KnowsMaxDestRdAtomic, "max_dest_rd_atomic", uint64(a.MaxDestRdAtomic))
	known(qp.KnowsMaxRdAtomic, "max_rd_atomic", uint64(a.MaxRdAtomic))
	known(qp.KnowsMinRNRTimer, "min_rnr_timer", uint64(a.MinRNRTimer))
	known(qp.KnowsTimeout, "timeout", uint64(a.Timeout))
	known(qp.KnowsRetryCnt, "retry_cnt", uint64(a.RetryCnt))
	known(qp.KnowsRNRRetry, "rnr_retry", uint64(a.RNRRetry))
	known(qp.KnowsHopLimit, "hop_limit", uint64(a.HopLimit))
	known(qp.KnowsTClass, "traffic_class", uint64(a.TClass))
	known(qp.KnowsSL, "sl", uint64(a.SL))
	known(qp.KnowsMigState, "path_mig_state", uint64(a.MigState))
	address(qp.KnowsAltPath, "alt_dgid", a.AltAddr)
	known(qp.KnowsRateLimit, "rate_limit", uint64(a.RateLimit))
	notify := uint64(0)
	if a.SQDNotify {
		notify = 1
	}
	known(qp.KnowsSQDNotify, "en_sqd_async_notify", notify)
}

// send writes a work request up to its data.
func (f *fields) send(e *cq.Event) {
	r := e.Send
	if r == nil {
		return
	}
	key := r.RKey
	switch b := r.Window; {
	case b != nil:
		f.some("addr", b.VA)
		f.some("length", b.Length)
		key = b.RKey
	case r.Op == wqe.OpFlush:
		f.some("length", uint64(r.Flush.Length))
	}
	f.some("rkey", uint64(key))
	if r.Window != nil {
		f.some("access", uint64(accessBits.write(r.Window.Access)))
	}
	f.some("qkey", uint64(r.QKey))
	if !r.Dest.Addr.IsZero() {
		f.text("dgid", r.Dest.Addr.String())
	}
	if !e.Anonymous {
		f.number("wr_id", r.ID)
	}
	f.text("opcode", sendNames.of(r.Op))
	f.segments(r.Segments)
	f.some("raddr", r.RemoteVA)
	f.some("imm", uint64(r.Imm))
	f.some("inv_rkey", uint64(r.InvKey))
	f.some("flags", uint64(sendBits.write(r.Flags)))
}

// operands writes the rest of it.
func (f *fields) operands(r *wqe.SendRequest) {
	f.some("dest_qpn", uint64(r.Dest.QPN))
	if r.Op == wqe.OpFetchAdd {
		f.some("compare_add", r.SwapAdd)
	} else {
		f.some("compare_add", r.Compare)
		f.some("swap", r.SwapAdd)
	}
	f.some("ah", uint64(r.AH))
	if b := r.Window; b != nil && r.Op != wqe.OpFetchAdd && r.Op != wqe.OpFlush {
		f.some("mw", uint64(b.MW))
		f.some("mr", uint64(b.MR))
	}
	f.some("remote_srqn", uint64(r.XRCSRQ))
	if r.Op == wqe.OpFlush {
		f.some("placement", uint64(r.Flush.Placement))
		f.flag("whole", r.Flush.Whole)
	}
}

func (f *fields) receive(r *wqe.ReceiveRequest) {
	if r != nil {
		f.number("wr_id", r.ID)
		f.segments(r.Segments)
	}
}

func (f *fields) segments(list []wqe.Segment) {
	if len(list) == 0 {
		return
	}
	f.name("sge")
	for i, s := range list {
		*f = append(*f, "[,"[min(i, 1)])
		f.begin()
		f.number("addr", s.VA)
		f.number("length", uint64(s.Length))
		f.number("lkey", uint64(s.LKey))
		f.end()
	}
	*f = append(*f, ']')
}

const (
	mostData   = 256       // the longest data of a message, or of a range of memory, that is written: a log holds little more than what happened
	mostInLine = 480 << 10 // the longest that can be read in a line
)

// content writes the data of an event, or its checksum: of a message its beginning where whole says so, else all or nothing.
func (f *fields) content(e *cq.Event, whole bool) {
	if e.Summed {
		f.number("crc32", uint64(e.Sum))
	}
	data, most := e.Data, mostInLine
	switch {
	case whole && e.Kind == cq.EvPostSend:
		data = data[:min(len(data), most)]
	case !whole:
		most = mostData
		if e.Kind != cq.EvMemory && e.Kind != cq.EvPostSend {
			return
		}
	}
	if n := len(data); n > 0 && n <= most {
		f.digits("data", data)
	}
}

// completed writes a completion, up to its data.
func (f *fields) completed(c *cq.Completion) {
	if c == nil {
		return
	}
	if c.Status != cq.Success {
		f.number("wr_id", c.ID)
		return
	}
	f.some("sl", uint64(c.SL))
	f.number("wr_id", c.ID)
	f.text("opcode", doneNames.of(c.Op))
	if c.Flags&cq.WithImm != 0 {
		f.number("imm", uint64(c.Imm))
	}
	if c.Flags&cq.WithInv != 0 {
		f.number("inv_rkey", uint64(c.InvKey))
	}
}

// status writes the rest of it, and how it was polled.
func (f *fields) status(e *cq.Event) {
	c := e.Completion
	if c != nil {
		f.text("status", c.Status.String())
		f.number("status_code", uint64(c.Status))
	}
	if len(e.Head) > 0 {
		f.digits("head", e.Head)
	}
	if c != nil && c.Status == cq.Success {
		f.number("byte_len", uint64(c.ByteLen))
		f.flag("grh", c.Flags&cq.WithGRH != 0)
		f.some("src_qp", uint64(c.SrcQP))
		f.some("slid", uint64(c.SLID))
	}
	f.some("poll", uint64(e.Poll))
	f.flag("emptied", e.Emptied)
}
