package message_test

import (
	"hash/crc32"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier/message"
	"ibwitness/wqe"
)

// connected is an agent that was told of a requester, and of its responder where that is given, with what makes messages for it.
type connected struct {
	rec    rule.Recorder
	queues *cq.Agent
	wire   *message.Verifier
	device *cq.Source
}

// the ends of connected.
var requester, responder = packet.IPv4Addr([]byte{10, 0, 0, 1}), packet.IPv4Addr([]byte{10, 0, 0, 2})

func newConnected(both bool) *connected {
	c := &connected{}
	c.queues = cq.New(&c.rec, func(packet.Addr) bool { return true })
	c.wire, c.device = message.New(c.queues), c.queues.Device(requester)
	c.creates(c.device, wqe.QP{Addr: requester, QPN: 17}, wqe.QP{Addr: responder, QPN: 34})
	if both {
		d := c.queues.Device(responder)
		c.queues.Event(d, &cq.Event{Time: 1, Kind: cq.EvMemory, QP: wqe.QP{Addr: responder}, Summed: true, Wrote: true, Region: &wqe.Region{VA: 0x1000, Length: 8}})
		c.creates(d, wqe.QP{Addr: responder, QPN: 34}, wqe.QP{Addr: requester, QPN: 17})
	}
	return c
}

// creates tells of a queue pair that is brought to RTS.
func (c *connected) creates(s *cq.Source, q, peer wqe.QP) {
	for i, e := range []cq.Event{
		{Kind: cq.EvCreateQP, New: &qp.InitAttr{Type: qp.TypeRC, SignalAll: true}},
		{Kind: cq.EvModifyQP, State: qp.Init, Attr: &qp.Attr{Known: qp.KnowsPort | qp.KnowsPKey | qp.KnowsAccess, Port: 1, PKey: 0xFFFF, Access: wqe.RemoteWrite}},
		{Kind: cq.EvModifyQP, State: qp.RTR, Attr: &qp.Attr{
			Known:   qp.KnowsDestQPN | qp.KnowsDestAddr | qp.KnowsRQPSN | qp.KnowsPMTU | qp.KnowsMaxDestRdAtomic | qp.KnowsMinRNRTimer,
			DestQPN: peer.QPN, DestAddr: peer.Addr, PMTU: 1024, RQPSN: 0xFFFFF8,
		}},
		{Kind: cq.EvModifyQP, State: qp.RTS, Attr: &qp.Attr{
			Known: qp.KnowsSQPSN | qp.KnowsTimeout | qp.KnowsRetryCnt | qp.KnowsRNRRetry | qp.KnowsMaxRdAtomic, SQPSN: 0xFFFFF8, Timeout: 14, RetryCnt: 7, RNRRetry: 7,
		}},
	} {
		e.Time, e.QP = 2+int64(i), q
		c.queues.Event(s, &e)
	}
}

// posts tells of a WRITE or SEND of the requester.
func (c *connected) posts(now int64, id uint64, op wqe.SendOp, data []byte) {
	c.queues.Event(c.device, &cq.Event{
		Time: now, Kind: cq.EvPostSend, QP: wqe.QP{Addr: requester, QPN: 17}, Summed: true, Sum: crc32.ChecksumIEEE(data), Data: data[:min(len(data), 1500)],
		Send: &wqe.SendRequest{ID: id, Op: op, RemoteVA: 0x1000, RKey: 7, Segments: []wqe.Segment{{Length: uint32(len(data))}}},
	})
}

// TestWithin: packets within messages that are not taken one step after the other show what they do when they are, whatever comes between them and whatever is wrong with them.
func TestWithin(t *testing.T) {
	ops := []packet.Fn{packet.WriteMiddle, packet.SendMiddle, packet.WriteFirst, packet.SendLast, packet.Acknowledge}
	fast := uint64(0)
	rapid.Check(t, func(t *rapid.T) {
		both := rapid.Bool().Draw(t, "both")
		one, all := newConnected(both), newConnected(both)
		now, psn, frame := int64(100), packet.PSN(0xFFFFF8), uint64(0)
		send := func(p packet.Packet) {
			frame++
			now++
			p.Encap, p.Src, p.Dst, p.DestQP, p.PKey, p.HopLmt, p.VA, p.RKey = packet.RoCEv2IPv4, requester, responder, 34, p.PKey^0xFFFF, 64, 0x1000, 7
			p.Complete()
			b := p.Append(nil)
			if rapid.IntRange(0, 30).Draw(t, "damage") == 0 {
				b[len(b)-1] ^= 1
			}
			var x, y packet.Packet
			if !packet.Glance(&x, b) && !packet.DecodeIP(&x, b, len(b)) || !packet.DecodeIP(&y, b, len(b)) {
				t.Fatal("not decoded")
			}
			x.CheckICRC()
			y.CheckICRC()
			y.Usual = false // so that it takes every step
			x.Time, x.Frame, y.Time, y.Frame = now, frame, now, frame
			one.wire.Packet(&x)
			all.wire.Packet(&y)
		}
		for id := range uint64(rapid.IntRange(1, 4).Draw(t, "messages")) {
			op, first := wqe.OpWrite, packet.WriteFirst
			if rapid.Bool().Draw(t, "send") {
				op, first = wqe.OpSend, packet.SendFirst
			}
			n := rapid.IntRange(2, 7).Draw(t, "packets")
			data := make([]byte, n*1024)
			for i := range data {
				data[i] = byte(i>>8 + i*int(id+3))
			}
			one.posts(now, id, op, data)
			all.posts(now, id, op, data)
			for i := 0; i < n; i++ {
				f := first + 1
				switch i {
				case 0:
					f = first
				case n - 1:
					f = first + 2
				}
				p := packet.Packet{Opcode: packet.Op(packet.RC, f), PSN: psn.Add(i), DMALen: uint32(len(data)), Payload: data[i*1024 : (i+1)*1024]}
				switch rapid.IntRange(0, 25).Draw(t, "fault") {
				case 0:
					continue
				case 1:
					p.SE = true
				case 2:
					p.PKey = 1
				case 3:
					p.Payload = append(make([]byte, 100), p.Payload[100:]...)
				case 4:
					p.Opcode = packet.Op(packet.RC, rapid.SampledFrom(ops).Draw(t, "opcode"))
				case 5:
					send(p)
				case 6:
					i -= min(i, 2)
				case 7:
					p.Payload = p.Payload[:rapid.IntRange(0, 600).Draw(t, "length")]
				}
				send(p)
			}
			psn = psn.Add(n)
		}
		one.queues.Finish(now)
		all.queues.Finish(now)
		if diff := cmp.Diff(all.rec.Findings, one.rec.Findings, cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
			t.Fatalf("-step by step +within:\n%s", diff)
		}
		if diff := cmp.Diff(all.rec.Cover, one.rec.Cover); diff != "" {
			t.Fatalf("-step by step +within:\n%s", diff)
		}
		fast += all.wire.Left - one.wire.Left
	})
	if fast == 0 {
		t.Error("no packet was taken as one within a message")
	}
}
