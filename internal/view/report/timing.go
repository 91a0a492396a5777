package report

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/timing"
	"ibwitness/verifier"
	"ibwitness/wqe"
)

// jsonTiming is what the messages of an end took.
type jsonTiming struct {
	Operations []jsonTimed `json:"operations"`
	Marked     uint64      `json:"marked,omitempty"` // packets that the network had marked (ECN CE, FECN)
	Reads      int         `json:"reads,omitempty"`  // most READs and atomics that waited at a time
	VL         *uint8      `json:"vl,omitempty"`     // of InfiniBand
	Gaps       *jsonTimes  `json:"gaps,omitempty"`   // from the end of a message to the beginning of the next
	Series     *jsonSeries `json:"series,omitempty"`
}

// jsonTimed is what the messages of one operation took.
type jsonTimed struct {
	Operation     string     `json:"operation"`
	Messages      uint64     `json:"messages"`
	Bytes         uint64     `json:"bytes"`
	Retransmitted uint64     `json:"retransmitted,omitempty"`
	Incomplete    uint64     `json:"incomplete,omitempty"` // nothing completed them: no answer, or a NAK that ends the connection
	Untimed       uint64     `json:"untimed,omitempty"`    // how long they took is not known
	Least         uint32     `json:"least"`                // bytes of a message
	Most          uint32     `json:"most"`
	Sizes         []jsonSize `json:"sizes"`
	Latency       *jsonTimes `json:"latency,omitempty"`
}

type jsonSize struct {
	UpTo     uint64 `json:"up_to"` // bytes, and more than a half of that
	Messages uint32 `json:"messages"`
}

// jsonTimes are quantiles, in seconds.
type jsonTimes struct {
	Count uint64  `json:"count"`
	Mean  float64 `json:"mean"`
	P50   float64 `json:"p50"`
	P90   float64 `json:"p90"`
	P99   float64 `json:"p99"`
	Most  float64 `json:"most"`
}

// jsonSeries is what an end sent over time.
type jsonSeries struct {
	Start         string    `json:"start"`
	Slot          float64   `json:"slot"`                    // seconds
	Bytes         []uint64  `json:"bytes"`                   // payload, without what was retransmitted
	Retransmitted []uint64  `json:"retransmitted,omitempty"` // payload
	Slowest       []float64 `json:"slowest,omitempty"`       // seconds that a message took which was answered then
	Mean          []float64 `json:"mean,omitempty"`          // seconds that one of them took
	Size          []float64 `json:"size,omitempty"`          // bytes of one of them, in the mean
	Gap           []float64 `json:"gap,omitempty"`           // seconds between two messages, at most
	Messages      []uint32  `json:"messages,omitempty"`      // that were answered then
	Marked        []uint32  `json:"marked,omitempty"`        // packets
	NAKs          []uint32  `json:"naks,omitempty"`          // of all codes but RNR
	RNRNAKs       []uint32  `json:"rnr_naks,omitempty"`
	Reads         []uint32  `json:"reads,omitempty"` // most that waited at a time
}

func timesOf(h *verifier.Histogram) *jsonTimes {
	if h == nil {
		return nil
	}
	return timesBy(h, h.Quantile)
}

// timesBy is what a histogram has counted, with the quantiles of those who know more than it.
func timesBy(h *verifier.Histogram, quantile func(float64) time.Duration) *jsonTimes {
	n := h.Count()
	if n == 0 {
		return nil
	}
	q := func(share float64) float64 { return quantile(share).Seconds() }
	return &jsonTimes{n, float64(h.Sum) / float64(n) / 1e9, q(shares[0]), q(shares[1]), q(shares[2]), q(shares[3])}
}

// timingOf is what the messages of an end took; nil: that was not measured, or it sent nothing.
func timingOf(c *agent.Connection, end int) *jsonTiming {
	if c.Timing == nil {
		return nil
	}
	e := &c.Timing.Ends[end]
	out := &jsonTiming{Operations: []jsonTimed{}, Gaps: timesOf(e.Gaps), Series: seriesOf(&e.Series)}
	out.Marked, out.Reads = e.Marked, e.Reads
	if c.Encap == packet.Native && e.Packets > 0 {
		out.VL = &e.VL
	}
	for i, o := range e.Ops {
		if o == nil {
			continue
		}
		k := jsonTimed{
			Operation: wqe.Op(i).String(), Messages: o.Count, Bytes: o.Bytes, Retransmitted: o.Retransmitted, Least: o.Sizes.Least, Most: o.Sizes.Most,
			Sizes: []jsonSize{}, Latency: timesBy(&o.Latency, o.Quantile),
		}
		if c.Service.Reliable() {
			k.Incomplete, k.Untimed = o.Incomplete, o.Untimed
		}
		for s, n := range o.Sizes.Counts {
			if n > 0 {
				k.Sizes = append(k.Sizes, jsonSize{timing.UpTo(s), n})
			}
		}
		out.Operations = append(out.Operations, k)
	}
	if len(out.Operations) == 0 && out.Series == nil {
		return nil
	}
	return out
}

