package incident_test

import (
	"strings"
	"testing"

	"ibwitness/agent"
)

// congested are WRITEs over a path that marks packets which wait, to a receiver that asks their sender to slow down.
const congested = `
about: marks and notifications
link: {rate: 1000000000}
hcas:
  a: 10.0.0.1
  b: {address: 10.0.0.2, cnp: per-qp, cnp_interval: 20us}
attributes: {traffic_class: 2, timeout: 18}
qps:
  a1: {hca: a, peer: b1}
  b1: {hca: b, peer: a1}
work:
  - {qp: a1, op: write, length: 65536, repeat: 40}
errors:
  - {do: mark, from: a, op: write, psn: +400, count: 8}
taps: [b]
`

// TestSlowed: what the sender sent before and after it was asked to slow down is told, where it sent for long enough.
func TestSlowed(t *testing.T) {
	told := happened(t, frames(t, congested), agent.Options{})
	if !strings.Contains(told, "congestion (proven)") || !strings.Contains(told, "10.0.0.1 sent ") || !strings.Contains(told, "bit/s on 1 queue pair until the first CNP to each, and ") {
		t.Errorf("told %s", told)
	}
	few := strings.Replace(congested, "+400", "+4", 1)
	if told := happened(t, frames(t, few), agent.Options{}); !strings.Contains(told, "congestion (proven)") || strings.Contains(told, "until the first CNP") {
		t.Errorf("from the first packets on no rate before is known: told %s", told)
	}
}
