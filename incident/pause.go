package incident

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"ibwitness/link"
	"ibwitness/packet"
)

// paused tells which ports had the other end of their link pause. Who they are the frames tell by their Ethernet address only.
func (t *teller) paused() {
	for k := range t.run.Paused {
		p := &t.run.Paused[k]
		if p.Begun == 0 || t.pausedBy(p) != nil || t.spreadFrom(p) != nil || t.filledBy(p) != nil {
			continue
		}
		what := "all its traffic"
		if !p.All {
			what = fmt.Sprintf("priority %d", p.Priority)
		}
		i := &Incident{Kind: Paused, Certainty: Proven, Begin: p.Time, End: p.LastTime, Ongoing: p.Held, Lost: p.Least, Tap: p.Tap}
		i.show(p.Frame, p.LastFrame)
		long := t.within(", for %s", int64(p.Least))
		switch {
		case p.Most <= p.Least || !t.timed():
		case throughout(p):
			i.Lost = p.Most
			long = ", for " + span(int64(p.Most)) + untilResumed(p)
		default:
			long = fmt.Sprintf(", for %s at least and %s at most, as the speed of the link is not in the capture", span(int64(p.Least)), span(int64(p.Most)))
		}
		i.What = fmt.Sprintf("The port with Ethernet address %s%s had the other end of its link pause %s (%s)%s.", t.portName(p), of(p), times(p.Begun), what, long)
		t.sentAgain(i, p)
		t.eachStorm(i, p)
		i.fact("frames", count(p.Frames, "pause frame"))
		i.fact("longest", t.within("%s", int64(p.Longest)))
		i.fact("ended", endedBy(p))
		t.passesOn(i, p)
		spread := t.spread(i, p)
		t.fills(i, p)
		t.without(i, p)
		i.FitsWith = []string{"a receiver that cannot take what is sent to it: its host, its memory, or its PCIe link is slow", congested}
		if ownPort(p) {
			i.FitsWith = []string{slowHost}
		} else if p.Unowned {
			i.FitsWith = []string{congested, "a host whose port has another address than its packets (SR-IOV, bonding), and that cannot take what is sent to it"}
		}
		if len(p.Hosts) > 0 {
			i.fact("stops", "what is sent to "+addresses(p.Hosts)+" waits meanwhile: "+what)
		}
		i.Next = []string{whosePort(p), "what that host does: who is slow there has the others wait"}
		if ownPort(p) {
			i.Next = atSlowHost(p)
		} else if p.Unowned {
			i.Next[1] = "which of the other ports of that switch were paused then, and what is sent to them"
		}
		t.mannerOfPauses(i, p)
		if !spread {
			t.pausedSender(i, p)
		}
		if t.momentary(i, p) {
			i.What = fmt.Sprintf("The port with Ethernet address %s%s had the other end of its link pause %s, for %s in all (%s): nothing in the capture follows from it.", t.portName(p), of(p), times(p.Begun), span(int64(p.Most)), what)
			i.Facts, i.FitsWith, i.Next = nil, nil, nil
		}
		t.tell(i, fmt.Sprint(p.From, p.All, p.Priority, p.Tap))
		t.stormed(i, p, what, spread)
	}
}

// moment is for how long ports have others pause in all where that delays next to nothing.
const moment = 100 * time.Microsecond

// momentary reports whether the pauses of a port are that short, and led to nothing that is told of them.
func (t *teller) momentary(i *Incident, p *link.Paused) bool {
	return t.timed() && !p.Held && p.Most > 0 && p.Most < moment && len(p.Long) == 0 && !slices.ContainsFunc(i.Facts, func(f Fact) bool {
		return !slices.Contains([]string{"frames", "longest", "ended", "speed", "stops", "manner"}, f.Label)
	})
}

// congested is what fits a switch port.
const congested = "congestion after the port, which it hands back"

