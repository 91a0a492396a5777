package incident

import (
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/verifier/cm"
)

// mostHeld is of how many connections with a host at most it is found out how many were open when it refused others.
const mostHeld = 1024

// held is a connection with a host that refuses others: of which client, and from when until when it was open.
type held struct {
	client      packet.Addr
	since, over int64 // 0: since before the first refusal, or not yet
}

func (h *held) at(time int64) bool { return h.since <= time && (h.over == 0 || h.over > time) }

// limitOverAll says that a host refuses connections since it takes so many of all its clients: as many were open at each of its refusals, of different clients, and
// never more, while some client had more of them than those that were refused. Connections count of which the capture shows traffic without their beginning, until they are disconnected.
func (t *teller) limitOverAll(i *Incident, r *cm.Refusal) {
	at := slices.Index(i.FitsWith, limitOf(i.Peer.Addr))
	if k := slices.IndexFunc(i.FitsWith, func(s string) bool { return s == roomAgain(i.Peer.Addr, i.roomOf) }); i.roomOf != nil && k >= 0 {
		at = k
	}
	refusals := t.refusalsOf(i.Peer.Addr, r)
	if at < 0 || len(refusals) < 2 || len(refusals) > mostCompared {
		return
	}
	open, before := t.heldBy(i.Peer.Addr, r.Service)
	limit := heldAt(open, refusals[0].Time)
	var refused []packet.Addr
	other := false // a client had more than one that was refused
	for _, f := range refusals {
		if heldAt(open, f.Time) != limit {
			return
		}
		if !slices.Contains(refused, f.Peer.Addr) {
			refused = append(refused, f.Peer.Addr)
		}
		other = other || moreThan(open, f.Peer.Addr, f.Time)
	}
	over := slices.ContainsFunc(open, func(h held) bool { return heldAt(open, h.since) > limit })
	if limit < 2 || len(refused) < 2 || !other || over {
		return
	}
	also := ""
	if before > 0 {
		also = fmt.Sprintf(", with %d that show traffic only, and not how they began, until they were disconnected", before)
	}
	i.Facts = slices.DeleteFunc(i.Facts, func(f Fact) bool { return f.Label == "open" })
	i.fact("open", fmt.Sprintf("%d connections of all clients with %v at each of its %d refusals, of %s, and never more%s; a client had more of them than the one that it refused",
		limit, i.Peer.Addr, len(refusals), someOf(refused), also))
	s := fmt.Sprintf("a limit of %d connections that the program on %v takes of all clients together", limit, i.Peer.Addr)
	if i.roomOf != nil {
		s += fmt.Sprintf(", which had room again when those of %s had ended", someOf(i.roomOf))
	}
	i.FitsWith[at] = s
}

// roomAgain is what fits where a host accepts connections that it had refused, after those of others ended.
func roomAgain(host packet.Addr, ended []packet.Addr) string {
	return fmt.Sprintf("a limit of how many connections the program on %v takes, which had room again when those of %s had ended", host, someOf(ended))
}

// refusalsOf returns those of a host that are alike, of any client.
func (t *teller) refusalsOf(host packet.Addr, r *cm.Refusal) (list []*rule.Finding) {
	for k := range t.run.Findings {
		f := &t.run.Findings[k]
		if f.Rule != rule.EvReject || f.Class != rule.Event || f.Accused.Addr != host {
			continue
		}
		if o, _ := cm.ParseRefusal(f.Detail); !o.ByAsker && o.Reason == r.Reason && o.Service == r.Service && o.NVMeStatus() == r.NVMeStatus() {
			list = append(list, f)
		}
	}
	return list
}

// heldBy returns the connections for a service, or for one that is not known, with a host, and how many of them began without CM showing it, thus before the capture; nil: it is not known.
func (t *teller) heldBy(host packet.Addr, service string) (list []held, before int) {
	of := map[[2]rule.Endpoint]string{} // of which service
	for _, f := range t.accepted(host) {
		of[[2]rule.Endpoint{bare(&f.Accused), bare(&f.Peer)}] = f.Detail
	}
	for k := range t.run.Connections {
		c := &t.run.Connections[k]
		n := slices.IndexFunc(c.Ends[:], func(e agent.End) bool { return e.Addr == host })
		if n < 0 || !c.Service.Reliable() {
			continue
		}
		e, peer := &c.Ends[n], &c.Ends[1-n]
		h := held{peer.Addr, c.First, c.Closed.At}
		if c.PairedBy != agent.ByCM {
			if !e.QPNKnown || !peer.QPNKnown {
				return nil, 0
			}
			h.since = 0
			before++
		} else if s := of[[2]rule.Endpoint{{Addr: peer.Addr, QPN: peer.QPN}, {Addr: e.Addr, QPN: e.QPN}}]; s != service {
			continue
		}
		if list = append(list, h); len(list) > mostHeld {
			return nil, 0
		}
	}
	return list, before
}

// bare is the address and the queue pair of an endpoint.
func bare(e *rule.Endpoint) rule.Endpoint { return rule.Endpoint{Addr: e.Addr, QPN: e.QPN} }

// heldAt is how many of connections were open at a time.
func heldAt(list []held, time int64) (n int) {
	for k := range list {
		if list[k].at(time) {
			n++
		}
	}
	return n
}

// moreThan reports whether a client had more open connections at a time than a given one.
func moreThan(list []held, client packet.Addr, time int64) bool {
	of, most := map[packet.Addr]int{}, 0
	for k := range list {
		if h := &list[k]; h.at(time) {
			of[h.client]++
			most = max(most, of[h.client])
		}
	}
	return most > of[client]
}
