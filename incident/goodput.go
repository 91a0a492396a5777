package incident

import (
	"fmt"
	"strings"

	"ibwitness/packet"
	"ibwitness/timing"
)

const (
	// tellingGoodput is in which part of its time, one in so many, much of what an end sent was retransmitted at least for it
	// to be told what else came through: shorter times tell nothing of bursts.
	tellingGoodput = 10
	// sendsFor is in which part of that time an end sends at least, one in so many: of one that pauses, averages tell how often
	// it has something to send.
	sendsFor = 8
)

// goodput is what came through to a host of what queue pairs sent of which much was retransmitted for a while.
type goodput struct {
	stormSum
	to   packet.Addr
	qpn  uint32
	rest float64 // bytes a nanosecond, in the other time
}

// goodput says how much new payload came through to each host while much was retransmitted, and in the rest of the capture, of
// the requests of a sum; "": little was, most of that time nothing was sent, where that was measured, or it is not known.
func (t *teller) goodput(s *lossSum) string {
	if !t.timed() {
		return ""
	}
	var list []*goodput
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		for from := range c.Ends {
			e := &c.Ends[from]
			if !s.ends[party(e)] {
				continue
			}
			storm := e.Trouble.Storm()
			rest := e.Last - c.First - storm.Time
			if tellingGoodput*storm.Time < e.Last-c.First || rest < storm.Time {
				continue
			}
			if waits := e.Trouble.Settled(e.Stalled).Sum.Lost; c.Timing != nil && !sendsIn(&c.Timing.Ends[from].Busy, storm.First, storm.Last, waits) {
				continue
			}
			g := &goodput{to: c.Ends[1-from].Addr, qpn: e.QPN}
			for _, o := range list {
				if o.to == g.to {
					g = o
				}
			}
			if g.add(e); g.on == 1 {
				list = append(list, g)
			}
			g.rest += float64(sub(e.Bytes-min(e.Bytes, storm.Sent.Bytes), e.Trouble.Again.Bytes-min(e.Trouble.Again.Bytes, storm.Again.Bytes))) / float64(rest)
		}
	}
	if len(list) == 0 || len(list) > portsShown {
		return ""
	}
	said := make([]string, 0, len(list))
	for _, g := range list {
		said = append(said, g.String())
	}
	return "new payload: " + strings.Join(said, "; ")
}

func (g *goodput) String() string {
	const second = int64(1e9)
	of, in := fmt.Sprintf("on QP 0x%x", g.qpn), "the "
	if g.on > 1 {
		of, in = "on "+count(g.on, "queue pair"), "up to "
	}
	return fmt.Sprintf("%s to %v %s in %s%s in which much was retransmitted (%s sent), %s in the rest",
		rate(uint64(g.fresh*1e9), second), g.to, of, in, span(g.longest), rate(uint64(g.sent*1e9), second), rate(uint64(g.rest*1e9), second))
}

// sendsIn reports whether an end sends between two times, and does not pause most of them, but for a time that it waits for
// what was lost. Where that is known of some of it only, this tells.
func sendsIn(b *timing.Busy, from, to, waits int64) bool {
	if n := len(b.Windows); b.Full && n > 0 {
		to = min(to, b.Windows[n-1].At*timing.BusyWidth)
	}
	sends := int64(0)
	for _, w := range b.Windows {
		if at := w.At * timing.BusyWidth; at+timing.BusyWidth > from && at <= to {
			sends += timing.BusyWidth
		}
	}
	return sendsFor*sends >= to-from-waits
}