// whosePort asks which host or switch has the port, where it is not known, and for its counters.
func whosePort(p *link.Paused) string {
	which := "which host or switch port has that Ethernet address"
	switch {
	case ownPort(p):
		return fmt.Sprintf("the pause counters of %v (%s)", p.Hosts[0], counters(p))
	case len(p.Hosts) > 0:
		which = "whether that Ethernet address is of " + addresses(p.Hosts) + " or of a router before"
	case p.Unowned:
		which = "which switch port has that Ethernet address (LLDP, show interface)"
	}
	return which + ", and its pause counters (" + counters(p) + ")"
}

// counters are those of the port that pauses and of the other end of its link.
func counters(p *link.Paused) string {
	if p.All {
		return "ethtool -S: tx_pause_ctrl_phy there, rx_pause_ctrl_phy at the other end of its link"
	}
	return fmt.Sprintf("ethtool -S: tx_prio%d_pause there, rx_prio%d_pause at the other end of its link", p.Priority, p.Priority)
}

// ranOut is how many pauses of a port are known to have ended without a frame that resumes.
func ranOut(p *link.Paused) uint64 {
	if p.Held && p.Unresumed > 0 { // it is one of them
		return p.Unresumed - 1
	}
	return p.Unresumed
}

// endedBy says how pauses ended that no frame ended which resumes; "": there were none.
func endedBy(p *link.Paused) string {
	var list []string
	if n := ranOut(p); n > 0 {
		list = append(list, times(n)+" by running out, and not by a pause frame that resumes")
	}
	if p.Held {
		list = append(list, "the end of the last one is not shown")
	}
	return strings.Join(list, "; ")
}

// of says whose port it is, as far as packets tell by the Ethernet addresses that they go to.
func of(p *link.Paused) string {
	switch {
	case ownPort(p):
		return fmt.Sprintf(", that of %v, whose own packets come from it with a TTL of %d, as no router sends them,", p.Hosts[0], p.Own.HopLimit)
	case len(p.Hosts) == 1:
		return ", likely that of " + p.Hosts[0].String() + ", as packets for that host go to it and for no other,"
	case len(p.Hosts) > 0:
		return ", to which packets for " + addresses(p.Hosts) + " go,"
	case p.Unowned:
		return ", likely a switch port, as packets for each host go to other addresses,"
	}
	return ""
}

func addresses(list []packet.Addr) string {
	var names []string
	for _, a := range list {
		names = append(names, a.String())
	}
	return enumerate(names)
}

// without says, where the speed of a link is not known, up to which speed it was paused all the time between the frames.
func (t *teller) without(i *Incident, p *link.Paused) {
	if p.Speed != 0 || ranOut(p) > 0 || p.Unbroken == 0 || !t.timed() || p.Most <= p.Least {
		return
	}
	i.fact("speed", fmt.Sprintf("on a link of %s or slower each frame came before the quanta of the one before had run out: it was paused for all of the %s", rate(p.Unbroken/8, int64(time.Second)), span(int64(p.Most))))
}

// From how many frames a pause is one that its port asked for again and again, and for how long it lasts then; and how many short ones are flow control at work.
const (
	stormFrames = 10
	stormTime   = 10 * time.Millisecond
	manyPauses  = 20
	briefPause  = time.Millisecond // and how long each of them is at most
)

const (
	// From which speed of a link on, in bit/s, one is hardly slower that carries RoCE, and from which on it is hardly as fast.
	usualSpeed, farFaster = 25_000_000_000, 1_000_000_000_000
)

// resumedEach reports whether a frame that resumes ended each pause of a port.
func resumedEach(p *link.Paused) bool { return p.Unresumed == 0 && !p.Held && p.Resumed >= p.Begun }

// throughout reports whether a link whose speed is not known was paused from the first frame of each pause to its last, most likely: no usual link
// is so fast that quanta ran out between, or a frame that resumes ended each.
func throughout(p *link.Paused) bool {
	return p.Speed == 0 && ranOut(p) == 0 && (p.Unbroken >= farFaster || p.Unbroken >= usualSpeed && resumedEach(p))
}

