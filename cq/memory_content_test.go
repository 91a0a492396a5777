package cq_test

import (
	"hash/crc32"
	"testing"

	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier/message"
	"ibwitness/wqe"
)

// TestManyOutstanding: of WRITEs to one place of which thousands are outstanding while their consumer looks there, each is looked at a few times only, and the memory they leave is judged.
func TestManyOutstanding(t *testing.T) {
	const (
		pairs = 4
		each  = 2000
		va    = 0x10000
	)
	a, b := packet.IPv4Addr([]byte{10, 0, 0, 1}), packet.IPv4Addr([]byte{10, 0, 0, 2})
	var rec rule.Recorder
	queues := cq.New(&rec, func(packet.Addr) bool { return true })
	m, log := message.New(queues), queues.Source("log", b, true)
	now := int64(0)
	event := func(qpn uint32, e cq.Event) {
		now += 1000
		e.Time, e.QP = now, wqe.QP{Addr: b, QPN: qpn}
		queues.Event(log, &e)
	}
	pass := func(p packet.Packet) {
		now += 1000
		p.Time, p.Frame, p.Encap, p.Has = now, uint64(now), packet.RoCEv2IPv4, packet.HasBTH|p.Info().Headers
		m.Packet(&p)
	}
	data := make([]byte, 64)
	memory := func(wrote bool, sum uint32) {
		event(0, cq.Event{Kind: cq.EvMemory, Region: &wqe.Region{VA: va, Length: 64}, Wrote: wrote, Summed: true, Sum: sum})
	}
	event(0, cq.Event{Kind: cq.EvRegisterMR, Region: &wqe.Region{VA: va, Length: 4096, RKey: 7, LKey: 7, Access: wqe.LocalWrite | wqe.RemoteWrite}})
	memory(true, crc32.ChecksumIEEE(make([]byte, 64)))
	for n := range uint32(pairs) {
		event(n, cq.Event{Kind: cq.EvCreateQP, New: &qp.InitAttr{Type: qp.TypeRC}})
		event(n, cq.Event{Kind: cq.EvModifyQP, State: qp.Init, Attr: &qp.Attr{Known: qp.KnowsPort | qp.KnowsPKey | qp.KnowsAccess, Port: 1, PKey: 0xFFFF, Access: wqe.RemoteWrite}})
		event(n, cq.Event{Kind: cq.EvModifyQP, State: qp.RTR, Attr: &qp.Attr{
			Known:   qp.KnowsDestQPN | qp.KnowsDestAddr | qp.KnowsRQPSN | qp.KnowsPMTU | qp.KnowsMaxDestRdAtomic | qp.KnowsMinRNRTimer,
			DestQPN: 100 + n, DestAddr: a, PMTU: 256,
		}})
	}
	for i := range each * pairs {
		data[0] = byte(i)
		pass(packet.Packet{
			Src: a, Dst: b, DestQP: uint32(i % pairs), PSN: packet.PSN(i / pairs), Opcode: packet.Opcode(packet.WriteOnly), RKey: 7, VA: va, DMALen: 64, AckReq: true,
			Payload: data, PayloadLen: 64,
		})
	}
	for range each {
		memory(false, 0) // nothing says yet what it should see
	}
	for i := range each * pairs {
		pass(packet.Packet{
			Src: b, Dst: a, DestQP: 100 + uint32(i%pairs), PSN: packet.PSN(i / pairs), Opcode: packet.Opcode(packet.Acknowledge), Syndrome: 31, MSN: uint32(i/pairs + 1),
		})
	}
	last := crc32.ChecksumIEEE(data)
	now += 100e6
	pass(packet.Packet{
		Src: a, Dst: b, DestQP: 0, PSN: each, Opcode: packet.Opcode(packet.WriteOnly), RKey: 7, VA: va, DMALen: 64, AckReq: true, Payload: data, PayloadLen: 64,
	})
	pass(packet.Packet{Src: b, Dst: a, DestQP: 100, PSN: each, Opcode: packet.Opcode(packet.Acknowledge), Syndrome: 31, MSN: each + 1})
	now += 100e6
	memory(false, last)
	memory(false, last+1)
	now += 100e6
	log.End(true, false)
	queues.Finish(now)
	wrong := 0
	for i := range rec.Findings {
		if rec.Findings[i].Rule == rule.CPLMEM001 {
			wrong++
		}
	}
	if wrong != 1 {
		t.Errorf("%d of two looks at the memory are wrong, not the second: %+v", wrong, rec.Findings)
	}
	if n := log.Looked(); n > 10*each*pairs {
		t.Errorf("%d WRITEs: ranges were looked at %d times", each*pairs, n)
	}
}
