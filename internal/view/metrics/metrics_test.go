package metrics

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"ibwitness/agent"
	"ibwitness/fabricagent/live"
	"ibwitness/incident"
	"ibwitness/internal/evidence/journal"
	"ibwitness/internal/evidence/ringfiles"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/verifier"
)

// full is a collector that has something to say of everything: each of so many rules broken by each role at several endpoints, each opcode.
func full(rules int) *Collector {
	c := New(func() []live.Stats {
		return []live.Stats{{Interface: "eth0", Frames: 10, Dropped: 2}, {Interface: "eth1", Down: true}}
	})
	c.now = func() time.Time { return time.Unix(100, 0) }
	c.since = time.Unix(50, 0)
	c.Flight(func() ringfiles.Stats { return ringfiles.Stats{Written: 1, Missing: 2, Limited: 3, Failed: 4} })
	c.Log(func() journal.Stats { return journal.Stats{Lines: 5, Lost: 6} })
	var list []rule.Finding
	for id := range rule.ID(rules) {
		for _, class := range []rule.Class{rule.Event, rule.Unproven, rule.Violation} {
			for role := rule.NoRole; role <= rule.Capture; role++ {
				for n := range uint32(3) {
					e := rule.Endpoint{Role: role, Addr: packet.IPv4Addr([]byte{10, 0, byte(id), byte(n)}), QPN: n<<8 | uint32(role), QPNKnown: true}
					list = append(list, rule.Finding{Rule: id, Class: class, Accused: e, Peer: e})
				}
			}
		}
	}
	c.Found(list)
	s := &agent.Status{Now: 98e9, Connections: 7, Forgotten: 1, Evicted: 2, Relearned: 3, Repeated: 4, Undecoded: 5}
	for i := range s.Cover {
		s.Cover[i].Exercised = 9
	}
	for o := range s.Traffic.Packets {
		s.Traffic.Packets[o], s.Traffic.Bytes[o] = 1, 100
	}
	for i := range s.Latencies {
		for _, d := range []time.Duration{3 * time.Microsecond, 3100, 5 * time.Millisecond, 20 * time.Second, 0} {
			s.Latencies[i].Observe(d)
		}
	}
	c.Status(s)
	return c
}

// TestLint: the names and help texts are as Prometheus wants them, and the metrics are consistent.
func TestLint(t *testing.T) {
	for name, c := range map[string]*Collector{"full": full(5), "empty": New(nil)} {
		problems, err := testutil.CollectAndLint(c)
		if err != nil || len(problems) > 0 {
			t.Errorf("%s: %v %v", name, problems, err)
		}
	}
}