func seriesOf(s *timing.Series) *jsonSeries {
	if s.Width == 0 {
		return nil
	}
	out := &jsonSeries{Start: stamp(s.Start), Slot: time.Duration(s.Width).Seconds(), Bytes: part(s, func(k *timing.Slot) uint64 { return k.Bytes })}
	out.Retransmitted = some(part(s, func(k *timing.Slot) uint64 { return k.Retransmitted }))
	out.Slowest = some(part(s, func(k *timing.Slot) float64 { return k.Slowest.Seconds() }))
	mean := func(sum float64, k *timing.Slot) float64 { return sum / float64(max(k.Messages, 1)) }
	out.Mean = some(part(s, func(k *timing.Slot) float64 { return mean(k.Took.Seconds(), k) }))
	out.Size = some(part(s, func(k *timing.Slot) float64 { return mean(float64(k.Length), k) }))
	out.Gap = some(part(s, func(k *timing.Slot) float64 { return k.Gap.Seconds() }))
	out.Messages = some(part(s, func(k *timing.Slot) uint32 { return k.Messages }))
	out.Marked = some(part(s, func(k *timing.Slot) uint32 { return k.Marked }))
	out.NAKs = some(part(s, func(k *timing.Slot) uint32 { return k.NAKs }))
	out.RNRNAKs = some(part(s, func(k *timing.Slot) uint32 { return k.RNRNAKs }))
	out.Reads = some(part(s, func(k *timing.Slot) uint32 { return k.Reads }))
	return out
}

// part is one number of each slot.
func part[T any](s *timing.Series, of func(*timing.Slot) T) []T {
	list := make([]T, len(s.Slots))
	for i := range s.Slots {
		list[i] = of(&s.Slots[i])
	}
	return list
}

// some is a list, or nil where all of it is zero.
func some[T comparable](list []T) []T {
	var zero T
	if !slices.ContainsFunc(list, func(x T) bool { return x != zero }) {
		return nil
	}
	return list
}

// timedOperation is a row of the table of what messages took.
type timedOperation struct {
	c   *agent.Connection
	end int
	op  wqe.Op
	*timing.Operation
}

const timedShown = 20

// timing writes how long the messages of each end took, by operation.
func (t *text) timing() {
	if t.Paces {
		return
	}
	var list []timedOperation
	for _, c := range t.measured() {
		if !c.Service.Reliable() {
			continue
		}
		for k := range c.Timing.Ends {
			for op, o := range c.Timing.Ends[k].Ops {
				if o != nil {
					list = append(list, timedOperation{c, k, wqe.Op(op), o})
				}
			}
		}
	}
	if len(list) == 0 {
		return
	}
	title := "What messages took"
	if n := len(list); !t.All && n > timedShown {
		slices.SortStableFunc(list, func(a, b timedOperation) int { return cmp.Compare(b.Operation.Most, a.Operation.Most) })
		list = list[:timedShown]
		title += fmt.Sprintf(" (the slowest %d of %s; --all shows every one)", timedShown, number(n))
	}
	t.heading(title)
	tab := newTable("endpoint", "operation", ">count", ">largest", ">p50", ">p90", ">p99", ">most", ">retrans.", ">incomplete")
	for _, k := range list {
		e := &k.c.Ends[k.end]
		cells := []string{e.Addr.String() + " " + qp(e.QPN, e.QPNKnown), k.op.String(), number(k.Count), size(uint64(k.Sizes.Most))}
		for _, s := range shares {
			if k.Count == k.Incomplete+k.Untimed {
				cells = append(cells, "–")
			} else {
				cells = append(cells, short(k.Quantile(s)))
			}
		}
		tab.add(append(cells, quiet(k.Retransmitted), quiet(k.Incomplete))...)
	}
	tab.fit(t.Width-2, ">p90", ">retrans.", ">incomplete", ">largest")
	t.lines(tab.lines("  ", t.dim))
}
