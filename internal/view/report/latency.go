package report

import (
	"time"

	"ibwitness/verifier"
)

// shares are those of the quantiles that are shown.
var shares = [...]float64{0.5, 0.9, 0.99, 1}

// latencies writes how long answers took, where that was measured.
func (t *text) latencies() {
	l := t.res.Latencies
	if l == nil {
		return
	}
	tab := newTable("", ">count", ">mean", ">p50", ">p90", ">p99", ">most")
	for i := range l {
		h := &l[i]
		n := h.Count()
		if n == 0 {
			continue
		}
		cells := []string{verifier.Interval(i).String(), number(int(n)), short(time.Duration(h.Sum / n))}
		for _, s := range shares {
			cells = append(cells, short(h.Quantile(s)))
		}
		tab.add(cells...)
	}
	t.heading("Latencies, at the tap")
	if len(tab.rows) == 0 {
		t.line("  none could be measured")
		return
	}
	t.lines(tab.lines("  ", t.dim))
}

// short writes a time with three digits.
func short(d time.Duration) string {
	unit := time.Nanosecond
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit).String()
}

type jsonLatency struct {
	Kind     string `json:"kind"`
	Interval string `json:"interval"`
	*jsonTimes
}

// latencyLines are the intervals that were measured, in seconds.
func latencyLines(l *verifier.Latencies) (list []jsonLatency) {
	if l == nil {
		return nil
	}
	for i := range l {
		if times := timesOf(&l[i]); times != nil {
			list = append(list, jsonLatency{"latency", verifier.Interval(i).String(), times})
		}
	}
	return list
}
