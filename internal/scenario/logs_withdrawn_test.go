package scenario

import (
	"slices"
	"strings"
	"testing"

	"ibwitness/cq"
	"ibwitness/hcaagent"
	"ibwitness/internal/testkit/sample"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// TestLogWithdrawn: what a log with a clock of its own takes back in the midst of the traffic, its queue pair does no more. What it takes back after that, or gives again, accuses nobody, nor
// does a log that ends early, which may have told of that.
func TestLogWithdrawn(t *testing.T) {
	sample.Skip(t, "nothing runs beside it")
	text := strings.ReplaceAll(withLogs, "7us", "150us")
	region := func(l *hcaagent.Log) *cq.Event {
		return &l.Events[slices.IndexFunc(l.Events, func(e cq.Event) bool { return e.Kind == cq.EvRegisterMR && e.Region.Access&wqe.RemoteRead != 0 })]
	}
	modify := func(state qp.State, attr *qp.Attr) func(l *hcaagent.Log) []cq.Event {
		return func(*hcaagent.Log) []cq.Event { return []cq.Event{{Kind: cq.EvModifyQP, State: state, Attr: attr}} }
	}
	deregister := func(l *hcaagent.Log) []cq.Event {
		return []cq.Event{{Kind: cq.EvDeregisterMR, Region: region(l).Region}}
	}
	destroy := func(*hcaagent.Log) []cq.Event { return []cq.Event{{Kind: cq.EvDestroyQP}} }
	nothing := &qp.Attr{Known: qp.KnowsAccess}
	for _, c := range []struct {
		name   string
		events func(l *hcaagent.Log) []cq.Event
		sender bool // of requests
		want   string
	}{
		{"nothing", func(*hcaagent.Log) []cq.Event { return nil }, false, ""},
		{"ERR of the requester", modify(qp.Err, nil), true, "QPS-ERR-002 violation"},
		{"ERR of the responder", modify(qp.Err, nil), false, "QPS-ERR-002 violation"},
		{"SQD of the requester", modify(qp.SQD, nil), true, "QPS-SQD-001 violation"},
		{"SQD of the responder", modify(qp.SQD, nil), false, ""},
		{"the region", deregister, false, "CPL-MEM-005 violation"},
		{"the region, registered again", func(l *hcaagent.Log) []cq.Event { return append(deregister(l), *region(l)) }, false, ""},
		{"the requester", destroy, true, "QPS-RST-001 violation"},
		{"the responder", destroy, false, "QPS-RST-001 violation"},
		{"the permission", modify(qp.RTS, nothing), false, "QPS-ACT-001 violation"},
		{"the permission of the requester", modify(qp.RTS, nothing), true, ""},
	} {
		for _, when := range []string{"in the midst", "at the end", "in the midst, and the log ends early"} {
			got := foundIn(t, text, func(a, b *hcaagent.Log) {
				l := b
				if c.sender {
					l = a
				}
				begin := a.Events[posts(a)[0]].Time
				of := l.Events[slices.IndexFunc(l.Events, func(e cq.Event) bool { return e.Kind == cq.EvCreateQP })].QP
				at := len(l.Events)
				if when != "at the end" {
					at = slices.IndexFunc(l.Events, func(e cq.Event) bool { return e.Time > begin+2_000_000 })
				}
				var list []cq.Event
				for _, e := range c.events(l) {
					e.Time, e.QP = l.Events[at-1].Time, of
					list = append(list, e)
				}
				l.Events = slices.Insert(l.Events, at, list...)
				if when != "in the midst, and the log ends early" {
					e := l.Events[len(l.Events)-1]
					l.Events = append(l.Events, cq.Event{Kind: cq.EvDestroyQP, Time: e.Time, QP: of})
				}
				hostClock(a, b)
			})
			var want []string
			if c.want != "" && (when == "in the midst" || when != "at the end" && (strings.HasPrefix(c.want, "QPS-ERR") || strings.HasPrefix(c.want, "QPS-SQD") || strings.HasPrefix(c.want, "QPS-RST"))) {
				want = []string{c.want}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, %s: %q, not %q", c.name, when, got, want)
			}
		}
	}
}
