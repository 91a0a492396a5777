// Package metrics shows what a run finds and counts to Prometheus. The labels are bounded: no metric names an address or a queue pair.
package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"ibwitness/agent"
	"ibwitness/fabricagent/live"
	"ibwitness/incident"
	"ibwitness/internal/evidence/journal"
	"ibwitness/internal/evidence/ringfiles"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// Collector is what is known of a run. It is safe for concurrent use.
type Collector struct {
	interfaces func() []live.Stats
	now        func() time.Time
	since      time.Time

	mu       sync.Mutex
	status   agent.Status
	labels   labels
	counts   map[counted]uint64
	findings [rule.NumRules]rule.Count // told so far; Exercised counts events
	flight   func() ringfiles.Stats    // nil: no packets are written
	log      func() journal.Stats      // nil: no log is kept
	config   config
	// incidents that have begun, and those that go on, by kind
	begun, ongoing [incident.NumKinds]uint64
}

// New returns the collector of a run that captures from interfaces, whose counters it asks for when it is scraped.
func New(interfaces func() []live.Stats) *Collector {
	return &Collector{interfaces: interfaces, now: time.Now, since: time.Now(), counts: map[counted]uint64{}, labels: newLabels(Labels{}), config: config{true, time.Now()}}
}

// Found counts findings.
func (c *Collector) Found(list []rule.Finding) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range list {
		f := &list[i]
		c.add(f.Rule, f.Class, &f.Accused, 1)
	}
}

// Incidents counts incidents.
func (c *Collector) Incidents(list []incident.Told) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range list {
		switch t := &list[i]; {
		case t.State == incident.Began:
			c.begun[t.Kind]++
			c.ongoing[t.Kind]++
		case t.State == incident.Ended && t.Kind == incident.Rejected: // it lasts no time
			c.begun[t.Kind]++
		case t.State == incident.Ended:
			c.ongoing[t.Kind]--
		}
	}
}

// More counts findings beyond those that Found takes.
func (c *Collector) More(list []rule.More) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range list {
		m := &list[i]
		c.add(m.Rule, m.Class, &rule.Endpoint{Role: m.Role, Addr: m.Accused}, m.Count)
	}
}

// add counts so many findings.
func (c *Collector) add(id rule.ID, class rule.Class, accused *rule.Endpoint, count uint64) {
	k := counted{rule: id, class: class, label: c.labels.of(accused, count)}
	switch n := &c.findings[id]; class {
	case rule.Violation:
		n.Violated += count
		k.role = accused.Role
	case rule.Unproven:
		n.Unproven += count
	case rule.Event:
		n.Exercised += count
	}
	c.counts[k] += count
}

// Status takes the counters of the run.
func (c *Collector) Status(s *agent.Status) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status = *s
}

// Flight has the counters of what writes the packets around findings.
func (c *Collector) Flight(stats func() ringfiles.Stats) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.flight = stats
}

// Log has the counters of the log on disk.
func (c *Collector) Log(stats func() journal.Stats) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.log = stats
}

const prefix = "ibwitness_"

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(prefix+name, help, labels, nil)
}

var (
	exercised   = desc("rule_exercised_total", "How often a rule was evaluated.", "rule")
	rulesTested = desc("rules_exercised", "Rules that were evaluated.")
	rulesAll    = desc("rules", "Rules of the catalogue.")
	frames      = desc("capture_frames_total", "Frames that an interface has delivered.", "interface")
	drops       = desc("capture_drops_total", "Frames that the kernel has dropped since the ring of an interface was full.", "interface")
	up          = desc("capture_interface_up", "Whether an interface is up.", "interface")
	packets     = desc("packets_total", "InfiniBand and RoCE packets.", "service", "class")
	bytes       = desc("bytes_total", "Bytes of these packets on the wire.", "service", "class")
	undecoded   = desc("undecoded_packets_total", "Packets with inconsistent headers.")
	repeated    = desc("repeated_packets_total", "Packets that another interface had already shown.")
	connections = desc("connections", "Connections that are followed.")
	forgotten   = desc("connections_forgotten_total", "Connections that are no longer followed: idle for long, the longest idle where there are too many or memory is short, or to be learned again since the capture has missed packets.", "reason")
	written     = desc("flight_findings_total", "Findings whose packets were to be written: written; missing, since they were no longer kept; limited, since there were too many; failed, since the file could not be written.", "outcome")
	logged      = desc("log_lines_total", "Lines of the log on disk.")
	unlogged    = desc("log_lost_lines_total", "Lines that the log on disk lacks, since it could not be written for long.")
	incidents   = desc("incidents_total", "Incidents that have begun, by kind (docs/incidents.md).", "kind")
	ongoing     = desc("incidents_ongoing", "Incidents that go on.", "kind")
	lag         = desc("engine_lag_seconds", "How far verification lags the clock.")
)

