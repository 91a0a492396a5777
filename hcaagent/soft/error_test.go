package soft_test

import (
	"testing"

	"ibwitness/cq"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// TestErrors has requests fail in each way that table T16 has for RC: the status of both ends, and that what follows is flushed.
func TestErrors(t *testing.T) {
	const none = cq.Status(255)
	for _, c := range []struct {
		name    string
		change  func(a, b *end)
		request func(a, b *end) wqe.SendRequest
		room    int // bytes of the receive request; 0: none is posted
		send    cq.Status
		receive cq.Status // none: the receive request stays, and is flushed where the responder fails
		silent  bool      // the responder keeps running
		deaf    bool      // nothing reaches the responder
	}{
		{name: "CPL-STS-003: R_Key", request: func(a, b *end) wqe.SendRequest {
			return wqe.SendRequest{Op: wqe.OpWrite, Segments: a.sge(0, 64), RemoteVA: b.va, RKey: b.key ^ 1<<20}
		}, send: cq.RemAccessErr, receive: none},
		{name: "CPL-STS-003: range", request: func(a, b *end) wqe.SendRequest {
			return wqe.SendRequest{Op: wqe.OpRead, Segments: a.sge(0, 64), RemoteVA: b.va + b.length - 63, RKey: b.key}
		}, send: cq.RemAccessErr, receive: none},
		{name: "QPS-ACT-001: operation not enabled", change: func(_, b *end) { b.attr.Access = wqe.RemoteRead }, request: func(a, b *end) wqe.SendRequest {
			return wqe.SendRequest{Op: wqe.OpWrite, Segments: a.sge(0, 64), RemoteVA: b.va, RKey: b.key}
		}, send: cq.RemInvReqErr, receive: none},
		{name: "RC-RDA-003: no resources", change: func(_, b *end) { b.attr.MaxDestRdAtomic = 0 }, request: func(a, b *end) wqe.SendRequest {
			return wqe.SendRequest{Op: wqe.OpRead, Segments: a.sge(0, 64), RemoteVA: b.va, RKey: b.key}
		}, send: cq.RemInvReqErr, receive: none},
		{name: "CPL-STS-009: receive buffer too small", request: func(a, _ *end) wqe.SendRequest {
			return wqe.SendRequest{Op: wqe.OpSend, Segments: a.sge(0, 3000)}
		}, room: 2999, send: cq.RemInvReqErr, receive: cq.LocLenErr},
		{name: "CPL-STS-010: receive request denied", change: func(_, b *end) { b.key ^= 1 << 20 }, request: func(a, _ *end) wqe.SendRequest {
			return wqe.SendRequest{Op: wqe.OpSend, Segments: a.sge(0, 64)}
		}, room: 100, send: cq.RemOpErr, receive: cq.LocProtErr},
		{name: "LOC_PROT_ERR", request: func(a, _ *end) wqe.SendRequest {
			return wqe.SendRequest{Op: wqe.OpSend, Segments: []wqe.Segment{{VA: a.va, Length: 4, LKey: 5}}}
		}, send: cq.LocProtErr, receive: none, silent: true},
		{name: "CPL-STS-006: no answer", change: func(a, _ *end) { a.attr.RetryCnt = 2 }, request: func(a, _ *end) wqe.SendRequest {
			return wqe.SendRequest{Op: wqe.OpSend, Segments: a.sge(0, 64)}
		}, send: cq.RetryExcErr, receive: none, silent: true, deaf: true},
		{name: "CPL-STS-007: never ready", change: func(a, _ *end) { a.attr.RNRRetry = 3 }, request: func(a, _ *end) wqe.SendRequest {
			return wqe.SendRequest{Op: wqe.OpSend, Segments: a.sge(0, 64)}
		}, send: cq.RNRRetryExcErr, receive: none, silent: true},
		{name: "CPL-INV-002: key that cannot be invalidated", request: func(a, _ *end) wqe.SendRequest {
			return wqe.SendRequest{Op: wqe.OpSendInv, Segments: a.sge(0, 64), InvKey: 7}
		}, room: 100, send: cq.RemAccessErr, receive: cq.RemAccessErr},
		{name: "C9-88: no bytes need no key", request: func(a, b *end) wqe.SendRequest {
			return wqe.SendRequest{Op: wqe.OpWrite, Flags: wqe.Signaled, RemoteVA: b.va, RKey: 3}
		}, send: cq.Success, receive: none, silent: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, hs := devices(t, 3, addrs, nil)
			var key uint32
			p := pair(t, hs, qp.TypeRC, 0, 1<<16, func(a, b *end) {
				key = b.key
				if c.change != nil {
					c.change(a, b)
				}
			})
			a, b := p[0], p[1]
			if c.room > 0 {
				b.receive(receiveID, 8192, c.room)
			}
			if b.key = key; c.deaf {
				l.ends[1] = func([]byte) {}
			}
			q := c.request(a, b)
			q.ID = 1
			a.post(q)
			a.post(wqe.SendRequest{ID: 2, Op: wqe.OpWrite, Segments: a.sge(0, 8), RemoteVA: b.va, RKey: key})
			l.run(5e9)
			a.poll()
			b.poll()
			want := []cq.Status{c.send, cq.WRFlushErr}
			if c.send == cq.Success {
				want = want[:1]
			}
			if got := statuses(a.sends()); len(got) != len(want) || got[0] != want[0] || len(want) > 1 && got[1] != want[1] {
				t.Errorf("requests complete with %v, want %v", got, want)
			}
			if got := statuses(b.receives()); c.receive != none && (len(got) != 1 || got[0] != c.receive) || c.receive == none && len(got) > 0 {
				t.Errorf("the receive request completes with %v, want %v", got, c.receive)
			}
			if _, state, _ := a.QueryQP(ctx, a.qp); (state == qp.Err) != (c.send != cq.Success) {
				t.Errorf("the requester is in %v", state)
			}
			if _, state, _ := b.QueryQP(ctx, b.qp); (state == qp.Err) == c.silent {
				t.Errorf("the responder is in %v", state)
			}
			for i := range l.taps {
				if r := l.taps[i].verify(t); len(l.taps[i].frames) > 0 && len(accusations(r, rule.Violation)) > 0 {
					t.Errorf("tap %d: %q", i, accusations(r, rule.Violation))
				}
			}
		})
	}
}

func statuses(c []cq.Completion) (out []cq.Status) {
	for _, e := range c {
		out = append(out, e.Status)
	}
	return out
}
