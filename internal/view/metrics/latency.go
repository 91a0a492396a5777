package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"ibwitness/verifier"
)

var (
	requestAck = desc("request_ack_seconds", "Time from the last packet of a message that asks for it to its acknowledgement, of a READ from the request to its first response, as seen at the interface; messages with retransmissions are left out.", "operation")
	nakResend  = desc("nak_retransmission_seconds", "Time from a NAK for a PSN sequence error to the retransmission, as seen at the interface.")
	rnrWait    = desc("rnr_wait_seconds", "Time from an RNR NAK to the retransmission, as seen at the interface.")
)

// latencies are the histograms, by what they show.
var latencies = [verifier.NumIntervals]struct {
	desc   *prometheus.Desc
	labels []string
}{
	verifier.SendToAck:   {requestAck, []string{"send"}},
	verifier.WriteToAck:  {requestAck, []string{"write"}},
	verifier.ReadToFirst: {requestAck, []string{"read"}},
	verifier.AtomicToAck: {requestAck, []string{"atomic"}},
	verifier.NAKToResend: {nakResend, nil},
	verifier.RNRToResend: {rnrWait, nil},
}

// Ends of the classic buckets, for those that do not read native ones: from 2^-20 s, about a microsecond, to 16 s, each four times the one before.
const (
	firstEnd = -20
	lastEnd  = 4
	stepEnd  = 2
)

// histogram is a native histogram that has classic buckets too.
type histogram struct {
	prometheus.Metric
	buckets []*dto.Bucket
}

// Write writes both.
func (h histogram) Write(m *dto.Metric) error {
	if err := h.Metric.Write(m); err != nil {
		return err
	}
	m.Histogram.Bucket = h.buckets
	return nil
}

// collectLatencies tells the histograms.
func collectLatencies(ch chan<- prometheus.Metric, l *verifier.Latencies, since time.Time) {
	for i := range l {
		h := &l[i]
		native := map[int]int64{}
		var buckets []*dto.Bucket
		sum, end := uint64(0), firstEnd
		for k, n := range h.Buckets {
			index := k + verifier.FirstIndex
			if n > 0 {
				native[index] = int64(n)
			}
			if sum += n; index == end<<verifier.Schema && end <= lastEnd {
				buckets = append(buckets, &dto.Bucket{CumulativeCount: new(sum), UpperBound: new(verifier.End(k).Seconds())})
				end += stepEnd
			}
		}
		m := prometheus.MustNewConstNativeHistogram(latencies[i].desc, h.Count(), float64(h.Sum)/1e9, native, nil, 0, verifier.Schema, 0, since, latencies[i].labels...)
		ch <- histogram{m, buckets}
	}
}