// icrcErrors are the rules that judge the ICRC.
var icrcErrors = struct {
	rules []rule.ID
	desc  *prometheus.Desc
}{
	[]rule.ID{rule.ROCV2019, rule.LNKCRC003, rule.LNKCRC004},
	desc("rx_icrc_encapsulated_errors_total", "Packets whose ICRC is wrong."),
}

// Describe tells what there is.
func (c *Collector) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(c, ch) }

// Collect tells the values.
func (c *Collector) Collect(ch chan<- prometheus.Metric) {
	var stats []live.Stats
	if c.interfaces != nil {
		stats = c.interfaces()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	count := func(d *prometheus.Desc, v uint64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	c.labels.collect(c.counts, count)
	tested := 0
	for _, id := range rule.Rules() {
		if n := c.status.Cover[id].Exercised; n > 0 {
			tested++
			count(exercised, n, id.String())
		}
	}
	gauge(rulesTested, float64(tested))
	gauge(rulesAll, float64(len(rule.Rules())))
	wrong := uint64(0)
	for _, id := range icrcErrors.rules {
		wrong += c.findings[id].Violated + c.findings[id].Unproven
	}
	count(icrcErrors.desc, wrong)
	for i := range stats {
		s := &stats[i]
		count(frames, s.Frames, s.Interface)
		count(drops, s.Dropped, s.Interface)
		on := 1.0
		if s.Down {
			on = 0
		}
		gauge(up, on, s.Interface)
	}
	for k := range incident.NumKinds {
		count(incidents, c.begun[k], k.String())
		gauge(ongoing, float64(c.ongoing[k]), k.String())
	}
	c.traffic(count)
	c.config.collect(gauge)
	count(undecoded, c.status.Undecoded)
	count(repeated, c.status.Repeated)
	collectLatencies(ch, &c.status.Latencies, c.since)
	gauge(connections, float64(c.status.Connections))
	count(forgotten, c.status.Forgotten, "idle")
	count(forgotten, c.status.Evicted, "ceiling")
	count(forgotten, c.status.Relearned, "capture-loss")
	if c.flight != nil {
		s := c.flight()
		count(written, s.Written, "written")
		count(written, s.Missing, "missing")
		count(written, s.Limited, "limited")
		count(written, s.Failed, "failed")
	}
	if c.log != nil {
		s := c.log()
		count(logged, s.Lines)
		count(unlogged, s.Lost)
	}
	if c.status.Now > 0 {
		gauge(lag, max(0, c.now().Sub(time.Unix(0, c.status.Now)).Seconds()))
	}
}

// traffic tells the sums of packets by service and class of opcode.
func (c *Collector) traffic(count func(*prometheus.Desc, uint64, ...string)) {
	type key struct{ service, class string }
	type sum struct{ packets, bytes uint64 }
	sums := map[key]sum{}
	for o, n := range c.status.Traffic.Packets {
		if n == 0 {
			continue
		}
		k := key{packet.Opcode(o).Service().String(), class(packet.Opcode(o))}
		if packet.Opcode(o) == packet.OpCNP {
			k = key{"CNP", "cnp"}
		}
		s := sums[k]
		s.packets += n
		s.bytes += c.status.Traffic.Bytes[o]
		sums[k] = s
	}
	for k, s := range sums {
		count(packets, s.packets, k.service, k.class)
		count(bytes, s.bytes, k.service, k.class)
	}
}

// Lag is how much the verification lags the clock.
func (c *Collector) Lag() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.status.Now == 0 {
		return 0
	}
	return c.now().Sub(time.Unix(0, c.status.Now))
}

// class is the kind of work that an opcode belongs to.
func class(o packet.Opcode) string {
	switch f := o.Fn(); f {
	case packet.ReadRespFirst, packet.ReadRespMiddle, packet.ReadRespLast, packet.ReadRespOnly:
		return "read-response"
	case packet.Acknowledge:
		return "ack"
	case packet.AtomicAck:
		return "atomic-ack"
	default:
		switch wqe.OpOf(f) {
		case wqe.Send:
			return "send"
		case wqe.Write:
			return "write"
		case wqe.Read:
			return "read-request"
		case wqe.CmpSwap, wqe.FetchAdd:
			return "atomic-request"
		case wqe.Flush:
			return "flush"
		case wqe.AtomicWrite:
			return "atomic-write"
		}
	}
	return "other"
}
