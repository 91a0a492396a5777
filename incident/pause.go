package incident

import (
	"fmt"
	"net"

	"ibwitness/link"
	"ibwitness/packet"
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
		long := t.within(", for %s", int64(p.Least))
		if p.Most > p.Least && t.timed() {
			long = fmt.Sprintf(", for %s at least and %s at most, as the speed of the link is not in the capture", span(int64(p.Least)), span(int64(p.Most)))
		}
		i.What = fmt.Sprintf("The port with Ethernet address %v%s had the other end of its link pause %s %s%s.", net.HardwareAddr(p.From[:]), of(p.Hosts), what, times(p.Begun), long)
		i.fact("frames", count(p.Frames, "pause frame"))
		i.fact("longest", t.within("%s", int64(p.Longest)))
		if p.Unresumed > 0 {
			i.fact("ended", fmt.Sprintf("%s by running out, and not by a pause frame that resumes", times(p.Unresumed)))
		}
		i.FitsWith = []string{"a receiver that cannot take what is sent to it: its host, its memory, or its PCIe link is slow", "congestion after the port, which it hands back"}
		if len(p.Hosts) > 0 {
			i.fact("stops", "what is sent to "+addresses(p.Hosts)+" waits meanwhile: "+what)
		}
		i.Next = []string{"which host or switch port has that Ethernet address, and its pause counters (ethtool -S: rx_prioN_pause, tx_prioN_pause)", "what that host does: who is slow there has the others wait"}
		t.tell(i, fmt.Sprint(p.From, p.All, p.Priority, p.Tap))
	}
}

// of names the hosts whose packets go to a port.
func of(hosts []packet.Addr) string {
	if len(hosts) == 0 {
		return ""
	}
	return ", to which packets for " + addresses(hosts) + " go,"
}

func addresses(list []packet.Addr) string {
	var names []string
	for _, a := range list {
		names = append(names, a.String())
	}
	return enumerate(names)
}

// pauses tells the pauses of a run that goes on from those before them, which ended long ago.
type pauses struct {
	before map[pausing]link.Paused // what each priority of a port had when it was last quiet for long
	begun  map[pausing]link.Paused // and when it first was not, after that
	since  []link.Paused           // what came since
}

// pausing is a port that has the other end of its link pause a priority.
type pausing struct {
	from     [6]byte
	tap      uint16
	all      bool
	priority uint8
}

// take takes what there was of pauses until now, all in all.
func (x *pauses) take(now int64, list []link.Paused) {
	x.since = x.since[:0]
	for i := range list {
		p := list[i]
		k := pausing{p.From, p.Tap, p.All, p.Priority}
		if !p.Held && now-p.LastTime > quiet {
			if x.before == nil {
				x.before, x.begun = map[pausing]link.Paused{}, map[pausing]link.Paused{}
			}
			x.before[k] = p
			delete(x.begun, k)
			continue
		}
		if b, known := x.before[k]; known {
			first, again := x.begun[k]
			if !again {
				first, x.begun[k] = p, p
			}
			p.Time, p.Frame = first.LastTime, first.LastFrame
			p.Frames, p.Quanta, p.Begun, p.Unresumed = p.Frames-b.Frames, p.Quanta-b.Quanta, p.Begun-b.Begun, p.Unresumed-b.Unresumed
			p.Least, p.Most = p.Least-b.Least, p.Most-b.Most
			p.Longest = min(p.Longest, p.Most)
		}
		x.since = append(x.since, p)
	}
}
