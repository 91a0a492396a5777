package agent

import (
	"testing"

	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// TestMayHaveGivenUp: what a requester waits for is listed, and whether its retries may be exhausted, which ends the wait: where they are known to be left, or none was taken, it is not.
func TestMayHaveGivenUp(t *testing.T) {
	const ms = int64(1e6)
	for _, k := range []struct {
		name    string
		retries int // as events tell them; negative: none does
		rnrs    int
		traffic func(a *attached)
		may     bool
	}{
		{"the first time", -1, -1, func(*attached) {}, false},
		{"after a retransmission", -1, -1, func(a *attached) { a.write(500*ms, 101) }, true},
		{"after the last of its retransmissions", 1, 7, func(a *attached) { a.write(500*ms, 101) }, false}, // its queue pair is not in error: events would tell
		{"after an RNR NAK", -1, -1, func(a *attached) { a.rnr(101) }, true},
		{"after an RNR NAK, with any number of retries", 7, 7, func(a *attached) { a.rnr(101) }, false},
	} {
		t.Run(k.name, func(t *testing.T) {
			a := attach(t, 2)
			if k.retries >= 0 {
				a.ready(k.retries, k.rnrs)
			}
			a.write(10, 100)
			a.ack(20, 100, 1, 7)
			a.write(30, 101)
			k.traffic(a)
			list := a.s.Outstanding()
			if len(list) != 1 || list[0].What != cq.WaitsForResponse || list[0].Count != 1 || list[0].MayHaveGivenUp != k.may {
				t.Fatalf("outstanding %+v: want one request, which may be given up: %v", list, k.may)
			}
			a.ack(600*ms, 101, 2, 7)
			if list := a.s.Outstanding(); len(list) > 0 {
				t.Errorf("outstanding after the ACK: %+v", list)
			}
		})
	}
}

// TestReceiveOutstanding: a receive request whose message is acknowledged waits for its completion.
func TestReceiveOutstanding(t *testing.T) {
	a := attach(t, 1)
	a.connect()
	q := wqe.QP{Addr: packet.IPv4Addr([]byte{10, 0, 0, 1}), QPN: 5}
	for id := range uint64(3) {
		a.take(a.s.Event(&cq.Event{Time: 1e18 + 5, QP: q, Kind: cq.EvPostReceive, Receive: &wqe.ReceiveRequest{ID: 70 + id, Segments: []wqe.Segment{{Length: 4096}}}}))
	}
	send := func(now int64, psn packet.PSN) {
		a.frame(now, 2, 5, &packet.Packet{Opcode: packet.Op(packet.RC, packet.SendOnly), PSN: psn, AckReq: true, Payload: make([]byte, 64)})
	}
	completed := func(now int64, id uint64) {
		a.take(a.s.Event(&cq.Event{Time: 1e18 + now, QP: q, Kind: cq.EvCompletion, Completion: &cq.Completion{ID: id, Op: cq.DoneRecv, ByteLen: 64, QP: q}}))
	}
	send(10, 100)
	a.ack(20, 100, 1, 7)
	completed(30, 70)
	if list := a.s.Outstanding(); len(list) > 0 {
		t.Errorf("outstanding: %+v", list)
	}
	send(40, 101)
	a.ack(50, 101, 2, 7)
	if list := a.s.Outstanding(); len(list) != 1 || list[0].What != cq.WaitsForReceiveCompletion || list[0].Count != 1 || list[0].ID != 71 || list[0].QP.QPN != 5 || list[0].Since != 1e18+40 {
		t.Errorf("outstanding %+v: want receive request 71", list)
	}
	completed(60, 71)
	if list := a.s.Outstanding(); len(list) > 0 || len(a.told) > 0 {
		t.Errorf("outstanding at the end: %+v, told %v", list, a.told)
	}
}

// rnr is an RNR NAK of the device.
func (a *attached) rnr(psn packet.PSN) {
	a.t.Helper()
	a.frame(40, 1, 7, &packet.Packet{Opcode: packet.Op(packet.RC, packet.Acknowledge), PSN: psn, Syndrome: 0x20 | 1, MSN: 1})
}

// ready tells that the peer has brought its queue pair to RTS, with so many retries.
func (a *attached) ready(retries, rnrs int) {
	q := wqe.QP{Addr: packet.IPv4Addr([]byte{10, 0, 0, 2}), QPN: 7}
	for _, e := range []cq.Event{
		{Kind: cq.EvCreateQP, New: &qp.InitAttr{Type: qp.TypeRC}},
		{Kind: cq.EvModifyQP, State: qp.Init, Attr: &qp.Attr{Known: qp.KnowsPort | qp.KnowsPKey | qp.KnowsAccess, Port: 1, PKey: 0xFFFF}},
		{Kind: cq.EvModifyQP, State: qp.RTR, Attr: &qp.Attr{
			Known:   qp.KnowsDestQPN | qp.KnowsDestAddr | qp.KnowsRQPSN | qp.KnowsPMTU | qp.KnowsMaxDestRdAtomic | qp.KnowsMinRNRTimer,
			DestQPN: 5, DestAddr: packet.IPv4Addr([]byte{10, 0, 0, 1}), PMTU: 256,
		}},
		{Kind: cq.EvModifyQP, State: qp.RTS, Attr: &qp.Attr{
			Known: qp.KnowsSQPSN | qp.KnowsTimeout | qp.KnowsRetryCnt | qp.KnowsRNRRetry | qp.KnowsMaxRdAtomic, SQPSN: 100, Timeout: 14, RetryCnt: uint8(retries), RNRRetry: uint8(rnrs),
		}},
	} {
		e.Time, e.QP = 1e18, q
		a.take(a.s.Event(&e))
	}
}

// TestRetriesKnown: where connection management has told how many retries there are, they are counted.
func TestRetriesKnown(t *testing.T) {
	for _, k := range []struct {
		known          qp.Known
		retry          uint8
		restarts, rnrs int
		refused        bool
		may            bool
	}{
		{qp.KnowsRetryCnt, 2, 1, 0, false, false},
		{qp.KnowsRetryCnt, 2, 2, 0, false, true},
		{qp.KnowsRNRRetry, 2, 1, 0, false, true},
		{qp.KnowsRNRRetry, 3, 0, 3, true, false},
		{qp.KnowsRNRRetry, 3, 0, 4, true, true},
		{qp.KnowsRNRRetry, 7, 0, 8, true, false}, // without end
		{qp.KnowsRetryCnt, 7, 0, 1, true, true},
	} {
		c := qp.NewPair(packet.RC)
		a, r := &c.Ends[0], c.RQ(1)
		a.Attr, a.SQ.Restarts = &qp.Attr{Known: k.known, RetryCnt: k.retry, RNRRetry: k.retry}, uint16(k.restarts)
		if k.refused {
			r.ReceiveSeldom = new(qp.ReceiveSeldom)
			r.State, r.NAK.RNRs = qp.RNRNAKed, uint8(k.rnrs)
		}
		if got := mayHaveGivenUp(a, r); got != k.may {
			t.Errorf("%+v: %v", k, got)
		}
	}
}
