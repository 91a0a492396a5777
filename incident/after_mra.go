package incident

import (
	"fmt"
	"time"

	"ibwitness/rule"
	"ibwitness/verifier/cm"
)

// afterMRA says, of a REJ that ends an exchange in which an MRA had asked for more time, who had asked for how much, and how long the other side waited. It returns what tells it from others of the same hosts and
// reason; "": no MRA came before it.
func (t *teller) afterMRA(i *Incident, f *rule.Finding) string {
	for k := range t.run.Delayed {
		if d := &t.run.Delayed[k]; d.Frame == f.Frame && d.Tap == f.Tap {
			t.delayed(i, d)
			return " after MRA"
		}
	}
	return ""
}

// delayed is afterMRA of one.
func (t *teller) delayed(i *Incident, d *cm.Delayed) {
	by, other := i.Peer.Addr.String(), i.Local.Addr.String() // who asked for more time, and who waited
	to := "REQ"
	if d.OfREP {
		by, other, to = other, by, "REP"
	}
	self := d.ByAsker == d.OfREP // who asked for more time sent the REJ
	since := d.Asked
	if d.Since != 0 {
		since = min(since, d.Since)
	}
	i.show(d.MRA)
	i.Begin, i.Lost = min(i.Begin, since), time.Duration(max(d.At-since, 0))
	i.What = i.What[:len(i.What)-1]
	if self {
		i.What += fmt.Sprintf("; %s had first asked for more time (MRA)%s.", by, t.within(", %s before", d.At-d.Asked))
	} else {
		i.What += fmt.Sprintf("; %s had asked for more time (MRA)%s, and did not answer.", by, t.within(" %s before", d.At-d.Asked))
	}
	s := fmt.Sprintf("of %s, in frame %d", by, d.MRA)
	if d.Since != 0 {
		s += t.within(", %s after the "+to, d.Asked-d.Since)
	}
	s += fmt.Sprintf(": for up to %s (service timeout)", span(d.Timeout))
	if t.timed() {
		s += fmt.Sprintf("; the REJ came %s after it", span(d.At-d.Asked))
		if d.Late() {
			s += ", when that was over"
		}
		if d.Since != 0 {
			s += fmt.Sprintf(": %s waited %s in all", other, span(d.At-d.Since))
		}
	}
	i.fact("MRA", s)
	if self {
		i.Next = append(i.Next, "what the program on "+by+" did in that time: it had the "+to+", and asked for the delay itself or its communication manager did")
		return
	}
	if d.Late() && t.timed() {
		i.FitsWith = append([]string{"a program on " + by + " that takes longer than its communication manager said, or hangs: the service timeout of the MRA was not kept", "an answer of " + by + " that was lost"}, i.FitsWith...)
	} else {
		i.FitsWith = append([]string{"a program on " + by + " that is slow to take the " + to + ", and one on " + other + " that does not wait as long as the MRA asks for"}, i.FitsWith...)
	}
	i.Next = append([]string{"the program on " + by + ": where it waits before it accepts or rejects (its log, its stack)"}, i.Next...)
}
