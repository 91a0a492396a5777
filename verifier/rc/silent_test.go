package rc

import (
	"testing"
	"time"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
)

// TestSilentOnce: a requester that lets its timer run out is found silent once, however often one looks, and again when it falls silent again.
func TestSilentOnce(t *testing.T) {
	for _, near := range []bool{false, true} {
		g := newGround()
		end := &g.c.Ends[0]
		end.Near = near
		end.Attr = &qp.Attr{Known: qp.KnowsTimeout | qp.KnowsRetryCnt, Timeout: 10, RetryCnt: 3}
		ask := func(now time.Duration) {
			p := at(g.packet(packet.SendOnly, g.q.Next, 8), now)
			p.AckReq = true
			g.Packet(g.c, 0, p)
		}
		found := func(now time.Duration) (n int) {
			g.Silent(g.c, int64(now))
			for _, f := range g.Rec.Findings {
				if f.Rule == rule.RCTMO004 {
					n++
				}
			}
			return n
		}
		for _, step := range []struct {
			now  time.Duration
			asks bool
			want int
		}{{time.Millisecond, true, 0}, {15 * time.Millisecond, false, 0}, {time.Second, false, 1}, {2 * time.Second, false, 1}, {3 * time.Second, true, 1}, {4 * time.Second, false, 2}} {
			if step.asks {
				ask(step.now)
			}
			if !near {
				step.want = 0
			}
			if n := found(step.now); n != step.want {
				t.Errorf("near %v, after %v: found %d times, not %d", near, step.now, n, step.want)
			}
		}
	}
}