// TestMore: findings beyond those that are told count like them.
func TestMore(t *testing.T) {
	told, more := New(nil), New(nil)
	accused := rule.Endpoint{Role: rule.Responder, Addr: packet.IPv4Addr([]byte{10, 0, 0, 1})}
	for _, c := range []*Collector{told, more} {
		c.Label(Labels{Addresses: true, Limit: 1})
		c.Found([]rule.Finding{{Rule: rule.RCRSP006, Class: rule.Violation, Accused: accused}})
	}
	other := accused
	other.Addr.Lo++
	for _, class := range []rule.Class{rule.Violation, rule.Unproven, rule.Event} {
		for _, e := range []rule.Endpoint{accused, other} {
			for range 5 {
				told.Found([]rule.Finding{{Rule: rule.RCRSP006, Class: class, Accused: e}})
			}
			more.More([]rule.More{{Rule: rule.RCRSP006, Class: class, Role: e.Role, Accused: e.Addr, Count: 5}})
		}
	}
	var texts []string
	for _, c := range []*Collector{told, more} {
		text, err := testutil.CollectAndFormat(c, expfmt.TypeTextPlain, "ibwitness_violations_total", "ibwitness_unproven_total", "ibwitness_label_overflow_total")
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	if texts[0] != texts[1] || !strings.Contains(texts[0], " 6\n") || !strings.Contains(texts[0], "overflow_total 15\n") {
		t.Errorf("%s\n%s", texts[0], texts[1])
	}
}

// families gathers the metrics of a collector by name.
func families(t *testing.T, c prometheus.Collector) map[string]*dto.MetricFamily {
	t.Helper()
	r := prometheus.NewPedanticRegistry()
	r.MustRegister(c)
	list, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*dto.MetricFamily{}
	for _, f := range list {
		out[f.GetName()] = f
	}
	return out
}

// TestBounded: whatever there is in the network, the labels and their values are those of the catalogue, the opcodes and the command line.
func TestBounded(t *testing.T) {
	all := families(t, full(rule.NumRules))
	labels, series := map[string]map[string]bool{}, 0
	for name, f := range all {
		if !strings.HasPrefix(name, prefix) {
			t.Errorf("%s lacks the prefix", name)
		}
		for _, m := range f.Metric {
			series++
			for _, l := range m.Label {
				if labels[l.GetName()] == nil {
					labels[l.GetName()] = map[string]bool{}
				}
				labels[l.GetName()][l.GetValue()] = true
			}
		}
	}
	rules := len(rule.Rules())
	for name, most := range map[string]int{
		"rule": rule.NumRules, "kind": int(incident.NumKinds), "severity": 3, "accused": 7, "interface": 2, "service": 9, "class": 12, "reason": 3, "outcome": 4, "operation": 4,
	} {
		if n := len(labels[name]); n == 0 || n > most {
			t.Errorf("%d values of %s: %v", n, name, labels[name])
		}
		delete(labels, name)
	}
	if len(labels) > 0 {
		t.Errorf("labels %v", labels)
	}
	if most := rule.NumRules*7 + 2*rules + 300; series > most {
		t.Errorf("%d series, more than %d", series, most)
	}
}

// value returns the value of a counter or gauge with a label.
func value(f *dto.MetricFamily, label string) float64 {
	for _, m := range f.GetMetric() {
		if label == "" || slices.ContainsFunc(m.Label, func(l *dto.LabelPair) bool { return l.GetName()+"="+l.GetValue() == label }) {
			return m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return math.NaN()
}

// TestValues: the metrics tell what the run has counted.
func TestValues(t *testing.T) {
	all := families(t, full(rule.NumRules))
	const roles = 7 * 3
	for _, k := range []struct {
		name, label string
		want        float64
	}{
		{"violations_total", "rule=RC-PSN-004", 3},
		{"unproven_total", "rule=RC-PSN-004", roles},
		{"retransmissions_total", "", roles},
		{"rx_icrc_encapsulated_errors_total", "", 2 * 3 * roles},
		{"rule_exercised_total", "rule=RC-PSN-004", 9},
		{"rules", "", float64(len(rule.Rules()))},
		{"rules_exercised", "", float64(len(rule.Rules()))},
		{"packets_total", "class=cnp", 1},
		{"bytes_total", "class=cnp", 100},
		{"capture_drops_total", "interface=eth0", 2},
		{"capture_frames_total", "interface=eth0", 10},
		{"capture_interface_up", "interface=eth0", 1},
		{"capture_interface_up", "interface=eth1", 0},
		{"connections", "", 7},
		{"connections_forgotten_total", "reason=idle", 1},
		{"connections_forgotten_total", "reason=ceiling", 2},
		{"connections_forgotten_total", "reason=capture-loss", 3},
		{"repeated_packets_total", "", 4},
		{"undecoded_packets_total", "", 5},
		{"flight_findings_total", "outcome=missing", 2},
		{"log_lines_total", "", 5},
		{"log_lost_lines_total", "", 6},
		{"engine_lag_seconds", "", 2},
	} {
		if got := value(all[prefix+k.name], k.label); got != k.want {
			t.Errorf("%s{%s}: %v, not %v", k.name, k.label, got, k.want)
		}
	}
	packets := 0.0
	for _, m := range all[prefix+"packets_total"].Metric {
		packets += m.GetCounter().GetValue()
	}
	if packets != 256 {
		t.Errorf("%v packets of 256 opcodes", packets)
	}
}

// TestHistograms: the native and the classic buckets have each time where it belongs.
func TestHistograms(t *testing.T) {
	all := families(t, full(rule.NumRules))
	for name, series := range map[string]int{"request_ack_seconds": 4, "nak_retransmission_seconds": 1, "rnr_wait_seconds": 1} {
		f := all[prefix+name]
		if len(f.GetMetric()) != series {
			t.Fatalf("%s: %v", name, f)
		}
		for _, m := range f.Metric {
			h := m.Histogram
			if h.GetSampleCount() != 5 || math.Abs(h.GetSampleSum()-20.0050061) > 1e-6 || h.GetSchema() != verifier.Schema {
				t.Errorf("%s: %v", name, h)
			}
			last, count := 0.0, uint64(0)
			for _, b := range h.Bucket {
				want := uint64(0)
				for _, s := range []float64{0, 3e-6, 3.1e-6, 5e-3, 20} {
					if s <= b.GetUpperBound() {
						want++
					}
				}
				if b.GetUpperBound() <= last || b.GetCumulativeCount() != want {
					t.Errorf("%s: %v up to %v, not %d", name, b.GetCumulativeCount(), b.GetUpperBound(), want)
				}
				last, count = b.GetUpperBound(), b.GetCumulativeCount()
			}
			if last != 16 || count != 4 {
				t.Errorf("%s: %d up to %v", name, count, last)
			}
			native := map[string]int64{}
			index, n, k := int32(0), int64(0), 0
			for _, s := range h.PositiveSpan {
				index += s.GetOffset()
				for range s.GetLength() {
					if n += h.PositiveDelta[k]; n > 0 {
						native[fmt.Sprintf("%.3g", math.Exp2(float64(index)/8))] = n
					}
					index, k = index+1, k+1
				}
			}
			if len(native) != 4 || native["20.7"] != 1 || native["0.00507"] != 1 || native["3.21e-06"] != 2 {
				t.Errorf("%s: %v", name, native)
			}
		}
	}
}
