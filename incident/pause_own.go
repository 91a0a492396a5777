package incident

import (
	"fmt"
	"slices"

	"ibwitness/link"
	"ibwitness/timing"
)

// ownPort reports whether a port that has others pause is that of the host whose packets go to it, and not of a router before.
func ownPort(p *link.Paused) bool {
	return len(p.Hosts) == 1 && p.Own.HopLimit != 0 && p.Own.Host == p.Hosts[0]
}

// slowHost is what fits of a host that has its own link pause: no number of senders makes that bring more than it can.
const slowHost = "a host that takes data more slowly than its link brings it: its PCIe link, memory bandwidth, IOMMU, " +
	"or its adapter that waits for those (cache misses of queue pairs or memory regions)"

// atSlowHost asks what a host does that has its own link pause.
func atSlowHost(p *link.Paused) []string {
	return []string{
		fmt.Sprintf("on %v: its PCIe link (lspci -vv: width, speed), "+
			"its adapter (ethtool -S: outbound_pci_stalled_wr, outbound_pci_buffer_overflow, rx_discards_phy), "+
			"memory bandwidth, NUMA node, IOMMU", p.Hosts[0]),
		whosePort(p),
	}
}

// ofSlowHost has pauses of a host's own port fit that host, and no number of senders.
func (i *Incident) ofSlowHost(p *link.Paused) {
	if ownPort(p) {
		i.FitsWith = []string{slowHost}
		i.Next = append(atSlowHost(p),
			"ECN thresholds and congestion control only after that: they have senders slow down sooner, and make that host no faster")
	}
}

const (
	bunchesLeast = 2 // bunches, of as many pauses as bunchPauses in the mean
	bunchPauses  = 3 // or more
	bunchShare   = 4 // of the time, one part in so many at most in which they are
	slowerTimes  = 2 // as long at least do messages take meanwhile that are told
)

// bunched reports whether the pauses of a port came in bunches, with long times without one between.
func bunched(p *link.Paused) bool {
	busy := int64(0)
	for _, b := range p.Bunches {
		busy += b.To - b.From
	}
	n := len(p.Bunches)
	return n >= bunchesLeast && n < link.MostBunches && p.Begun >= bunchPauses*uint64(n) && bunchShare*busy <= p.LastTime-p.Time
}

// bunchesOf says when the pauses of a port came, in bunches; "": they did not, or that is not known.
func (t *teller) bunchesOf(p *link.Paused) string {
	if !t.timed() || !bunched(p) {
		return ""
	}
	var pauses, lengths, apart []int64
	busy := int64(0)
	for k, b := range p.Bunches {
		pauses, lengths, busy = append(pauses, int64(b.Pauses)), append(lengths, b.To-b.From), busy+b.To-b.From
		if k > 0 {
			apart = append(apart, b.From-p.Bunches[k-1].From)
		}
	}
	each := fmt.Sprintf("%d pauses each", pauses[0])
	if least, most := slices.Min(pauses), slices.Max(pauses); least != most {
		each = fmt.Sprintf("%d to %d pauses each", least, most)
	}
	said := fmt.Sprintf("%d bursts of %s, for %s, %s from one to the next", len(p.Bunches), each,
		between(span(slices.Min(lengths)), span(slices.Max(lengths))), between(span(slices.Min(apart)), span(slices.Max(apart))))
	if part := int64(p.Most) * 100 / max(busy, 1); part <= 100 && (p.Most <= p.Least || throughout(p)) {
		said += fmt.Sprintf(": paused for %d %% of these", part)
	}
	return said
}

// slowedBy says how much longer messages to the host of a port took in the bursts or periods of its pauses than others as large, and that none was lost or
// marked, as far as this is known.
func (t *teller) slowedBy(i *Incident, p *link.Paused) {
	times, what := p.Bunches, "bursts"
	if !bunched(p) {
		times, what = periods(p), "periods"
	}
	if len(p.Hosts) != 1 || !t.timed() || len(times) == 0 {
		return
	}
	sent, clean := t.messagesToPort(p)
	largest := uint32(0)
	for _, s := range sent {
		largest = max(largest, s.Bytes)
	}
	var meanwhile, other []int64
	for _, s := range sent {
		switch {
		case s.Bytes != largest:
		case slices.ContainsFunc(times, func(b link.Bunch) bool { return s.Begin <= b.To && s.End >= b.From }):
			meanwhile = append(meanwhile, s.End-s.Begin)
		default:
			other = append(other, s.End-s.Begin)
		}
	}
	if len(meanwhile) < tellingRounds || len(other) < tellingRounds {
		return
	}
	slices.Sort(meanwhile)
	slices.Sort(other)
	in, out := meanwhile[len(meanwhile)/2], other[len(other)/2]
	if out <= 0 || in < slowerTimes*out {
		return
	}
	said := fmt.Sprintf("messages of %s to %v took %s from the first packet to the last in the median in these %s (%d), and %s otherwise (%d)",
		count(uint64(largest), "byte"), p.Hosts[0], span(in), what, len(meanwhile), span(out), len(other))
	if clean {
		said += "; nothing sent to it was retransmitted, and the capture shows no mark (CE) on it"
	}
	i.fact("effect", said)
}

// messagesToPort are the messages to the host of a port of which it is kept when they were sent, and whether nothing of these connections was retransmitted
// or marked.
func (t *teller) messagesToPort(p *link.Paused) (list []timing.Sent, clean bool) {
	clean = true
	for k := range t.run.Connections {
		c := &t.run.Connections[k]
		for e := range c.Ends {
			if c.Ends[1-e].Addr != p.Hosts[0] {
				continue
			}
			if c.Timing == nil {
				clean = false
				continue
			}
			first, newest, _ := c.Timing.Ends[e].AllSent()
			list = append(append(list, first...), newest...)
			clean = clean && c.Ends[e].Trouble == nil && c.Timing.Ends[e].Marked == 0
		}
	}
	return list, clean
}
