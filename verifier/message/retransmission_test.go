package message_test

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

// TestMiddleRetransmitted: a receiver is held to what its message brought, unless a retransmission from the middle of it had other data, or may have had: it is compared with
// the newest packets.
func TestMiddleRetransmitted(t *testing.T) {
	const packets, payload = 400, 256
	a, b := packet.IPv4Addr([]byte{10, 0, 0, 1}), packet.IPv4Addr([]byte{10, 0, 0, 2})
	for _, c := range []struct {
		name        string
		from        int  // the packet that the retransmission begins with
		other       bool // its data is
		remembered  bool // memory holds the original data
		wantAccused bool
	}{
		{name: "the same", from: 390, remembered: true},
		{name: "the same, memory has something else", from: 390, wantAccused: true},
		{name: "other data", from: 390, other: true},
		{name: "other data, memory has the original", from: 390, other: true, remembered: true},
		{name: "other data, long ago", from: 10, other: true},
		{name: "other data from the beginning on", from: 0, other: true},
		{name: "the same from the beginning on, memory has something else", from: 0, wantAccused: true},
	} {
		var rec rule.Recorder
		queues := cq.New(&rec, func(packet.Addr) bool { return true })
		m, device := message.New(queues), queues.Device(b)
		event := func(e cq.Event) {
			e.QP = wqe.QP{Addr: b, QPN: 34}
			queues.Event(device, &e)
		}
		event(cq.Event{Time: 1, Kind: cq.EvCreateQP, New: &qp.InitAttr{Type: qp.TypeRC, SignalAll: true}})
		event(cq.Event{Time: 2, Kind: cq.EvModifyQP, State: qp.Init, Attr: &qp.Attr{Known: qp.KnowsPort | qp.KnowsPKey | qp.KnowsAccess, Port: 1, PKey: 0xFFFF}})
		event(cq.Event{Time: 3, Kind: cq.EvModifyQP, State: qp.RTR, Attr: &qp.Attr{
			Known:   qp.KnowsDestQPN | qp.KnowsDestAddr | qp.KnowsRQPSN | qp.KnowsPMTU | qp.KnowsMaxDestRdAtomic | qp.KnowsMinRNRTimer,
			DestQPN: 17, DestAddr: a, RQPSN: 100, PMTU: payload,
		}})
		event(cq.Event{Time: 4, Kind: cq.EvPostReceive, Receive: &wqe.ReceiveRequest{ID: 1, Segments: []wqe.Segment{{Length: packets * payload}}}})
		now := int64(10)
		send := func(i int, data byte) {
			op := packet.SendMiddle
			switch i {
			case 0:
				op = packet.SendFirst
			case packets - 1:
				op = packet.SendLast
			}
			now++
			p := packet.Packet{
				Time: now, Frame: uint64(now), Encap: packet.RoCEv2IPv4, Src: a, Dst: b, DestQP: 34, PSN: 100 + packet.PSN(i), Opcode: packet.Opcode(op),
				Payload: make([]byte, payload), PayloadLen: payload,
			}
			p.Payload[0] = data
			p.Has = packet.HasBTH | p.Info().Headers
			m.Packet(&p)
		}
		memory := make([]byte, packets*payload)
		for i := range packets {
			send(i, 1)
			memory[i*payload] = 1
		}
		for i := c.from; i < packets; i++ {
			data := byte(1)
			if c.other && i == c.from {
				data = 2
			}
			send(i, data)
		}
		if !c.remembered {
			memory[c.from*payload] = 2
		}
		event(cq.Event{
			Time: now + 1, Kind: cq.EvCompletion, Summed: true, Sum: crc32.ChecksumIEEE(memory),
			Completion: &cq.Completion{ID: 1, QP: wqe.QP{Addr: b, QPN: 34}, Op: cq.DoneRecv, ByteLen: packets * payload},
		})
		queues.Finish(now)
		accused := false
		for i := range rec.Findings {
			accused = accused || rec.Findings[i].Rule == rule.CPLMEM001
		}
		if accused != c.wantAccused {
			t.Errorf("%s: CPL-MEM-001 is reported: %v, want %v; %v", c.name, accused, c.wantAccused, rec.Findings)
		}
	}
}
