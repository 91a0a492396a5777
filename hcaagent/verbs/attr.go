//go:build verbs && cgo && linux

package verbs

// #include "shim.h"
import "C"

import (
	"errors"
	"fmt"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// states are the states, as libibverbs numbers them, and accesses the access flags.
var (
	states = map[qp.State]uint32{
		qp.Reset: C.IBV_QPS_RESET, qp.Init: C.IBV_QPS_INIT, qp.RTR: C.IBV_QPS_RTR, qp.RTS: C.IBV_QPS_RTS, qp.SQD: C.IBV_QPS_SQD, qp.SQE: C.IBV_QPS_SQE, qp.Err: C.IBV_QPS_ERR,
	}
	accesses = []struct {
		flag wqe.Access
		ibv  C.uint
	}{
		{wqe.RemoteWrite, C.IBV_ACCESS_REMOTE_WRITE},
		{wqe.RemoteRead, C.IBV_ACCESS_REMOTE_READ},
		{wqe.RemoteAtomic, C.IBV_ACCESS_REMOTE_ATOMIC},
		{wqe.LocalWrite, C.IBV_ACCESS_LOCAL_WRITE},
		{wqe.BindWindow, C.IBV_ACCESS_MW_BIND},
		{wqe.ZeroBased, C.IBV_ACCESS_ZERO_BASED},
	}
)

// accessFlags makes flags of libibverbs of access flags.
func accessFlags(a wqe.Access) (flags C.uint, err error) {
	for _, x := range accesses {
		if a&x.flag != 0 {
			flags |= x.ibv
			a &^= x.flag
		}
	}
	if a != 0 {
		return 0, fmt.Errorf("verbs: access for FLUSH: this libibverbs does not have it: %w", errors.ErrUnsupported)
	}
	return flags, nil
}

// accessOf makes access flags of those of libibverbs.
func accessOf(flags C.uint) (a wqe.Access) {
	for _, x := range accesses {
		if flags&x.ibv != 0 {
			a |= x.flag
		}
	}
	return a
}

// vector are the attributes that make an address vector.
const vector = qp.KnowsDestAddr | qp.KnowsTClass | qp.KnowsHopLimit | qp.KnowsSL | qp.KnowsGRH | qp.KnowsSourceAddr

// plain are the attributes that libibverbs has as they are.
var plain = []struct {
	known qp.Known
	mask  C.int
	set   func(*C.struct_ibv_qp_attr, *qp.Attr)
	get   func(*C.struct_ibv_qp_attr, *qp.Attr)
}{
	{
		qp.KnowsPMTU, C.IBV_QP_PATH_MTU,
		func(a *C.struct_ibv_qp_attr, x *qp.Attr) { a.path_mtu = mtuOf(x.PMTU) },
		func(a *C.struct_ibv_qp_attr, x *qp.Attr) { x.PMTU = bytesOf(a.path_mtu) },
	},
	{
		qp.KnowsSQPSN, C.IBV_QP_SQ_PSN,
		func(a *C.struct_ibv_qp_attr, x *qp.Attr) { a.sq_psn = C.uint32_t(x.SQPSN) },
		func(a *C.struct_ibv_qp_attr, x *qp.Attr) { x.SQPSN = packet.PSN(a.sq_psn) },
	},
	{
		qp.KnowsRQPSN, C.IBV_QP_RQ_PSN,
		func(a *C.struct_ibv_qp_attr, x *qp.Attr) { a.rq_psn = C.uint32_t(x.RQPSN) },
		func(a *C.struct_ibv_qp_attr, x *qp.Attr) { x.RQPSN = packet.PSN(a.rq_psn) },
	},
	{
		qp.KnowsDestQPN, C.IBV_QP_DEST_QPN,
		func(a *C.struct_ibv_qp_attr, x *qp.Attr) { a.dest_qp_num = C.uint32_t(x.DestQPN) },
		func(a *C.struct_ibv_qp_attr, x *qp.Attr) { x.DestQPN = uint32(a.dest_qp_num) },
	},
	{
		qp.KnowsTimeout, C.IBV_QP_TIMEOUT,
		func(a *C.struct_ibv_qp_attr, x *qp.Attr) { a.timeout = C.uint8_t(x.Timeout) },
		func(a *C.struct_ibv_qp_attr, x *qp.Attr) { x.Timeout = uint8(a.timeout) },
	},
	{
		qp.KnowsRetryCnt, C.IBV_QP_RETRY_CNT,
		func(a *C.struct_ibv_qp_attr, x *qp.Attr) { a.retry_cnt = C.uint8_t(x.RetryCnt) },
		func(a *C.struct_ibv_qp_attr, x *qp.Attr) { x.RetryCnt = uint8(a.retry_cnt) },
	},
	{
		qp.KnowsRNRRetry, C.IBV_QP_RNR_RETRY,
		func(a *C.struct_ibv_qp_attr, x *qp.Attr) { a.rnr_retry = C.uint8_t(x.RNRRetry) },
		func(a *C.struct_ibv_qp_attr, x *qp.Attr) { x.RNRRetry = uint8(a.rnr_retry) },
	},
	{
		qp.KnowsMinRNRTimer, C.IBV_QP_MIN_RNR_TIMER,
		func(a *C.struct_ibv_qp_attr, x *qp.Attr) { a.min_rnr_timer = C.uint8_t(x.MinRNRTimer) },
		func(a *C.struct_ibv_qp_attr, x *qp.Attr) { x.MinRNRTimer = uint8(a.min_rnr_timer) },
	},
	{
		qp.KnowsMaxRdAtomic, C.IBV_QP_MAX_QP_RD_ATOMIC,
		func(a *C.struct_ibv_qp_attr, x *qp.Attr) { a.max_rd_atomic = C.uint8_t(x.MaxRdAtomic) },
		func(a *C.struct_ibv_qp_attr, x *qp.Attr) { x.MaxRdAtomic = uint8(a.max_rd_atomic) },
	},
	{
		qp.KnowsMaxDestRdAtomic, C.IBV_QP_MAX_DEST_RD_ATOMIC,
		func(a *C.struct_ibv_qp_attr, x *qp.Attr) { a.max_dest_rd_atomic = C.uint8_t(x.MaxDestRdAtomic) },
		func(a *C.struct_ibv_qp_attr, x *qp.Attr) { x.MaxDestRdAtomic = uint8(a.max_dest_rd_atomic) },
	},
	{
		qp.KnowsQKey, C.IBV_QP_QKEY,
		func(a *C.struct_ibv_qp_attr, x *qp.Attr) { a.qkey = C.uint32_t(x.QKey) },
		func(a *C.struct_ibv_qp_attr, x *qp.Attr) { x.QKey = uint32(a.qkey) },
	},
	{
		qp.KnowsMigState, C.IBV_QP_PATH_MIG_STATE, // numbered alike
		func(a *C.struct_ibv_qp_attr, x *qp.Attr) { a.path_mig_state = uint32(x.MigState) },
		func(a *C.struct_ibv_qp_attr, x *qp.Attr) { x.MigState = qp.MigState(a.path_mig_state) },
	},
	{
		qp.KnowsPort, C.IBV_QP_PORT,
		func(a *C.struct_ibv_qp_attr, x *qp.Attr) { a.port_num = C.uint8_t(x.Port) },
		func(a *C.struct_ibv_qp_attr, x *qp.Attr) { x.Port = uint8(a.port_num) },
	},
	{
		qp.KnowsRateLimit, C.IBV_QP_RATE_LIMIT,
		func(a *C.struct_ibv_qp_attr, x *qp.Attr) { a.rate_limit = C.uint32_t(x.RateLimit) },
		func(a *C.struct_ibv_qp_attr, x *qp.Attr) { x.RateLimit = uint32(a.rate_limit) },
	},
}

// fill makes attributes of libibverbs of those that are known, and says which they are.
func (d *Device) fill(q *queuePair, a *C.struct_ibv_qp_attr, x *qp.Attr) (mask C.int, err error) {
	left := x.Known
	for i := range plain {
		if p := &plain[i]; left&p.known != 0 {
			p.set(a, x)
			mask |= p.mask
			left &^= p.known
		}
	}
	if left&qp.KnowsAccess != 0 {
		flags, err := accessFlags(x.Access)
		if err != nil {
			return 0, err
		}
		a.qp_access_flags = flags
		mask |= C.IBV_QP_ACCESS_FLAGS
	}
	if left&qp.KnowsPKey != 0 {
		if a.pkey_index, err = d.pkeyIndex(x); err != nil {
			return 0, err
		}
		mask |= C.IBV_QP_PKEY_INDEX
	}
	if left&qp.KnowsCurState != 0 {
		a.cur_qp_state = states[x.CurState]
		mask |= C.IBV_QP_CUR_STATE
	}
	if left&qp.KnowsSQDNotify != 0 {
		if x.SQDNotify {
			a.en_sqd_async_notify = 1
		}
		mask |= C.IBV_QP_EN_SQD_ASYNC_NOTIFY
	}
	if left&(vector|qp.KnowsAltPath) != 0 {
		given, err := d.fillPaths(q, a, x)
		if err != nil {
			return 0, err
		}
		mask |= given
	}
	if left&qp.KnowsCredits != 0 {
		return 0, fmt.Errorf("verbs: end-to-end credits are not an attribute that can be set: %w", errors.ErrUnsupported)
	}
	return mask, nil
}

// fillPaths makes the address vectors of the path and of the alternate one. A part of one that is not given is as it was.
func (d *Device) fillPaths(q *queuePair, a *C.struct_ibv_qp_attr, x *qp.Attr) (mask C.int, err error) {
	all := q.attr
	all.Update(x)
	v := wqe.AddressVector{
		Dest: all.DestAddr, SL: all.SL, TClass: all.TClass, HopLimit: all.HopLimit, GRH: all.GRH,
		Source: wqe.GID{Addr: all.SourceAddr, RoCEv1: all.RoCEv1}, DestGID: all.DestGID, FlowLabel: all.FlowLabel,
	}
	if !all.Has(qp.KnowsHopLimit) {
		v.HopLimit = usualHops
	}
	if x.Known&vector != 0 {
		if err := d.address(&a.ah_attr, &v); err != nil {
			return 0, err
		}
		mask |= C.IBV_QP_AV
	}
	if x.Known&qp.KnowsAltPath != 0 {
		v.Dest = x.AltAddr
		if err := d.address(&a.alt_ah_attr, &v); err != nil {
			return 0, err
		}
		a.alt_port_num, a.alt_timeout, a.alt_pkey_index = C.uint8_t(d.port), C.uint8_t(all.Timeout), a.pkey_index
		mask |= C.IBV_QP_ALT_PATH
	}
	return mask, nil
}

// usualHops is the hop limit where none is given.
const usualHops = 64

// address makes an address vector of libibverbs.
func (d *Device) address(to *C.struct_ibv_ah_attr, v *wqe.AddressVector) error {
	*to = C.struct_ibv_ah_attr{sl: C.uint8_t(v.SL), port_num: C.uint8_t(d.port)}
	dest := v.Dest
	if dest.IsLID() {
		to.dlid = C.uint16_t(packet.LIDOf(dest))
		if !v.GRH {
			return nil
		}
		dest = v.DestGID
	}
	index := 0
	if d.roce || !v.Source.Addr.IsZero() {
		var err error
		if index, err = source(d.gids, v.Source, dest); err != nil {
			return err
		}
	}
	to.is_global = 1
	to.grh.dgid = gidOf(dest)
	to.grh.sgid_index, to.grh.hop_limit, to.grh.traffic_class = C.uint8_t(index), C.uint8_t(v.HopLimit), C.uint8_t(v.TClass)
	to.grh.flow_label = C.uint32_t(v.FlowLabel)
	return nil
}

// pkeyIndex finds the entry of the P_Key table that is meant.
func (d *Device) pkeyIndex(x *qp.Attr) (C.uint16_t, error) {
	if x.PKey == 0 {
		return C.uint16_t(x.PKeyIndex), nil
	}
	for i := range d.limits.PKeys {
		var entry C.__be16
		if C.ibv_query_pkey(d.ctx, C.uint8_t(d.port), C.int(i), &entry) == 0 && uint16(C.ntohs(C.uint16_t(entry))) == x.PKey {
			return C.uint16_t(i), nil
		}
	}
	return 0, fmt.Errorf("verbs: P_Key %#x: the port's table does not have it", x.PKey)
}

// query asks the device for the attributes that were set, and for the state.
func (d *Device) query(q *queuePair) (qp.Attr, qp.State, error) {
	var a C.struct_ibv_qp_attr
	var init C.struct_ibv_qp_init_attr
	if err := returned("ibv_query_qp", C.ibv_query_qp(q.qp, &a, 1<<25-1, &init)); err != nil {
		return qp.Attr{}, 0, err
	}
	x := q.attr
	x.Service = q.service
	for i := range plain {
		if x.Known&plain[i].known != 0 {
			plain[i].get(&a, &x)
		}
	}
	if x.Known&qp.KnowsAccess != 0 {
		x.Access = accessOf(a.qp_access_flags)
	}
	if x.Known&qp.KnowsPKey != 0 {
		var entry C.__be16
		if C.ibv_query_pkey(d.ctx, C.uint8_t(d.port), C.int(a.pkey_index), &entry) == 0 {
			x.PKey, x.PKeyIndex = uint16(C.ntohs(C.uint16_t(entry))), uint16(a.pkey_index)
		}
	}
	if x.Known&vector != 0 {
		d.readVector(&a.ah_attr, &x)
	}
	for s, n := range states {
		if n == a.qp_state {
			return x, s, nil
		}
	}
	return x, 0, fmt.Errorf("verbs: the driver says that the queue pair is in state %d, which there is not", a.qp_state)
}

// readVector reads an address vector of libibverbs.
func (d *Device) readVector(from *C.struct_ibv_ah_attr, x *qp.Attr) {
	x.SL = uint8(from.sl)
	if !d.roce {
		x.DestAddr = packet.LIDAddr(uint16(from.dlid))
	}
	if x.GRH = from.is_global != 0 && !d.roce || x.GRH; from.is_global == 0 {
		return
	}
	raw := [16]byte(from.grh.dgid)
	dest := packet.GIDAddr(raw[:])
	if d.roce {
		x.DestAddr = dest
	} else {
		x.DestGID = dest
	}
	x.TClass, x.HopLimit, x.FlowLabel = uint8(from.grh.traffic_class), uint8(from.grh.hop_limit), uint32(from.grh.flow_label)
	for i := range d.gids {
		if g := &d.gids[i]; g.Index == int(from.grh.sgid_index) && x.Known&qp.KnowsSourceAddr != 0 {
			x.SourceAddr, x.RoCEv1 = g.Addr, g.RoCEv1
		}
	}
}
