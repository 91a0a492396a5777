package remote_test

import (
	"encoding/binary"
	"hash/crc32"
	"testing"

	"ibwitness/cq"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// pattern is data that differs.
func pattern(n int, seed byte) []byte {
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(i*7) + seed
	}
	return data
}

// traffic has two devices do all that a connection can.
func traffic(t *testing.T, a, b *end) {
	p, q := connect(a, b, nil)
	data := pattern(3000, 1)

	a.set(0, data)
	b.check(b.PostReceive(ctx, q, &wqe.ReceiveRequest{ID: 1, Segments: b.segment(8192, 4096)}))
	a.check(a.PostSend(ctx, p, &wqe.SendRequest{ID: 2, Op: wqe.OpSendImm, Imm: 0x01020304, Flags: wqe.Signaled, Segments: a.segment(0, 3000)}))
	a.completes(2, cq.Success, cq.DoneSend)
	c := b.completes(1, cq.Success, cq.DoneRecv)
	if c.ByteLen != 3000 || c.Flags&cq.WithImm == 0 || c.Imm != 0x01020304 || !c.Summed || c.Sum != crc32.ChecksumIEEE(data) || c.QP.QPN != q.QPN {
		t.Errorf("SEND with Immediate: %+v", c)
	}
	b.holds(8192, data)

	a.check(a.PostSend(ctx, p, &wqe.SendRequest{ID: 3, Op: wqe.OpWrite, Flags: wqe.Signaled, RemoteVA: base + 100, RKey: b.rkey, Segments: a.segment(0, 3000)}))
	a.completes(3, cq.Success, cq.DoneWrite)
	b.holds(100, data)

	b.set(16384, pattern(2500, 9))
	a.check(a.PostSend(ctx, p, &wqe.SendRequest{ID: 4, Op: wqe.OpRead, Flags: wqe.Signaled, RemoteVA: base + 16384, RKey: b.rkey, Segments: a.segment(20000, 2500)}))
	if c := a.completes(4, cq.Success, cq.DoneRead); !c.Summed || c.Sum != crc32.ChecksumIEEE(pattern(2500, 9)) {
		t.Errorf("READ: %+v", c)
	}
	a.holds(20000, pattern(2500, 9))

	word := make([]byte, 8)
	binary.NativeEndian.PutUint64(word, 41)
	b.set(24576, word)
	a.check(a.PostSend(ctx, p, &wqe.SendRequest{ID: 5, Op: wqe.OpFetchAdd, Flags: wqe.Signaled, RemoteVA: base + 24576, RKey: b.rkey, SwapAdd: 1, Segments: a.segment(24, 8)}))
	a.completes(5, cq.Success, cq.DoneFetchAdd)
	a.check(a.PostSend(ctx, p, &wqe.SendRequest{ID: 6, Op: wqe.OpCmpSwap, Flags: wqe.Signaled, RemoteVA: base + 24576, RKey: b.rkey, Compare: 42, SwapAdd: 7, Segments: a.segment(32, 8)}))
	a.completes(6, cq.Success, cq.DoneCmpSwap)
	binary.NativeEndian.PutUint64(word, 7)
	b.holds(24576, word)

	inline := pattern(32, 5)
	a.set(40, inline)
	a.check(a.PostSend(ctx, p, &wqe.SendRequest{ID: 7, Op: wqe.OpWrite, Flags: wqe.Signaled | wqe.Inline, RemoteVA: base, RKey: b.rkey, Segments: a.segment(40, 32)}))
	a.completes(7, cq.Success, cq.DoneWrite)
	b.holds(0, inline)

	// The receiver is not ready: the request is retransmitted until it is.
	a.check(a.PostSend(ctx, p, &wqe.SendRequest{ID: 8, Op: wqe.OpSend, Flags: wqe.Signaled | wqe.Solicited, Segments: a.segment(0, 10)}))
	b.check(b.RequestNotification(ctx, b.cq, cq.ArmSolicited))
	b.check(b.PostReceive(ctx, q, &wqe.ReceiveRequest{ID: 9, Segments: b.segment(0, 64)}))
	a.completes(8, cq.Success, cq.DoneSend)
	b.completes(9, cq.Success, cq.DoneRecv)
	b.event("notification", func(e *cq.Event) bool { return e.Kind == cq.EvNotify && e.CQ == b.cq })

	if x, s, err := a.QueryQP(ctx, p); err != nil || s != qp.RTS || x.DestQPN != q.QPN || x.DestAddr != q.Addr || x.PMTU != 1024 || x.Timeout != 14 {
		t.Errorf("QueryQP: %v, %v, %+v", s, err, x)
	}
	refused(t, a, b, p, q)
}

// refused uses a key that does not open: both queue pairs are in error, and the responder tells of it.
func refused(t *testing.T, a, b *end, p, q wqe.QP) {
	b.check(b.PostReceive(ctx, q, &wqe.ReceiveRequest{ID: 11, Segments: b.segment(0, 64)}))
	a.check(a.PostSend(ctx, p, &wqe.SendRequest{ID: 10, Op: wqe.OpWrite, RemoteVA: base, RKey: b.rkey ^ 0xFF00, Segments: a.segment(0, 8)}))
	a.completes(10, cq.RemAccessErr, 0)
	b.completes(11, cq.WRFlushErr, 0)
	if b.Info().Driver != rxe { // it does not tell of it
		b.event("access violation", func(e *cq.Event) bool {
			return e.Kind == cq.EvAsync && e.Async == cq.AsyncQPAccess && e.QP.QPN == q.QPN
		})
	}
	if _, s, err := a.QueryQP(ctx, p); err != nil || s != qp.Err {
		t.Errorf("state %v, %v", s, err)
	}
	for _, x := range []struct {
		*end
		wqe.QP
	}{{a, p}, {b, q}} {
		x.check(x.TransitionQP(ctx, x.QP, qp.Reset, qp.Attr{}))
		x.check(x.DestroyQP(ctx, x.QP))
	}
}
