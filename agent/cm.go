package agent

import (
	"time"

	"ibwitness/agent/internal/connection"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/verifier/cm"
	"ibwitness/wqe"
)

// settled is how old what was captured is at most when it is verified.
const settled = int64(time.Second)

// judgeExchanges sets up the verifier of CM exchanges.
func (t *Transport) judgeExchanges() {
	t.talks = cm.New(&t.Rec)
	t.talks.Near = t.table.Near
	t.talks.Lossy = func() bool { return t.table.Lossy }
	t.talks.Since = t.table.Since
	t.talks.Traffic = func(q wqe.QP) (*qp.Pair, int, bool) {
		c, end, ok := t.table.ConnectedBy(q)
		return c.QPs(), end, ok
	}
	t.talks.First = t.table.Unconnected
}

// afterDisconnect judges that a connection which CM has ended goes on.
func (t *Transport) afterDisconnect(c *connection.Connection, from int, p *packet.Packet) {
	if e := &c.Ends[from]; e.Numbered {
		t.talks.Data(wqe.QP{Addr: e.Addr, QPN: e.Number}, p.Dst, e.Near, p)
	}
}
