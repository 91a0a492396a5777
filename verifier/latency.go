package verifier

import (
	"math"
	"math/bits"
	"time"

	"ibwitness/packet"
	"ibwitness/wqe"
)

// Interval is a kind of time that is measured, between two packets of a connection as the tap saw them.
type Interval uint8

// The intervals. One from a request begins with the packet that asks for the answer, where that ends a message and was not retransmitted: of one that
// was, it is not known which copy is answered.
const (
	SendToAck   Interval = iota // from the last packet of a SEND, with AckReq, to the Acknowledge that names its PSN
	WriteToAck                  // the same of an RDMA WRITE
	ReadToFirst                 // from an RDMA READ request to its first response
	AtomicToAck                 // from a CmpSwap or FetchAdd to its ATOMIC Acknowledge
	NAKToResend                 // from a NAK for a PSN sequence error to the request that is retransmitted for it, at its PSN or before
	RNRToResend                 // the same from an RNR NAK, so with the wait that it asks for
	NumIntervals
)

func (i Interval) String() string {
	return [...]string{"SEND to ACK", "WRITE to ACK", "READ to first response", "atomic to ACK", "sequence NAK to retransmission", "RNR NAK to retransmission"}[i]
}

// Latencies is how long the intervals took.
type Latencies [NumIntervals]Histogram

// Histogram counts times in buckets each of which ends at 2^⅛ times the end of the one before, the ends of Prometheus' native histograms of schema 3.
type Histogram struct {
	Sum     uint64 // nanoseconds
	Buckets [NumBuckets]uint64
}

// The buckets of a Histogram.
const (
	Schema     = 3 // 2^Schema buckets to a factor of two
	NumBuckets = 37 << Schema
	// FirstIndex is the index of the first bucket in a native histogram: that of seconds up to 2^(FirstIndex/8).
	FirstIndex = -unitBits << Schema
)

const (
	Tick       = 16 // nanoseconds: what times are measured in
	longest    = 1 << 31
	unitBits   = 30 // the unit of buckets is 2^-30 s
	scaledBits = 28
	scaled     = Tick * (1 << unitBits) * (1 << scaledBits) / 1_000_000_000 // of ticks to units
)

// ends are 2^((i+1)/8), with 63 bits after the binary point; the last one is never reached.
var ends = func() (t [1 << Schema]uint64) {
	for i := range t[:1<<Schema-1] {
		t[i] = uint64(math.Exp2(float64(i+1)/(1<<Schema)) * (1 << 63))
	}
	t[1<<Schema-1] = math.MaxUint64
	return t
}()

// bucket is where so many ticks are counted, at most longest. A processor cannot guess it, so it does not branch.
func bucket(ticks uint32) int {
	x := uint64(ticks)*scaled>>scaledBits | 1
	octave := bits.Len64(x) - 1
	m := x << (63 - octave&63)
	k := int(m >> (63 - Schema) & (1<<Schema - 1)) // of eight equal parts of the octave, in each of which one bucket ends, but in the last
	return octave<<Schema + k + 1 + int(packet.Bit(m > ends[k]))
}

// Observe counts a time.
func (h *Histogram) Observe(d time.Duration) {
	if d >= 0 {
		h.observe(uint32(min(d/Tick, longest)))
	}
}

func (h *Histogram) observe(ticks uint32) {
	h.Sum += uint64(ticks) * Tick
	h.Buckets[bucket(ticks)]++
}

// Count is how many times were counted.
func (h *Histogram) Count() (n uint64) {
	for _, k := range h.Buckets {
		n += k
	}
	return n
}

// End is up to which time bucket i counts.
func End(i int) time.Duration {
	return time.Duration(math.Exp2(float64(i+FirstIndex)/(1<<Schema)) * 1e9)
}

// Above is how many of the times that were counted are longer than one, as far as the buckets tell.
func (h *Histogram) Above(d time.Duration) (n uint64) {
	for _, k := range h.Buckets[min(bucket(uint32(min(d/Tick, longest)))+1, NumBuckets):] {
		n += k
	}
	return n
}

// Quantile returns the time that a share of those that were counted did not exceed, as exactly as the buckets tell; 0 where there is none.
func (h *Histogram) Quantile(share float64) time.Duration {
	rank := share * float64(h.Count())
	sum := 0.0
	for i, n := range h.Buckets {
		if sum += float64(n); n > 0 && sum >= rank {
			part := 1 - (sum-rank)/float64(n)
			return time.Duration(math.Exp2((float64(i+FirstIndex)-1+part)/(1<<Schema)) * 1e9)
		}
	}
	return 0
}

// Add adds what others have counted.
func (l *Latencies) Add(o *Latencies) {
	for i := range l {
		l[i].Add(&o[i])
	}
}

// Add adds what another has counted.
func (h *Histogram) Add(o *Histogram) {
	h.Sum += o.Sum
	for i, n := range o.Buckets {
		h.Buckets[i] += n
	}
}

// Stamp is a time as a message keeps it: in ticks, and never 0.
func Stamp(t int64) uint32 { return uint32(uint64(t)/Tick) | 1 }

// intervals are what the answers to operations end.
var intervals = [8]Interval{wqe.Send: SendToAck, wqe.Write: WriteToAck, wqe.Read: ReadToFirst, wqe.CmpSwap: AtomicToAck, wqe.FetchAdd: AtomicToAck}

// Answered measures how long message w waited for p, which answers it.
func (l *Latencies) Answered(w *wqe.SendWQE, p *packet.Packet) {
	last := w.Last ^ (w.Last^w.First)&-packet.PSN(packet.Bit(w.Op == wqe.Read))
	if took := Stamp(p.Time) - w.Asked; p.PSN == last && w.Asked != 0 && took < longest {
		l[intervals[w.Op&7]].observe(took)
	}
}
