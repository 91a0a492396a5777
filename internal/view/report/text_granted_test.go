package report

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/upper"
	"ibwitness/wqe"
)

// TestGranted: fewer calls at once that a server grants are told, and what failed, by status; not where there is nothing of these.
func TestGranted(t *testing.T) {
	c := busy(wqe.Send, 300, 0)
	c.Upper = &agent.Upper{Protocol: "RPC over RDMA"}
	if got := reported(t, c); strings.Contains(got, "Since ") || strings.Contains(got, "failed commands") {
		t.Error(got)
	}
	ms := int64(time.Millisecond)
	c.Upper.Granted = &upper.Lowered{By: 1, At: 2 * ms, Frame: 16, Was: upper.Phase{Calls: 32, Count: 100, Sum: 100 * 9 * ms, Open: 6}, Now: upper.Phase{Calls: 1, Count: 100, Sum: 100 * 8 * ms, Open: 1}}
	of := func(frame uint64, status string) *agent.Operation {
		return &agent.Operation{Name: "NFS version 3 WRITE, XID 7", Status: status, Since: ms, Ended: 3 * ms, Frame: frame, Answer: frame + 1}
	}
	c.Upper.Failures = []agent.Failed{{Operation: of(3, "NFSERR_NOSPC"), Count: 2}, {Operation: of(7, "NFSERR_IO"), Count: 1}, {Operation: of(9, "NFSERR_NOSPC"), Count: 3}, {Operation: of(11, "Connect"), Count: 1, Opens: true}}
	got := reported(t, c)
	for _, want := range []string{
		"(frame 16) " + c.Ends[1].Addr.String() + " grants " + c.Ends[0].Addr.String(), " 1 call at once in place of 32 (credits of RPC over RDMA), and it has had at most 1 open since, 6 before; an answer takes 8ms in the mean, 9ms before: its calls wait for the grant",
		": 5 commands with NFSERR_NOSPC, the first NFS version 3 WRITE, XID 7 (frames 3 to 4); NFS version 3 WRITE, XID 7: NFSERR_IO (frames 7 to 8, 2ms).",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\nwant %q", got, want)
		}
	}
}
