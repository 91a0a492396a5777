package rc

import (
	"math"
	"testing"
	"time"

	"ibwitness/packet"
	"ibwitness/verifier"
)

// at gives a packet a time.
func at(p *packet.Packet, d time.Duration) *packet.Packet {
	p.Time = int64(d)
	return p
}

// TestLatencies: the intervals are measured from where they are said to begin to where they end, once each, and not where the request was retransmitted.
func TestLatencies(t *testing.T) {
	const us = time.Microsecond
	for _, thorough := range []bool{false, true} {
		g := newGround()
		g.Thorough = thorough
		g.Latencies = new(verifier.Latencies)
		g.settle(g.c)
		expect := func(what string, i verifier.Interval, n uint64, sum time.Duration) {
			t.Helper()
			h := &g.Latencies[i]
			if h.Count() != n || math.Abs(float64(h.Sum)-float64(sum)) > 40*float64(n) {
				t.Errorf("thorough %v, %s: %d times, %v in all; not %d, %v", thorough, what, h.Count(), time.Duration(h.Sum), n, sum)
			}
		}
		answer := func(fn packet.Fn, psn packet.PSN, s packet.Syndrome, msn uint32, now time.Duration, payload int) {
			p := at(g.packet(fn, psn, payload), now)
			p.Syndrome, p.MSN = s, msn
			g.Packet(g.c, 1, p)
		}
		request := func(fn packet.Fn, psn packet.PSN, payload int, dma uint32, ack bool, now time.Duration) {
			p := at(g.packet(fn, psn, payload), now)
			p.DMALen, p.AckReq = dma, ack
			g.Packet(g.c, 0, p)
		}
		first := g.message(0).First
		n := g.q.Next.Diff(first)
		answer(packet.Acknowledge, first, packet.CreditInvalid, 1, 5*us, 0)
		expect("a SEND without AckReq", verifier.SendToAck, 0, 0)
		read, start := g.message(2), g.message(2).Asked
		now := time.Duration(start)*verifier.Tick + 7*us
		answer(packet.Acknowledge, g.message(1).First, packet.CreditInvalid, 2, now, 0)
		answer(packet.ReadRespFirst, read.First, packet.CreditInvalid, 3, now, groundMTU)
		answer(packet.ReadRespLast, read.Last, packet.CreditInvalid, 3, now+us, 8)
		expect("a READ", verifier.ReadToFirst, 1, 7*us)
		answer(packet.ReadRespOnly, g.message(3).First, packet.CreditInvalid, 4, now, 8)
		answer(packet.AtomicAck, g.message(4).First, packet.CreditInvalid, 5, now, 0)
		expect("a FetchAdd", verifier.AtomicToAck, 1, now-time.Duration(g.message(4).Asked)*verifier.Tick)
		answer(packet.Acknowledge, g.message(5).First, packet.CreditInvalid, 6, now, 0)

		next := first.Add(n)
		request(packet.WriteFirst, next, groundMTU, groundMTU+8, true, now)
		request(packet.WriteLast, next.Add(1), 8, 0, true, now+3*us)
		answer(packet.Acknowledge, next.Add(1), packet.CreditInvalid, 7, now+10*us, 0)
		answer(packet.Acknowledge, next.Add(1), packet.CreditInvalid, 7, now+90*us, 0)
		expect("a WRITE that is acknowledged twice", verifier.WriteToAck, 1, 7*us)

		next = next.Add(2)
		request(packet.SendOnly, next, 8, 0, true, now+100*us)
		answer(packet.Acknowledge, next, packet.Syndrome(0x21), 7, now+110*us, 0)
		expect("an RNR NAK", verifier.SendToAck, 0, 0)
		request(packet.SendOnly, next, 8, 0, true, now+150*us)
		expect("the wait after it", verifier.RNRToResend, 1, 40*us)
		answer(packet.Acknowledge, next, packet.CreditInvalid, 8, now+200*us, 0)
		expect("a retransmitted SEND", verifier.SendToAck, 0, 0)

		next = next.Add(1)
		request(packet.SendOnly, next, 8, 0, false, now+300*us)
		request(packet.SendOnly, next.Add(1), 8, 0, true, now+310*us)
		answer(packet.Acknowledge, next, packet.NAKSequence, 8, now+320*us, 0)
		request(packet.SendOnly, next.Add(2), 8, 0, true, now+330*us) // was on its way
		expect("another request", verifier.NAKToResend, 0, 0)
		request(packet.SendOnly, next, 8, 0, false, now+360*us)
		request(packet.SendOnly, next.Add(1), 8, 0, true, now+361*us)
		expect("what is retransmitted", verifier.NAKToResend, 1, 40*us)
		answer(packet.Acknowledge, next.Add(1), packet.CreditInvalid, 10, now+380*us, 0)
		expect("a retransmitted SEND", verifier.SendToAck, 0, 0)
		answer(packet.Acknowledge, next.Add(2), packet.CreditInvalid, 11, now+390*us, 0)
		expect("a SEND that did not", verifier.SendToAck, 1, 60*us)
	}
}
