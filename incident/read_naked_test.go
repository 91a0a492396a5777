package incident_test

import (
	"strings"
	"testing"
)

// TestReadPassedOverByNAK: a READ whose response never comes, while a PSN sequence NAK asks for a later request, is told to have been taken, and to lack its response; not that it was answered. Where its response has come
// once, and was lost after the tap, it is told to have been answered.
func TestReadPassedOverByNAK(t *testing.T) {
	const scene = `
about: a READ, and a WRITE after it
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {pmtu: 1024, timeout: 14, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
work:
  - {qp: a1, op: write, length: 64, repeat: 10, every: 1ms}
  - {qp: a1, op: read, length: 1024, at: 40ms}
  - {qp: a1, op: write, length: 1024, at: 40ms}
  - {qp: a1, op: write, length: 64, at: 40ms}
  - {qp: a1, op: write, length: 64, repeat: 40, every: 10us, at: 41ms}
taps: [middle]
errors:
  - {do: drop, from: a, psn: 0x10000b, count: all, where: after}
`
	const (
		taken  = "asked with a PSN sequence NAK for what comes after it, and the capture holds no response to it"
		later  = "is a PSN sequence NAK for a request after it: 10.1.0.2 QP "
		passed = "passed the tap"
	)
	before := reasons(t, scene+"  - {do: drop, from: b, op: read_response_only, count: all}\n")
	if !strings.Contains(before, taken) || !strings.Contains(before, later) || strings.Contains(before, passed) {
		t.Error(before)
	}
	after := reasons(t, scene+"  - {do: drop, from: b, op: read_response_only, count: all, where: after}\n")
	if strings.Contains(after, taken) || strings.Contains(after, later) {
		t.Error(after)
	}
}

// TestReadCutShort: a READ of whose response the first packets came, and the last ones only as its timer had it retransmitted, waited for these, which were lost before the tap; not where none came.
func TestReadCutShort(t *testing.T) {
	const scene = `
about: a READ whose response is lost
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {pmtu: 1024, timeout: 15, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}}
work:
  - {qp: a1, op: read, length: 4096, repeat: 4, every: 1ms}
  - {qp: a1, op: read, length: 4096, at: 40ms}
  - {qp: a1, op: read, length: 4096, repeat: 4, every: 1ms, at: 900ms}
taps: [middle]
errors:
`
	const (
		cut  = " for the last packets of the response to an RDMA READ of 4,096 bytes: its first packets had come from 10.1.0.2 QP "
		none = "was answered for"
	)
	if got := reasons(t, scene+"  - {do: drop, from: b, op: read_response_last, nth: 5, count: 1}\n"); !strings.Contains(got, cut) || strings.Contains(got, none) || strings.Contains(got, "fits: a link, switch or route that failed") {
		t.Error(got)
	}
	if got := reasons(t, scene+"  - {do: drop, from: b, op: [read_response_first, read_response_middle, read_response_last], nth: 17, count: 4}\n"); strings.Contains(got, cut) || !strings.Contains(got, none) {
		t.Error(got)
	}
}
