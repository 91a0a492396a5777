package incident

import "fmt"

// fewestUnheld is from how many PSNs on that were acknowledged, and that the capture does not hold, it is told to have lost them: of one its requester may have left out the number.
const fewestUnheld = 2

// unheld is the requests that were acknowledged although the capture does not hold them.
type unheld struct {
	psns        uint64
	connections int
	tap         uint16
	frames      []uint64 // in which they were first acknowledged, on the first of them
}

// unheld counts them.
func (t *teller) unheld() *unheld {
	if t.lost != nil {
		return t.lost
	}
	u := &unheld{}
	t.lost = u
	for i := range t.run.Connections {
		c := &t.run.Connections[i]
		n := uint64(0)
		for k := range c.Ends {
			x := c.Ends[k].Trouble
			if x == nil || x.Missing.Acked == 0 || x.Overtaking != nil {
				continue // what came late is not missing
			}
			n += uint64(x.Missing.Acked)
			if len(u.frames) == 0 {
				u.tap, u.frames = c.FirstTap, []uint64{x.Missing.AckedFrame}
			}
		}
		if n > 0 {
			u.connections++
		}
		u.psns += n
	}
	return u
}

// lossy reports whether the capture has lost packets, so that it may lack any answer.
func (t *teller) lossy() bool { return t.run.Dropped > 0 || t.unheld().psns >= fewestUnheld }

// lossFits adds that the capture may have lost an answer.
func (t *teller) lossFits(i *Incident) {
	if t.unheld().psns >= fewestUnheld {
		i.FitsWith = append(i.FitsWith, "an answer that is among the packets which the capture lost")
	}
}

// lostFrames tells that the capture has lost packets without saying so.
func (t *teller) lostFrames() {
	u := t.unheld()
	if u.psns < fewestUnheld {
		return
	}
	i := &Incident{Kind: Untrusted, Certainty: Proven, Begin: t.run.First, End: t.run.Last, Tap: u.tap}
	i.show(u.frames...)
	i.What = fmt.Sprintf("The capture lost packets: %s that it does not hold, of %s, were acknowledged, and it shows no retransmission of them.", count(u.psns, "PSN"), count(uint64(u.connections), "connection"))
	if len(t.run.Taps) > 1 {
		i.Certainty = Likely
	}
	i.FitsWith = []string{"a capture that dropped frames without saying so, or a mirror port that did", "a path of several, of which the tap sees some"}
	i.Next = []string{"the drop counters of the mirror port and of the capturing host", "capture with a larger buffer (tcpdump -B), fewer bytes of each packet (-s 256), or a filter on the hosts of interest"}
	t.order = append(t.order, i)
}