// untilResumed says until when the pauses of a port lasted.
func untilResumed(p *link.Paused) string {
	switch {
	case !resumedEach(p) && p.Begun == 1:
		return ""
	case !resumedEach(p):
		return " in all"
	case p.Begun == 1:
		return ", until a frame resumed"
	}
	return " in all, until a frame resumed each time"
}

// mannerOfPauses tells a port that does not let go from one that resumes each time: what they fit differs.
func (t *teller) mannerOfPauses(i *Incident, p *link.Paused) {
	mean := ""
	if p.Begun > 1 {
		mean = " on average"
	}
	switch {
	case !letsGo(p):
		each := (p.Frames - p.Resumed) / p.Begun
		lets := "the port does not let go"
		takes := "a receiver that takes nothing any more: a host, an adapter or a PCIe link that hangs (a pause storm)"
		if resumedEach(p) {
			lets = "it takes nothing for so long, and then a frame resumes"
			takes = "a receiver that takes nothing for a while: its PCIe link, memory, IOMMU or adapter stalls, and goes on by itself"
		}
		i.fact("manner", fmt.Sprintf("it asked again with %s%s before a pause ended: %s", count(each-1, "frame"), mean, lets))
		i.FitsWith = []string{takes, "a port after it that is paused itself: the other end of its own link has it wait"}
		i.Next = []string{
			whosePort(p),
			"if it is a host: dmesg, firmware, PCIe errors, width and speed of its PCIe link (lspci -vv), and whether its receive buffer was full (ethtool -S: rx_discards_phy, rx_out_of_buffer)",
			"if it is a switch: its PFC watchdog, and which of its other ports was paused then",
		}
		if ownPort(p) {
			i.FitsWith, i.Next = i.FitsWith[:1], slices.Delete(i.Next, 2, 3)
			slices.Reverse(i.Next)
		} else if p.Unowned {
			slices.Reverse(i.FitsWith)
			i.Next = slices.Delete(i.Next, 1, 2)
		}
	case p.Begun >= manyPauses && p.Unresumed*tenth <= p.Begun && p.Longest < briefPause:
		if said := cmp.Or(t.bunchesOf(p), t.periodsOf(p)); said != "" {
			i.fact("manner", fmt.Sprintf("it resumed %s, in %s", eachTime(p), said))
			t.slowedBy(i, p)
		} else {
			i.fact("manner", fmt.Sprintf("it resumed %s%s", eachTime(p), t.within(": a pause began every %s on average", (p.LastTime-p.Time)/int64(p.Begun))))
		}
		i.FitsWith = []string{"flow control at work: a buffer that fills and is emptied again and again, as with more senders than its link has room for, or a receiver that is a little slower"}
		i.Next = append([]string{"whether the senders react to marks before pauses begin: ECN thresholds and congestion control for this priority"}, i.Next...)
		i.ofSlowHost(p)
	}
}

// eachTime says how often a port resumed of how often it might have.
func eachTime(p *link.Paused) string {
	switch {
	case ranOut(p) > 0:
		return fmt.Sprintf("%d of %s", p.Begun-p.Unresumed, times(p.Begun))
	case p.Held:
		return "each time but the last, whose end is not shown"
	}
	return "each time"
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
			p.Frames, p.Resumed, p.Quanta, p.Begun, p.Unresumed = p.Frames-b.Frames, p.Resumed-b.Resumed, p.Quanta-b.Quanta, p.Begun-b.Begun, p.Unresumed-b.Unresumed
			p.Least, p.Most = p.Least-b.Least, p.Most-b.Most
			p.Longest = min(p.Longest, p.Most)
			p.Calm, p.Back, p.Bunches = 0, nil, nil // of all its time
			p.Each = slices.DeleteFunc(slices.Clone(p.Each), func(s link.Lasting) bool { return s.From <= b.LastTime })
		}
		x.since = append(x.since, p)
	}
}
