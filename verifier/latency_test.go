package verifier

import (
	"math"
	"testing"
	"time"

	"ibwitness/packet"
)

// TestBuckets: a time is counted in the bucket that it belongs to, and of many times the quantiles are near.
func TestBuckets(t *testing.T) {
	for i := range 4000 {
		ticks := uint32(math.Exp2(float64(i) / 4000 * 31))
		k, seconds := bucket(ticks), float64(ticks)*tick/1e9
		if k < 0 || k >= NumBuckets {
			t.Fatalf("%d ticks: bucket %d", ticks, k)
		}
		exact := math.Log2(seconds)*(1<<Schema) - FirstIndex // one is at most its own bucket, and more than the one before
		if float64(k) < exact-0.2 || float64(k)-1 > exact+0.2 {
			t.Errorf("%d ticks are in bucket %d, not %v", ticks, k, exact)
		}
	}
	if a, b := bucket(0), bucket(longest); a < 0 || b >= NumBuckets {
		t.Error(a, b)
	}
	if End(-FirstIndex) != time.Second {
		t.Error(End(-FirstIndex))
	}
	var h Histogram
	if h.Quantile(0.5) != 0 {
		t.Error("a quantile of nothing")
	}
	for i := range 1000 {
		h.Observe(time.Duration(i+1) * time.Microsecond)
	}
	h.Observe(-1)
	var none Histogram
	if none.Observe(0); none.Count() != 1 {
		t.Error("no time at all is not counted")
	}
	for share, want := range map[float64]time.Duration{0.5: 500 * time.Microsecond, 0.99: 990 * time.Microsecond, 1: time.Millisecond, 0.001: time.Microsecond} {
		if got := h.Quantile(share); got < want*91/100 || got > want*110/100 {
			t.Errorf("quantile %v: %v, not %v", share, got, want)
		}
	}
	if h.Count() != 1000 || h.Sum < 500_000_000 || h.Sum > 500_500_000 {
		t.Error(h.Count(), h.Sum)
	}
}

// TestAddLatencies: what was counted apart is what was counted together.
func TestAddLatencies(t *testing.T) {
	var apart [2]Latencies
	var together Latencies
	for i := range 100 {
		d := time.Duration(i*i) * time.Microsecond
		apart[i%2][i%int(NumIntervals)].Observe(d)
		together[i%int(NumIntervals)].Observe(d)
	}
	if apart[0].Add(&apart[1]); apart[0] != together {
		t.Error(apart[0], together)
	}
}

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
		g.Latencies = new(Latencies)
		g.settle(g.c)
		expect := func(what string, i Interval, n uint64, sum time.Duration) {
			t.Helper()
			h := &g.Latencies[i]
			if h.Count() != n || math.Abs(float64(h.Sum)-float64(sum)) > 40*float64(n) {
				t.Errorf("thorough %v, %s: %d times, %v in all; not %d, %v", thorough, what, h.Count(), time.Duration(h.Sum), n, sum)
			}
		}
		answer := func(fn packet.Fn, psn packet.PSN, s packet.Syndrome, msn uint32, now time.Duration, payload int) {
			p := at(g.packet(fn, psn, payload), now)
			p.Syndrome, p.MSN = s, msn
			g.RC(g.c, 1, p)
		}
		request := func(fn packet.Fn, psn packet.PSN, payload int, dma uint32, ack bool, now time.Duration) {
			p := at(g.packet(fn, psn, payload), now)
			p.DMALen, p.AckReq = dma, ack
			g.RC(g.c, 0, p)
		}
		first := g.message(0).First
		n := g.q.Next.Diff(first)
		answer(packet.Acknowledge, first, packet.CreditInvalid, 1, 5*us, 0)
		expect("a SEND without AckReq", SendToAck, 0, 0)
		read, start := g.message(2), g.message(2).Asked
		now := time.Duration(start)*tick + 7*us
		answer(packet.Acknowledge, g.message(1).First, packet.CreditInvalid, 2, now, 0)
		answer(packet.ReadRespFirst, read.First, packet.CreditInvalid, 3, now, groundMTU)
		answer(packet.ReadRespLast, read.Last, packet.CreditInvalid, 3, now+us, 8)
		expect("a READ", ReadToFirst, 1, 7*us)
		answer(packet.ReadRespOnly, g.message(3).First, packet.CreditInvalid, 4, now, 8)
		answer(packet.AtomicAck, g.message(4).First, packet.CreditInvalid, 5, now, 0)
		expect("a FetchAdd", AtomicToAck, 1, now-time.Duration(g.message(4).Asked)*tick)
		answer(packet.Acknowledge, g.message(5).First, packet.CreditInvalid, 6, now, 0)

		next := first.Add(n)
		request(packet.WriteFirst, next, groundMTU, groundMTU+8, true, now)
		request(packet.WriteLast, next.Add(1), 8, 0, true, now+3*us)
		answer(packet.Acknowledge, next.Add(1), packet.CreditInvalid, 7, now+10*us, 0)
		answer(packet.Acknowledge, next.Add(1), packet.CreditInvalid, 7, now+90*us, 0)
		expect("a WRITE that is acknowledged twice", WriteToAck, 1, 7*us)

		next = next.Add(2)
		request(packet.SendOnly, next, 8, 0, true, now+100*us)
		answer(packet.Acknowledge, next, packet.Syndrome(0x21), 7, now+110*us, 0)
		expect("an RNR NAK", SendToAck, 0, 0)
		request(packet.SendOnly, next, 8, 0, true, now+150*us)
		expect("the wait after it", RNRToResend, 1, 40*us)
		answer(packet.Acknowledge, next, packet.CreditInvalid, 8, now+200*us, 0)
		expect("a retransmitted SEND", SendToAck, 0, 0)

		next = next.Add(1)
		request(packet.SendOnly, next, 8, 0, false, now+300*us)
		request(packet.SendOnly, next.Add(1), 8, 0, true, now+310*us)
		answer(packet.Acknowledge, next, packet.NAKSequence, 8, now+320*us, 0)
		request(packet.SendOnly, next.Add(2), 8, 0, true, now+330*us) // was on its way
		expect("another request", NAKToResend, 0, 0)
		request(packet.SendOnly, next, 8, 0, false, now+360*us)
		request(packet.SendOnly, next.Add(1), 8, 0, true, now+361*us)
		expect("what is retransmitted", NAKToResend, 1, 40*us)
		answer(packet.Acknowledge, next.Add(1), packet.CreditInvalid, 10, now+380*us, 0)
		expect("a retransmitted SEND", SendToAck, 0, 0)
		answer(packet.Acknowledge, next.Add(2), packet.CreditInvalid, 11, now+390*us, 0)
		expect("a SEND that did not", SendToAck, 1, 60*us)
	}
}
