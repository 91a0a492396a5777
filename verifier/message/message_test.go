package message_test

import (
	"slices"
	"testing"

	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier/message"
	"ibwitness/wqe"
)

// TestDepartsAtPacket: a message that departs from its work request in its first packet is told at that packet, once, and one that does not is not told.
func TestDepartsAtPacket(t *testing.T) {
	a, b := packet.IPv4Addr([]byte{10, 0, 0, 1}), packet.IPv4Addr([]byte{10, 0, 0, 2})
	for _, c := range []struct {
		name   string
		change func(*packet.Packet)
		want   []rule.ID // after the first packet
	}{
		{"clean", func(*packet.Packet) {}, nil},
		{"virtual address", func(p *packet.Packet) { p.VA += 8 }, []rule.ID{rule.RCLEN010}},
		{"R_Key and length", func(p *packet.Packet) { p.RKey, p.DMALen = 9, 700 }, []rule.ID{rule.RCLEN010, rule.RCLEN010}},
	} {
		var rec rule.Recorder
		queues := cq.New(&rec, func(packet.Addr) bool { return true })
		m, device := message.New(queues), queues.Device(a)
		event := func(e cq.Event) {
			e.QP = wqe.QP{Addr: a, QPN: 17}
			queues.Event(device, &e)
		}
		event(cq.Event{Time: 1, Kind: cq.EvCreateQP, New: &qp.InitAttr{Type: qp.TypeRC, SignalAll: true}})
		event(cq.Event{Time: 2, Kind: cq.EvModifyQP, State: qp.Init, Attr: &qp.Attr{Known: qp.KnowsPort | qp.KnowsPKey | qp.KnowsAccess, Port: 1, PKey: 0xFFFF}})
		event(cq.Event{Time: 3, Kind: cq.EvModifyQP, State: qp.RTR, Attr: &qp.Attr{
			Known:   qp.KnowsDestQPN | qp.KnowsDestAddr | qp.KnowsRQPSN | qp.KnowsPMTU | qp.KnowsMaxDestRdAtomic | qp.KnowsMinRNRTimer,
			DestQPN: 34, DestAddr: b, PMTU: 256,
		}})
		event(cq.Event{Time: 4, Kind: cq.EvModifyQP, State: qp.RTS, Attr: &qp.Attr{
			Known: qp.KnowsSQPSN | qp.KnowsTimeout | qp.KnowsRetryCnt | qp.KnowsRNRRetry | qp.KnowsMaxRdAtomic, SQPSN: 100, Timeout: 14, RetryCnt: 7, RNRRetry: 7,
		}})
		event(cq.Event{Time: 5, Kind: cq.EvPostSend, Send: &wqe.SendRequest{
			ID: 1, Op: wqe.OpWrite, RemoteVA: 0x1000, RKey: 7, Segments: []wqe.Segment{{Length: 768}},
		}})
		told := func() (list []rule.ID) {
			for i := range rec.Findings {
				list = append(list, rec.Findings[i].Rule)
			}
			return list
		}
		for i, op := range []packet.Opcode{packet.Opcode(packet.WriteFirst), packet.Opcode(packet.WriteMiddle), packet.Opcode(packet.WriteLast)} {
			p := packet.Packet{
				Time: 10 + int64(i), Frame: 1 + uint64(i), Encap: packet.RoCEv2IPv4, Src: a, Dst: b, DestQP: 34, PSN: 100 + packet.PSN(i), Opcode: op,
				VA: 0x1000, RKey: 7, DMALen: 768, Payload: make([]byte, 256), PayloadLen: 256,
			}
			p.Has = packet.HasBTH | p.Info().Headers
			if i == 0 {
				c.change(&p)
			}
			m.Packet(&p)
			if got := told(); !slices.Equal(got, c.want) {
				t.Errorf("%s: after %v: %v, want %v", c.name, op, got, c.want)
			}
		}
		for i := range rec.Findings {
			if rec.Findings[i].Frame != 1 {
				t.Errorf("%s: frame %d is accused", c.name, rec.Findings[i].Frame)
			}
		}
	}
}
