package incident

import (
	"fmt"
	"slices"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
)

// endsAtOnce is within how long a kernel closes the TCP connections of a program that ends, and its queue pairs stop.
const endsAtOnce = int64(20 * time.Millisecond)

// programsEnded makes incidents one in which a queue pair of a host stopped in the midst of a message, and others answer nothing, when its kernel closed TCP connections with other hosts than one too, all at
// once: a program of it ended, while the host goes on.
func (t *teller) programsEnded(list []Incident) []Incident {
	merged := map[*Incident]bool{}
	if !t.timed() || t.lossy() {
		return list
	}
	for n := range list {
		i := &list[n]
		if i.fin == nil || i.Kind != Unanswered || merged[i] {
			continue
		}
		with := t.closesAtOnce(i.fin)
		var stopped []*Incident
		for m := range list {
			o := &list[m]
			if o.leftOff != "" && !merged[o] && o.Local.Addr == i.Peer.Addr && o.Ongoing && max(i.fin.At-o.Begin, o.Begin-i.fin.At) <= endsAtOnce {
				stopped = append(stopped, o)
			}
		}
		if len(with) < 2 || len(stopped) == 0 {
			continue
		}
		t.programEndedAt(i, with, stopped)
		for _, o := range stopped {
			merged[o] = true
		}
	}
	return without(list, merged)
}

// closesAtOnce are the FINs of a host to others, one to each, at once with one of them, and that.
func (t *teller) closesAtOnce(fin *agent.Sign) (list []*agent.Sign) {
	var to []packet.Addr
	for n := range t.run.Signs {
		s := &t.run.Signs[n]
		if s.By != fabricagent.ByFIN || s.Host != fin.Host || max(s.At-fin.At, fin.At-s.At) > endsAtOnce || slices.Contains(to, s.To) {
			continue
		}
		to = append(to, s.To)
		if k := t.run.Closes(s.Host, s.To, fin.At-endsAtOnce, fin.At+endsAtOnce+1); k != nil {
			list = append(list, k)
		}
	}
	return list
}

// programEndedAt has an incident tell that a program of its peer ended, which shows by FINs and by what stopped.
func (t *teller) programEndedAt(i *Incident, fins []*agent.Sign, stopped []*Incident) {
	first, last, hosts := fins[0].At, fins[0].At, []packet.Addr(nil)
	for _, s := range fins {
		first, last, hosts = min(first, s.At), max(last, s.At), append(hosts, s.To)
		i.showAt(s)
	}
	i.Facts = slices.DeleteFunc(i.Facts, func(f Fact) bool { return f.Label == "TCP" })
	i.fact("TCP", fmt.Sprintf("%v closed TCP connections with %s by FIN within %s, the first in frame %d", i.Peer.Addr, sorted(hosts), span(last-first), fins[0].Frame))
	said := make([]string, 0, len(stopped))
	for _, o := range stopped {
		apart, when := first-o.Begin, "before"
		if apart < 0 {
			apart, when = -apart, "after"
		}
		said = append(said, fmt.Sprintf("%s, %s %s the first FIN", o.leftOff, span(apart), when))
		if o.Tap == i.Tap {
			i.show(o.Frames...)
		}
		i.foundToo(o.Found)
		i.Begin = min(i.Begin, o.Begin)
		i.Connections += o.Connections
	}
	i.fact("left off", enumerateSeparately(said))
	i.What = fmt.Sprintf("A program on %v ended or was killed, at %s: its kernel closed TCP connections with %s at once, and a queue pair of it stopped in the midst of a message. %s",
		i.Peer.Addr, t.offset(first), count(uint64(len(fins)), "host"), i.What)
	i.Certainty = min(i.Certainty, Likely)
	i.FitsWith = []string{programEnded(i.Peer.Addr.String(), 1)}
	i.Next = slices.DeleteFunc(i.Next, func(s string) bool { return s == reached(i.Peer.Addr.String()) })
}
