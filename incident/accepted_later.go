package incident

import (
	"fmt"
	"slices"
	"strings"

	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/verifier/cm"
)

// acceptedLater says when a host accepted connections of a client for a service that it had refused before, or that the client had given up to wait for: more of them at once than beside the
// last refusal. It says, too, which connections of others with that host ended in between, where it had refused.
func (t *teller) acceptedLater(i *Incident, r *cm.Refusal, all *refused) {
	if r.Service == "" || r.ByAsker && r.Reason != mad.RejTimeout || !t.timed() {
		return
	}
	last, beside := all.at[len(all.at)-1], 0
	var later []*rule.Finding
	for _, f := range t.accepted(i.Peer.Addr) {
		switch {
		case f.Accused.Addr != i.Local.Addr || f.Detail != r.Service || f.Time <= last-besides:
		case f.Time < last+besides:
			beside++
		case len(later) == 0 || f.Time < later[0].Time+besides:
			later = append(later, f)
		}
	}
	if len(later) <= beside {
		if !r.ByAsker {
			t.fewerAccepted(i, later, last)
		}
		return
	}
	first, after := later[0], "the last refusal"
	if r.ByAsker {
		after = "it gave up for the last time"
	}
	i.End = max(i.End, first.Time)
	i.show(first.Frame)
	i.What = fmt.Sprintf("%s; %s after %s, %s for the same service %s accepted.", i.What[:len(i.What)-1], span(first.Time-last), after, count(uint64(len(later)), "connection"), were(uint64(len(later))))
	then := fmt.Sprintf("%v accepted %s of %v from %s of the capture on, in frame %d", i.Peer.Addr, count(uint64(len(later)), "connection"), i.Local.Addr, span(first.Time-t.run.First), first.Frame)
	if r.ByAsker {
		i.fact("then", then)
		return
	}
	if n, hosts, frame := t.endedBetween(i, r.Service, last, first.Time); n > 0 {
		then += fmt.Sprintf("; before that, from frame %d on, %s of %s with it ended", frame, count(n, "connection"), someOf(hosts))
		i.FitsWith = slices.DeleteFunc(i.FitsWith, func(s string) bool { return s == limitOf(i.Peer.Addr) })
		i.FitsWith, i.roomOf = slices.Insert(i.FitsWith, 0, roomAgain(i.Peer.Addr, hosts)), hosts
	}
	i.fact("then", then)
}

// fewerAccepted says that a later attempt of a client with no more connections than were accepted beside those that were refused, two or more, was accepted as a whole, and not given up within a second.
func (t *teller) fewerAccepted(i *Incident, later []*rule.Finding, last int64) {
	if len(later) < 2 || later[len(later)-1].Time+besides > t.run.Last {
		return
	}
	first, until := later[0], later[len(later)-1].Time+besides
	for k := range t.run.Findings {
		f := &t.run.Findings[k]
		refused := f.Rule == rule.EvReject && f.Time > last
		ended := f.Rule == rule.EvDisconnect && f.Time > first.Time && f.Time <= until
		between := f.Accused.Addr == i.Peer.Addr && f.Peer.Addr == i.Local.Addr || f.Accused.Addr == i.Local.Addr && f.Peer.Addr == i.Peer.Addr
		if f.Class == rule.Event && between && (refused || ended) {
			return
		}
	}
	for k := range t.run.REQs { // one more that nothing answered
		if q := &t.run.REQs[k]; q.From == i.Local.Addr && q.To == i.Peer.Addr && q.Last > last {
			return
		}
	}
	i.show(first.Frame)
	n := count(uint64(len(later)), "connection")
	i.What = fmt.Sprintf("%s; a later attempt with %s was accepted.", i.What[:len(i.What)-1], n)
	i.fact("then", fmt.Sprintf("%v accepted %s of %v from %s of the capture on, in frame %d, and refused none: so many work", i.Peer.Addr, n, i.Local.Addr, span(first.Time-t.run.First), first.Frame))
	if slices.ContainsFunc(i.Next, func(s string) bool { return strings.HasPrefix(s, "fewer I/O queues") }) {
		return
	}
	i.Next = slices.Insert(i.Next, 0, fmt.Sprintf("fewer connections (I/O queues) of %v, as in its later attempt", i.Local.Addr))
}

// limitOf is what fits where a host refuses a connection, and accepts others beside it.
func limitOf(host packet.Addr) string {
	return fmt.Sprintf("a limit of how many connections the program on %v takes, or takes of one client", host)
}

// endedBetween counts the connections for a service, or for one that is not known, of other hosts with the one that refuses that were disconnected between two times, and returns the first frame.
func (t *teller) endedBetween(i *Incident, service string, since, until int64) (n uint64, hosts []packet.Addr, frame uint64) {
	others := map[[2]rule.Endpoint]bool{} // of other services
	for _, f := range t.accepted(i.Peer.Addr) {
		if f.Detail != service {
			others[[2]rule.Endpoint{f.Accused, f.Peer}], others[[2]rule.Endpoint{f.Peer, f.Accused}] = true, true
		}
	}
	for k := range t.run.Findings {
		f := &t.run.Findings[k]
		if f.Rule != rule.EvDisconnect || f.Class != rule.Event || f.Time <= since || f.Time >= until || others[[2]rule.Endpoint{f.Accused, f.Peer}] {
			continue
		}
		client := f.Peer.Addr
		if client == i.Peer.Addr {
			client = f.Accused.Addr
		} else if f.Accused.Addr != i.Peer.Addr {
			continue
		}
		if client == i.Local.Addr {
			continue
		}
		if n++; n == 1 {
			frame = f.Frame
		}
		if !slices.Contains(hosts, client) {
			hosts = append(hosts, client)
		}
	}
	slices.SortFunc(hosts, packet.Addr.Compare)
	return n, hosts, frame
}
