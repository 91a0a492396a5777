package incident

import (
	"fmt"
	"net"
)

// paused tells which ports had the other end of their link pause. Who they are the frames tell by their Ethernet address only.
func (t *teller) paused() {
	for k := range t.run.Paused {
		p := &t.run.Paused[k]
		if p.Begun == 0 {
			continue
		}
		what := "all its traffic"
		if !p.All {
			what = fmt.Sprintf("priority %d", p.Priority)
		}
		i := &Incident{Kind: Paused, Certainty: Proven, Begin: p.Time, End: p.LastTime, Ongoing: p.Held, Lost: p.Least, Tap: p.Tap}
		i.show(p.Frame, p.LastFrame)
		long := "for " + t.span(int64(p.Least))
		if p.Most > p.Least {
			long = fmt.Sprintf("for %s at least and %s at most, as the speed of the link is not in the capture", t.span(int64(p.Least)), t.span(int64(p.Most)))
		}
		i.What = fmt.Sprintf("The port with Ethernet address %v had the other end of its link pause %s %s, %s.", net.HardwareAddr(p.From[:]), what, times(p.Begun), long)
		i.fact("frames", fmt.Sprintf("%s, %s of %d bit times in all", count(p.Frames, "pause frame"), number(p.Quanta)+" quanta", 512))
		i.fact("longest", t.span(int64(p.Longest)))
		if p.Unresumed > 0 {
			i.fact("ended", fmt.Sprintf("%s by running out, and not by a pause frame that resumes", times(p.Unresumed)))
		}
		i.FitsWith = []string{"a receiver that cannot take what is sent to it: its host, its memory, or its PCIe link is slow", "congestion after the port, which it hands back"}
		i.Next = []string{"which host or switch port has that Ethernet address, and its pause counters (ethtool -S: rx_prioN_pause, tx_prioN_pause)", "what that host does: who is slow there has the others wait"}
		t.tell(i, fmt.Sprint(p.From, p.All, p.Priority, p.Tap))
	}
}
