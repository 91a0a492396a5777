package cq

import (
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// States follows what only events tell of queue pairs: which of them there are, their attributes, and whether they have failed. A verifier that asks for it
// need not wait for what the agent makes of the packets. The zero value is ready.
type States struct {
	devices []device
}

// device is the queue pairs of one source of events.
type device struct {
	addr    packet.Addr
	exact   bool
	cut     bool
	ended   bool
	newest  int64
	qps     map[uint32]*life
	created map[wqe.CQ]bool
}

// life is the newest life of a queue pair, from its creation or a RESET to the next.
type life struct {
	known      bool // its creation is in the log
	typ        qp.Type
	state      qp.State
	attr       qp.Attr
	send, recv wqe.CQ
	failed     bool
	gone       bool
	died       int64 // if gone
	number     int   // of the life, from 1 on
	sends      outstanding
}

// Source begins a source of events, of the device with an address, zero where it is not known. exact says that its clock is that of the packets. Sources are
// numbered from 0 on, in the order of the calls.
func (x *States) Source(addr packet.Addr, exact bool) {
	x.devices = append(x.devices, device{addr: addr, exact: exact, qps: map[uint32]*life{}, created: map[wqe.CQ]bool{}})
}

// Tells reports whether an event of a source tells anything that States follows.
func (x *States) Tells(source int, e *Event) bool {
	switch e.Kind {
	case EvCreateQP, EvModifyQP, EvDestroyQP, EvQueryQP, EvCreateCQ, EvAsync, EvLost, EvReset:
		return true
	case EvCompletion:
		return e.Completion != nil
	case EvPostSend:
		return true
	case EvPostReceive: // of a queue pair that was there before its log began
		d := &x.devices[source]
		return !d.exact && d.qps[e.QP.QPN] == nil
	}
	return false
}

// Event takes an event of a source. Those that tell nothing may be left out.
func (x *States) Event(source int, e *Event) {
	d := &x.devices[source]
	if d.addr.IsZero() {
		d.addr = e.QP.Addr
	}
	if d.newest = max(d.newest, e.Time); !sound(e) {
		return
	}
	q := d.qps[e.QP.QPN]
	switch e.Kind {
	case EvCreateCQ:
		d.createCQ(e)
	case EvCreateQP:
		d.create(q, e)
	case EvModifyQP:
		d.modify(q, e)
	case EvQueryQP:
		q.queried(e)
	case EvDestroyQP:
		q.destroyed(e)
	case EvCompletion:
		d.completed(e)
	case EvPostSend:
		d.posted(q, e)
	case EvPostReceive:
		if q == nil {
			d.begin(e.QP.QPN, nil)
		}
	case EvLost:
		d.lost()
	case EvReset:
		x.Reset(d.addr, e.Time)
	case EvAsync:
		d.async(q, e)
	}
}

// createCQ takes over that a completion queue was made.
func (d *device) createCQ(e *Event) {
	if !e.Failed {
		d.created[e.CQ] = true
	}
}

// create begins a life of a queue pair, after another one or nil.
func (d *device) create(before *life, e *Event) {
	if e.Failed {
		return
	}
	q := d.begin(e.QP.QPN, before)
	q.known, q.typ, q.send, q.recv = true, e.New.Type, e.New.SendCQ, e.New.RecvCQ
}

// queried takes over that the device reports a state of a queue pair, or of nil.
func (q *life) queried(e *Event) {
	if q != nil && !e.Failed && e.State == qp.Err {
		q.failed = true
	}
}

// destroyed takes over that a queue pair was destroyed, or nil.
func (q *life) destroyed(e *Event) {
	if q != nil && !e.Failed {
		q.gone, q.died = true, e.Time
	}
}

// async takes over an asynchronous event, of a queue pair or nil.
func (d *device) async(q *life, e *Event) {
	switch {
	case e.Async == AsyncCQError && d.created[e.CQ]:
		d.overrun(e.CQ)
	case e.Async == AsyncPathMigrated && q != nil:
		q.attr.Known, q.attr.MigState = q.attr.Known|qp.KnowsMigState, qp.Migrated
	}
}

// completed takes over a completion.
func (d *device) completed(e *Event) {
	n := e.Completion.QP.QPN
	q := d.qps[n]
	if q == nil {
		if e.Completion.Status == Success {
			return
		}
		q = d.begin(n, nil)
	}
	q.sends.completed(e, d.exact)
	if e.Completion.Status != Success && e.Completion.Status <= GeneralErr && (q.number == 1 || q.state >= qp.RTR) {
		q.failed = true
	}
}

// posted takes over a send request.
func (d *device) posted(q *life, e *Event) {
	if q == nil && !d.exact {
		q = d.begin(e.QP.QPN, nil)
	}
	if q != nil && !e.Failed {
		q.sends.posted(e, q)
	}
}

// overrun brings the queue pairs of a completion queue to the error state.
func (d *device) overrun(n wqe.CQ) {
	for _, q := range d.qps {
		if q.known && !q.gone && (q.send == n || q.recv == n) && q.state != qp.Reset && q.state != qp.Err {
			q.failed = true
		}
	}
}

// begin begins a life of a queue pair, after another one or nil.
func (d *device) begin(n uint32, before *life) *life {
	q := &life{number: 1}
	if before != nil {
		q.number += before.number
	}
	d.qps[n] = q
	return q
}

// modify brings a queue pair to a state.
func (d *device) modify(q *life, e *Event) {
	if q == nil {
		q = d.begin(e.QP.QPN, nil)
	}
	switch {
	case e.Failed:
		return
	case e.State == qp.Reset && q.state != qp.Reset:
		n := d.begin(e.QP.QPN, q)
		n.known, n.typ, n.send, n.recv = q.known, q.typ, q.send, q.recv
		return
	case e.State == qp.Err:
		q.failed = true
	case e.State == qp.RTS && qp.DeviceTransition(q.typ, qp.RTS, qp.SQE):
		q.failed = false
	}
	atWork := q.state >= qp.RTR
	switch q.state = e.State; {
	case e.Attr == nil:
	case atWork && !d.exact: // packets from before it are yet to come
		q.attr.Change(e.Attr)
	default:
		q.attr.Update(e.Attr)
	}
}

// Migration returns the migration state that a queue pair is in now. That takes a log with the clock of the packets.
func (x *States) Migration(addr packet.Addr, qpn uint32) (state qp.MigState, ok bool) {
	for i := range x.devices {
		if d := &x.devices[i]; d.addr == addr && d.exact && d.qps[qpn] != nil {
			a := &d.qps[qpn].attr
			return a.MigState, a.Has(qp.KnowsMigState)
		}
	}
	return 0, false
}

// Reset says that a device was reset: its queue pairs are gone.
func (x *States) Reset(addr packet.Addr, now int64) {
	for i := range x.devices {
		if d := &x.devices[i]; d.addr == addr {
			for _, q := range d.qps {
				q.gone, q.died = true, now
			}
		}
	}
}

// End says that a source has no more events, the newest of which was at a time. cut says that its log breaks off in its last line.
func (x *States) End(source int, newest int64, cut bool) {
	d := &x.devices[source]
	d.ended, d.cut, d.newest = true, cut, max(d.newest, newest)
}

// Reused reports whether a queue pair has had another life, of which it is not certain when it ended by the clock of the packets.
func (x *States) Reused(source int, qpn uint32) bool {
	d := &x.devices[source]
	q := d.qps[qpn]
	return !d.exact && q != nil && q.number > 1
}

// Reborn reports whether a queue pair has had another life, which has ended for certain by the clock of the packets.
func (x *States) Reborn(source int, qpn uint32) bool {
	d := &x.devices[source]
	q := d.qps[qpn]
	return d.exact && q != nil && q.number > 1
}

// Attr returns what is known of the newest life of a queue pair, as far as packets show it.
func (x *States) Attr(source int, qpn uint32) (attr qp.Attr, ok bool) {
	q := x.devices[source].qps[qpn]
	if q == nil {
		return attr, false
	}
	attr = q.attr
	attr.Service, _ = q.typ.Service()
	if attr.PKey == 0 {
		attr.Known &^= qp.KnowsPKey // known only by its index
	}
	attr.SQPSN &= packet.PSNMask
	attr.RQPSN &= packet.PSNMask
	return attr, true
}

// At reports whether a queue pair was there at a time and not in error, as far as events show. That takes a log with the clock of the packets, which
// goes on after that time, or a device whose events come one by one.
func (x *States) At(addr packet.Addr, qpn uint32, at int64) qp.Life {
	for i := range x.devices {
		d := &x.devices[i]
		q := d.qps[qpn]
		if d.addr != addr || q == nil {
			continue
		}
		switch {
		case q.failed || q.gone && (!d.exact || q.died <= at): // that it failed may have shown late
			return qp.Gone
		case !q.gone && q.state < qp.RTR || !q.known || !d.exact || d.cut || d.ended && d.newest < at:
			return qp.LifeUnknown
		}
		return qp.Alive
	}
	return qp.LifeUnknown
}
