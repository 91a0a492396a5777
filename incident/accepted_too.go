package incident

import (
	"fmt"
	"slices"
	"time"

	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/verifier/cm"
)

// besides is how long before a REJ and after it, in nanoseconds, a connection was accepted beside what that refused.
const besides = int64(time.Second)

// mostCompared is how many refusals are compared by what was accepted beside each.
const mostCompared = 64

// acceptedToo says how many connections of the same client for the same service a host accepted beside those that it refused, and how many of any client were open then.
func (t *teller) acceptedToo(i *Incident, r *cm.Refusal, all *refused) {
	if r.Service == "" || r.ByAsker || !t.timed() {
		return
	}
	n, each := t.acceptedBeside(i, r, all)
	if n == 0 {
		return
	}
	beside := "them"
	if each && all.times() > 1 {
		n, beside = n/all.times(), "each of them"
	}
	i.fact("others", fmt.Sprintf("%v accepted %s of %v for the same service beside %s", i.Peer.Addr, count(n, "connection"), i.Local.Addr, beside))
	i.fact("open", t.openWhenRefused(i.Peer.Addr, r.Service, all))
	i.FitsWith = slices.Insert(i.FitsWith, 0, limitOf(i.Peer.Addr))
	i.Next = append(i.Next, fmt.Sprintf("the log of the program on %v, and its limits of connections, queue pairs and memory, against how many connections %v asks for", i.Peer.Addr, i.Local.Addr))
}

// acceptedBeside counts the connections that a host accepted beside its refusals, and reports whether they are as many beside each.
func (t *teller) acceptedBeside(i *Incident, r *cm.Refusal, all *refused) (n uint64, each bool) {
	beside := make([]uint64, min(len(all.at), mostCompared)) // each refusal
	for _, f := range t.accepted(i.Peer.Addr) {
		if f.Accused.Addr != i.Local.Addr || f.Detail != r.Service || f.Time <= all.at[0]-besides || f.Time >= all.at[len(all.at)-1]+besides {
			continue
		}
		n++
		for k, at := range all.at[:len(beside)] {
			if f.Time > at-besides && f.Time < at+besides {
				beside[k]++
			}
		}
	}
	sum := uint64(0)
	for _, b := range beside {
		if sum += b; b != beside[0] {
			return n, false
		}
	}
	return n, sum == n && len(beside) == len(all.at) // else some are beside none, or beside several
}

// openWhenRefused says how many connections for a service, which began in the capture, were open at a host when it refused others; "": that is not known.
func (t *teller) openWhenRefused(host packet.Addr, service string, all *refused) string {
	first, last := t.openAt(host, service, all.at[0]), t.openAt(host, service, all.at[len(all.at)-1])
	hosts := map[packet.Addr]bool{}
	for _, f := range first {
		hosts[f.Accused.Addr] = true
	}
	s := fmt.Sprintf("%s of %s for the same service, which began in the capture, when it refused", count(uint64(len(first)), "connection"), count(uint64(len(hosts)), "host"))
	switch {
	case len(first) == 0:
		return ""
	case all.times() > 1 && len(last) == len(first):
		s += ", the first time and the last"
	case all.times() > 1:
		s += fmt.Sprintf(" the first time, and %d the last", len(last))
	}
	return s
}

// openAt returns the connections for a service that a host had accepted in the capture, and neither end had disconnected, at a time.
func (t *teller) openAt(host packet.Addr, service string, at int64) (open []*rule.Finding) {
	over := map[[2]rule.Endpoint]int64{} // when a connection was last disconnected
	for k := range t.run.Findings {
		if f := &t.run.Findings[k]; f.Rule == rule.EvDisconnect && f.Class == rule.Event && f.Time <= at {
			over[[2]rule.Endpoint{f.Accused, f.Peer}], over[[2]rule.Endpoint{f.Peer, f.Accused}] = f.Time, f.Time
		}
	}
	for _, f := range t.accepted(host) {
		if f.Detail == service && f.Time <= at && over[[2]rule.Endpoint{f.Accused, f.Peer}] < f.Time {
			open = append(open, f)
		}
	}
	return open
}
