package incident_test

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/incident"
	"ibwitness/packet"
	"ibwitness/verifier/cm"
)

const programStalled = `
about: SENDs that are answered, but for a while, and more of them than receives
hcas: {a: 10.0.0.1, b: 10.0.0.2}
attributes: {timeout: 18, min_rnr_timer: 18, rnr_retry: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, a2: {hca: a, peer: b2}, b2: {hca: b, peer: a2}}
taps: [middle]
work:
  - {qp: a1, op: receive, length: 1000, repeat: 700}
  - {qp: b1, op: receive, length: 1000, repeat: 420}
  - {qp: b1, op: receive, length: 1000, repeat: 250, at: 690ms}
  - {qp: a1, op: send, length: 100, repeat: 400, every: 1ms}
  - {qp: b1, op: send, length: 100, repeat: 400, every: 1ms, at: 200us}
  - {qp: a1, op: send, length: 100, repeat: 40, every: 5ms, at: 400ms}
  - {qp: a1, op: send, length: 100, repeat: 200, every: 1ms, at: 800ms}
  - {qp: b1, op: send, length: 100, repeat: 40, every: 1ms, at: 700ms}
  - {qp: b1, op: send, length: 100, repeat: 200, every: 1ms, at: 800200us}
`

// withREQs is what a scene shows, with REQs of 10.0.0.1 that were answered late: at times in milliseconds after its first packet, the last of which is that of the answer.
func withREQs(t *testing.T, work string, ms ...int64) *agent.Result {
	t.Helper()
	r := judged(t, frames(t, programStalled+work), agent.Options{Timing: true})
	if n := len(ms) - 1; n > 0 {
		at := func(k int) int64 { return r.First + ms[k]*int64(time.Millisecond) }
		r.REQs = append(r.REQs, cm.Unanswered{
			Waits: cm.ForLate, From: packet.IPv4Addr([]byte{10, 0, 0, 1}), To: packet.IPv4Addr([]byte{10, 0, 0, 2}), Times: uint16(n), First: at(0), Last: at(n - 1), Frame: 1800, End: at(n), EndFrame: 2200,
		})
	}
	return r
}

// TestProgramStalled: of a receiver whose program was stalled it is told that it took no new connection, and that its adapter answered READs meanwhile, and it began with the first request that had no answer; REQs that were answered at another
// time are told by themselves, without a host that was not there where that sent all the time, and READs that stopped are no sign.
func TestProgramStalled(t *testing.T) {
	const (
		reads    = "  - {qp: a2, op: read, length: 100, repeat: 90, every: 10ms}\n"
		few      = "  - {qp: a2, op: read, length: 100, repeat: 42, every: 10ms}\n"
		connect  = "connect: it took no new connection either: 4 REQs of 10.0.0.1 from +0.450 s on had no answer until it went on; the answer came in frame 2200, at +0.691"
		adapter  = "adapter: that of 10.0.0.2 answered all "
		asked    = "connection-unanswered"
		notThere = "a host, a path or a program that was not there until then"
		slow     = "a program on 10.0.0.2 that was slow to take the request, or not there until then"
	)
	for name, tt := range map[string]struct {
		work      string
		reqs      []int64
		want, not []string
	}{
		"both":                {reads, []int64{450, 500, 550, 600, 691}, []string{connect, adapter, "RDMA READs that came meanwhile (QP 0x"}, []string{asked, notThere}},
		"no READs":            {"", []int64{450, 500, 550, 600, 691}, []string{connect}, []string{asked, "adapter:"}},
		"READs stopped too":   {few, []int64{450, 500, 550, 600, 691}, []string{connect}, []string{asked, "adapter:"}},
		"answered before":     {reads, []int64{450, 500, 550, 600, 650}, []string{adapter, asked, slow}, []string{"connect:", notThere}},
		"answered long after": {reads, []int64{450, 500, 550, 600, 891}, []string{adapter, asked, slow}, []string{"connect:", notThere}},
		"asked before":        {reads, []int64{350, 500, 550, 600, 691}, []string{adapter, asked, slow}, []string{"connect:", notThere}},
		"none asked":          {reads, nil, []string{adapter}, []string{"connect:", asked}},
	} {
		r := withREQs(t, tt.work, tt.reqs...)
		got := toldOf(r)
		for _, i := range incident.Of(r) {
			got += strings.Join(i.FitsWith, "; or ") + "\n"
			if at := i.Begin - r.First; i.Kind == incident.NotReady && (at < 399e6 || at > 401e6) {
				t.Errorf("%s: it began at %v", name, time.Duration(at))
			}
		}
		contains(t, name, got, append(tt.want, "was not ready for"), tt.not)
	}
	r := withREQs(t, "", 1500, 1600, 1700, 1800, 1900)
	got := toldOf(r)
	for _, i := range incident.Of(r) {
		got += strings.Join(i.FitsWith, "; or ") + "\n"
	}
	contains(t, "nothing of it meanwhile", got, []string{asked, notThere}, []string{"it was there", "connect:"})
}
