package web

import (
	"cmp"
	"slices"
	"time"

	"ibwitness/agent"
	"ibwitness/internal/view/report"
	"ibwitness/timing"
	"ibwitness/wqe"
)

// mostMessages is how many operations of queue pairs the page lists.
const mostMessages = 2000

// Messages are what the messages of queue pairs took, by operation, the slowest first.
type Messages struct {
	Total int               `json:"total"`
	Items []*TimedOperation `json:"items"`
}

// TimedOperation is what the messages of one operation of a queue pair took. Times are in seconds.
type TimedOperation struct {
	ID            int                    `json:"id"`
	Service       string                 `json:"service"`
	Ends          [2]report.EndpointLine `json:"ends"` // the requester first
	Operation     string                 `json:"operation"`
	Count         uint64                 `json:"count"`
	Bytes         uint64                 `json:"bytes"`
	Largest       uint32                 `json:"largest"`
	P50           float64                `json:"p50"`
	P99           float64                `json:"p99"`
	Most          float64                `json:"most"` // 0: it is not known how long any of them took
	Retransmitted uint64                 `json:"retransmitted"`
	Incomplete    uint64                 `json:"incomplete"`
	Rate          []float32              `json:"rate,omitempty"` // what the end sent over the run, bytes a second
	Slow          []float32              `json:"slow,omitempty"` // the longest that a message of the end took, of any operation
}

// messagesOf lists what messages took in a run that is over.
func messagesOf(r *agent.Result) *Messages {
	out := &Messages{Items: []*TimedOperation{}}
	for i := range r.Connections {
		c := &r.Connections[i]
		if c.Timing == nil || !c.Service.Reliable() {
			continue
		}
		for k := range c.Timing.Ends {
			e := &c.Timing.Ends[k]
			var rate, slow []float32
			for op, o := range e.Ops {
				if o == nil {
					continue
				}
				if rate == nil {
					rate, slow = drawn(&e.Series, r.First, r.Last)
				}
				out.Items = append(out.Items, &TimedOperation{
					Service: c.Service.String(), Ends: [2]report.EndpointLine{report.EndpointLineOf(&c.Ends[k]), report.EndpointLineOf(&c.Ends[1-k])}, Operation: wqe.Op(op).String(),
					Count: o.Count, Bytes: o.Bytes, Largest: o.Sizes.Most, P50: o.Quantile(0.5).Seconds(), P99: o.Quantile(0.99).Seconds(), Most: o.Most.Seconds(),
					Retransmitted: o.Retransmitted, Incomplete: o.Incomplete, Rate: rate, Slow: slow,
				})
			}
		}
	}
	slices.SortStableFunc(out.Items, func(a, b *TimedOperation) int { return cmp.Compare(b.Most, a.Most) })
	out.Total = len(out.Items)
	out.Items = out.Items[:min(out.Total, mostMessages)]
	for i, o := range out.Items {
		o.ID = i + 1
	}
	return out
}

// drawn is a series over the whole of a run, slot by slot: bytes a second, and the longest time in seconds.
func drawn(s *timing.Series, first, last int64) (rate, slow []float32) {
	if s.Width == 0 {
		return nil, nil
	}
	start := first - first%s.Width
	n := (last-start)/s.Width + 1
	rate, slow = make([]float32, n), make([]float32, n)
	for i := range s.Slots {
		at := (s.Start-start)/s.Width + int64(i)
		if at < 0 || at >= n {
			continue
		}
		k := &s.Slots[i]
		rate[at] = float32(float64(k.Bytes+k.Retransmitted) / time.Duration(s.Width).Seconds())
		slow[at] = float32(k.Slowest.Seconds())
	}
	return rate, slow
}

// Messages lists what messages took in a run that is over; of one that goes on that is not known.
func (m *Model) Messages() *Messages {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.done == nil {
		return &Messages{Items: []*TimedOperation{}}
	}
	return m.done.messages
}
