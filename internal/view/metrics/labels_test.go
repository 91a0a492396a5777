package metrics

import (
	"strconv"
	"testing"

	dto "github.com/prometheus/client_model/go"

	"ibwitness/packet"
	"ibwitness/rule"
)

// TestLabels: only where it is asked to do metrics name endpoints, no more than so many, and what is counted with the others is counted as that too.
func TestLabels(t *testing.T) {
	for name, k := range map[string]struct {
		labels    Labels
		series    int // of each metric of findings
		addresses int
		over      float64
		names     []string
	}{
		"none":      {Labels{Limit: 3}, 1, 0, 0, nil},
		"addresses": {Labels{Addresses: true, Limit: 3}, 4, 4, 3 * 2 * 10, []string{"address"}},
		"all":       {Labels{Addresses: true, Limit: 5}, 5, 5, 0, []string{"address"}},
		"QPNs":      {Labels{QPNs: true, Limit: 3}, 4, 4, 3 * 47, []string{"address", "qpn"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := New(nil)
			c.Label(k.labels)
			for i := range 50 { // five addresses, ten queue pairs each
				e := rule.Endpoint{Role: rule.Requester, Addr: packet.IPv4Addr([]byte{10, 0, 0, byte(i % 5)}), QPN: uint32(i), QPNKnown: true}
				for _, f := range []rule.Finding{
					{Rule: rule.RCPSN004, Class: rule.Violation}, {Rule: rule.RCPSN004, Class: rule.Unproven}, {Rule: rule.EvRetransmission, Class: rule.Event},
				} {
					f.Accused = e
					c.Found([]rule.Finding{f})
				}
			}
			all := families(t, c)
			for _, name := range []string{"violations_total", "unproven_total", "retransmissions_total"} {
				f := all[prefix+name]
				sum, addresses := 0.0, map[string]bool{}
				for _, m := range f.GetMetric() {
					sum += m.GetCounter().GetValue()
					for _, l := range m.Label {
						if l.GetName() == "address" {
							addresses[l.GetValue()] = true
						}
					}
					if n := count(m, k.names); n != len(k.names) {
						t.Errorf("%s: %v", name, m)
					}
				}
				if len(f.GetMetric()) != k.series || sum != 50 || len(addresses) != k.addresses {
					t.Errorf("%s: %d series, %v in all, addresses %v", name, len(f.GetMetric()), sum, addresses)
				}
			}
			if got := value(all[prefix+"label_overflow_total"], ""); k.names == nil && all[prefix+"label_overflow_total"] != nil || k.names != nil && got != k.over {
				t.Errorf("overflow %v", got)
			}
		})
	}
}

// count is how many of some labels a metric has, with a value.
func count(m *dto.Metric, names []string) (n int) {
	for _, l := range m.Label {
		for _, name := range names {
			if _, err := strconv.Atoi(l.GetValue()); l.GetName() == name && (name == "address" || err == nil || l.GetValue() == other) {
				n++
			}
		}
	}
	return n
}
