package agent

import (
	"time"

	"ibwitness/hcaagent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/verifier/cm"
)

// settled is how old what was captured is at most when it is verified.
const settled = int64(time.Second)

// judgeExchanges sets up the verifier of CM exchanges.
func (t *Transport) judgeExchanges() {
	t.talks = cm.New(&t.Rec)
	t.talks.Near = t.isNear
	t.talks.Lossy = func() bool { return t.lossy }
	t.talks.Since = func(a, b packet.Addr) int64 {
		host, _ := t.hosts.find(a, b)
		return t.hosts.list[host].first
	}
	t.talks.Traffic = func(q hcaagent.QP) (*qp.Pair, int, bool) {
		way, ok := t.bound[q]
		if !ok {
			return nil, 0, false
		}
		return &t.pairs.at(way >> 1).Pair, int(way & 1), true
	}
}

// afterwards judges that a connection which CM has ended goes on.
func (t *Transport) afterwards(c *connection, from int, p *packet.Packet) {
	if e := &c.Ends[from]; e.Numbered {
		t.talks.Data(hcaagent.QP{Addr: e.Addr, QPN: e.Number}, p.Dst, e.Near, p)
	}
}
