package agent

import (
	"slices"

	"ibwitness/fabricagent"
	"ibwitness/packet"
)

// mostCloses is how many TCP connections a host closes with another at most that does not do so all the time.
const mostCloses = 3

// Closes returns the first FIN between two times by which a host closed a TCP connection with another that this one had not closed; nil: there is
// none, or the host closes such all the time.
func (r *Result) Closes(host, to packet.Addr, since, until int64) (first *Sign) {
	n := 0
	for k := range r.Signs {
		s := &r.Signs[k]
		if s.By != fabricagent.ByFIN || s.Host != host || s.To != to || slices.ContainsFunc(r.Signs[:k], func(o Sign) bool { return s.Follows(&o) }) {
			continue
		}
		n++
		if first == nil && s.At >= since && s.At < until {
			first = s
		}
	}
	if n > mostCloses {
		return nil
	}
	return first
}

// Follows reports whether a FIN comes after one of the same TCP connection, by either end.
func (s *Sign) Follows(o *Sign) bool {
	return o.By.Closes() && (o.Host == s.To && o.To == s.Host && o.Ports == [2]uint16{
		s.Ports[1],
		s.Ports[0],
	} || o.Host == s.Host && o.To == s.To && o.Ports == s.Ports)
}
