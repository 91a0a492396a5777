package message_test

import (
	"testing"

	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier/message"
	"ibwitness/wqe"
)

// TestCompletesOnACKAhead: with a tap near the responder only, a request completes on an ACK that names a later one which the tap has not seen. The log has a clock of its own, and is judged at
// the end: neither is the completion before the ACK that the tap has seen in its place, nor does that show the clock.
func TestCompletesOnACKAhead(t *testing.T) {
	a, b := packet.IPv4Addr([]byte{10, 0, 0, 1}), packet.IPv4Addr([]byte{10, 0, 0, 2})
	var rec rule.Recorder
	queues := cq.New(&rec, func(x packet.Addr) bool { return x == b })
	m, log := message.New(queues), queues.Source("log", a, false)
	const us = int64(1000)
	event := func(at int64, e cq.Event) {
		e.Time, e.QP = at*us, wqe.QP{Addr: a, QPN: 17}
		queues.Event(log, &e)
	}
	post := func(at int64, id uint64) {
		event(at, cq.Event{Kind: cq.EvPostSend, Send: &wqe.SendRequest{ID: id, Op: wqe.OpSend, Segments: []wqe.Segment{{Length: 64}}}})
	}
	done := func(at int64, id uint64) {
		event(at, cq.Event{Kind: cq.EvCompletion, Completion: &cq.Completion{ID: id, QP: wqe.QP{Addr: a, QPN: 17}, Op: cq.DoneSend}})
	}
	frame := uint64(0)
	pass := func(at int64, p packet.Packet) {
		frame++
		p.Time, p.Frame, p.Encap, p.Has = at*us, frame, packet.RoCEv2IPv4, packet.HasBTH|p.Info().Headers
		m.Packet(&p)
	}
	send := func(at int64, psn packet.PSN) {
		pass(at, packet.Packet{Src: a, Dst: b, DestQP: 34, PSN: psn, Opcode: packet.Opcode(packet.SendOnly), Payload: make([]byte, 64), PayloadLen: 64})
	}
	ack := func(at int64, psn packet.PSN) {
		pass(at, packet.Packet{Src: b, Dst: a, DestQP: 17, PSN: psn, Opcode: packet.Opcode(packet.Acknowledge), Syndrome: 31})
	}
	event(1, cq.Event{Kind: cq.EvCreateQP, New: &qp.InitAttr{Type: qp.TypeRC, SignalAll: true}})
	event(2, cq.Event{Kind: cq.EvModifyQP, State: qp.Init, Attr: &qp.Attr{Known: qp.KnowsPort | qp.KnowsPKey | qp.KnowsAccess, Port: 1, PKey: 0xFFFF}})
	event(3, cq.Event{Kind: cq.EvModifyQP, State: qp.RTR, Attr: &qp.Attr{
		Known:   qp.KnowsDestQPN | qp.KnowsDestAddr | qp.KnowsRQPSN | qp.KnowsPMTU | qp.KnowsMaxDestRdAtomic | qp.KnowsMinRNRTimer,
		DestQPN: 34, DestAddr: b, RQPSN: 500, PMTU: 256,
	}})
	event(4, cq.Event{Kind: cq.EvModifyQP, State: qp.RTS, Attr: &qp.Attr{
		Known: qp.KnowsSQPSN | qp.KnowsTimeout | qp.KnowsRetryCnt | qp.KnowsRNRRetry | qp.KnowsMaxRdAtomic, SQPSN: 100, Timeout: 14, RetryCnt: 7, RNRRetry: 7,
	}})
	post(1000, 1)
	post(1000, 2)
	send(1000, 100)
	ack(1100, 101)
	done(1120, 1)
	post(1130, 3)
	send(1200, 101)
	send(1300, 102)
	ack(3000, 102)
	done(3010, 2)
	done(3020, 3)
	queues.Finish(3000 * us)
	for i := range rec.Findings {
		t.Errorf("%+v", rec.Findings[i])
	}
	if least, _, known := log.Clock(); !known || least < -1000*us {
		t.Errorf("the clock of the log is %d ns ahead of the packets at least, known: %v", least, known)
	}
}
