package incident

import (
	"fmt"
	"time"

	"ibwitness/fabricagent"
	"ibwitness/packet"
)

// How soon a host that is back sends an ARP request at most for which that may be why, and after how many of several times it does at least.
const (
	asksSoon  = int64(time.Second)
	asksLeast = 2
)

// asksWhenBack says that a host which was down several times sent ARP requests soon after some of these, and at no other time, as where its
// link was down: its interface then forgets which Ethernet addresses it knew. "": it did not.
func (t *teller) asksWhenBack(i *Incident, a packet.Addr, downs []hostSilence) string {
	if len(t.run.Taps) > 1 {
		return ""
	}
	var frames []uint64 // the first after each of the times
	last := -1
	for k := range t.run.Signs {
		s := &t.run.Signs[k]
		if s.By != fabricagent.ByARP || s.Host != a || s.To.IsZero() {
			continue
		}
		n := 0
		for n < len(downs) && (downs[n].to == 0 || s.At < downs[n].to || s.At > downs[n].to+asksSoon) {
			n++
		}
		switch {
		case n == len(downs):
			return ""
		case n != last:
			last, frames = n, append(frames, s.Frame)
		}
	}
	if len(frames) < asksLeast {
		return ""
	}
	i.show(frames...)
	return fmt.Sprintf("%v sent ARP requests within %s of its return from %d of these times, "+
		"the first in frame %d, and no others, as where its own link was down",
		a, span(asksSoon), len(frames), frames[0])
}
