package incident

import (
	"testing"

	"ibwitness/qp"
	"ibwitness/wqe"
)

// TestSent: of a request that was retransmitted from its first PSN, all was sent so often; else only the rest.
func TestSent(t *testing.T) {
	for _, k := range []struct {
		r    qp.StalledRequest
		want string
	}{
		{qp.StalledRequest{Op: wqe.Read, First: 7, PSN: 7, Length: 4096}, "sent an RDMA READ of 4,096 bytes 3 times"},
		{qp.StalledRequest{Op: wqe.Read, First: 7, PSN: 9, Length: 4096}, "sent an RDMA READ of 4,096 bytes, and asked for the rest of it again twice"},
		{qp.StalledRequest{Op: wqe.Write, First: 7, PSN: 9, Length: 4096}, "sent an RDMA WRITE of 4,096 bytes, and retransmitted the rest of it twice"},
		{qp.StalledRequest{Op: wqe.Send, First: 7, PSN: 7, Length: 2048, Begun: true}, "sent a SEND of at least 2,048 bytes 3 times"},
	} {
		if got := sent(&qp.Stall{Request: k.r, Rounds: [qp.NumCauses]uint32{2}}); got != k.want {
			t.Errorf("%q, not %q", got, k.want)
		}
	}
}
