package incident

import (
	"cmp"
	"slices"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/rule"
)

// Found is the findings of one rule and class that belong to an incident.
type Found struct {
	Rule  rule.ID
	Class rule.Class
	Count uint64
	Frame uint64 // of the first
	Least bool   // there may be more: not all are kept
}

// own are the rules of which findings belong to incidents that are of hosts, and not of queue pairs.
var own = map[Kind][]rule.ID{
	Damage: {rule.ROCV2019, rule.LNKCRC003, rule.LNKCRC004}, Congestion: {rule.EvCE, rule.EvCNP}, Trimmed: {rule.EvTrimmed}, Rejected: {rule.EvReject}, Unserved: {rule.MADSTS002, rule.MADCPI001, rule.MADINF004},
}

// itself are the events that incidents of connections count themselves, or consist of: the list of findings need not hold each.
var itself = []rule.ID{rule.EvRetransmission, rule.EvDuplicate, rule.EvTimeout, rule.EvSeqNAK, rule.EvRNRNAK}

// counts reports whether an incident counts a finding that belongs to it itself.
func (i *Incident) counts(f *rule.Finding) bool {
	switch i.Kind {
	case Unanswered, NeverAnswered, Exhausted, Interrupted, NotReady, Retransmitting, Loss:
		return f.Class == rule.Event && slices.Contains(itself, f.Rule)
	case Reordered: // which counts the NAKs, and what was retransmitted for them
		return i.late.naks > 0 && f.Class == rule.Event && (f.Rule == rule.EvRetransmission || f.Rule == rule.EvSeqNAK)
	case Rejected: // those that it is about may have begun before, and ended after
		return f.Class == rule.Event && (f.Rule == rule.EvConnect || f.Rule == rule.EvDisconnect)
	}
	return false
}

// gather gives each finding to the first incident that it belongs to: of the same ends, while it lasted.
func gather(list []Incident, findings []rule.Finding) {
	of := map[[2]packet.Addr][]int{}
	key := func(a, b packet.Addr) [2]packet.Addr {
		if a.Compare(b) > 0 {
			a, b = b, a
		}
		return [2]packet.Addr{a, b}
	}
	for n := range list {
		if i := &list[n]; !i.Local.Addr.IsZero() && !i.Peer.Addr.IsZero() {
			k := key(i.Local.Addr, i.Peer.Addr)
			of[k] = append(of[k], n)
			for _, a := range i.Also {
				k := key(a, i.withAlso())
				of[k] = append(of[k], n)
			}
		}
	}
	if len(of) == 0 {
		return
	}
	for n := range findings {
		f := &findings[n]
		if i := ownerOf(list, of[key(f.Accused.Addr, f.Peer.Addr)], f); i != nil && !i.counts(f) && (!i.episodic || f.Rule != rule.EvCE && f.Rule != rule.EvCNP) { // marks between episodes made none of them slow
			i.found(f)
		}
	}
	for n := range list {
		slices.SortStableFunc(list[n].Found, func(a, b Found) int { return cmp.Or(cmp.Compare(b.Class, a.Class), cmp.Compare(b.Count, a.Count)) })
	}
}

// ownerOf returns which of some incidents a finding belongs to: to the one that consists of such, so that they are together, or else to the first; nil: to none.
func ownerOf(list []Incident, some []int, f *rule.Finding) (first *Incident) {
	for _, k := range some {
		i := &list[k]
		if first != nil && !slices.Contains(own[i.Kind], f.Rule) || !i.owns(f) {
			continue
		}
		if slices.Contains(own[i.Kind], f.Rule) {
			return i
		}
		first = i
	}
	return first
}

// owns reports whether a finding between the hosts of an incident belongs to it.
func (i *Incident) owns(f *rule.Finding) bool {
	if !i.spans(f) {
		return false
	}
	if !i.Local.QPNKnown && !i.Peer.QPNKnown {
		return slices.Contains(own[i.Kind], f.Rule)
	}
	local, peer := &f.Accused, &f.Peer
	if local.Addr != i.Local.Addr || local.Addr == peer.Addr && local.QPN != i.Local.QPN {
		local, peer = peer, local
	}
	same := func(e *rule.Endpoint, p *Party) bool { return !e.QPNKnown || !p.QPNKnown || e.QPN == p.QPN }
	return i.Connections > 1 || same(local, &i.Local) && same(peer, &i.Peer) && (local.QPNKnown || peer.QPNKnown)
}

// spans reports whether a finding was made while an incident lasted. To a refusal belong the request that is refused, and what was on its way when the NAK came; to retries that RNR NAKs used up what came after them, too;
// what says that a request had no answer has the time of the request, which a retransmission shows later.
func (i *Incident) spans(f *rule.Finding) bool {
	if i.Kind == Refused && f.Tap == i.Tap && f.Frame == i.refused {
		return true
	}
	unanswered := f.Rule == rule.RCRSP002 || f.Rule == rule.RCRSP005
	return (unanswered || f.Time >= i.Begin) && (f.Time <= i.End || i.Kind == Refused || i.Kind == Exhausted)
}

func (i *Incident) found(f *rule.Finding) {
	for n := range i.Found {
		if k := &i.Found[n]; k.Rule == f.Rule && k.Class == f.Class {
			k.Count++
			return
		}
	}
	i.Found = append(i.Found, Found{Rule: f.Rule, Class: f.Class, Count: 1, Frame: f.Frame})
}

// countAll counts findings of which not all are kept: where all that are belong to one incident, those that are not do too; else there may be more of them.
func countAll(list []Incident, r *agent.Result) {
	if r.Forgotten.Events+r.Forgotten.Findings == 0 {
		return
	}
	type kind struct {
		rule  rule.ID
		class rule.Class
	}
	kept := map[kind]uint64{}
	for n := range r.Findings {
		kept[kind{r.Findings[n].Rule, r.Findings[n].Class}]++
	}
	for n := range list {
		for k := range list[n].Found {
			f := &list[n].Found[k]
			all, listed := made(&r.Cover[f.Rule], f.Class), kept[kind{f.Rule, f.Class}]
			switch {
			case all <= listed:
			case f.Count == listed:
				f.Count = all
			default:
				f.Least = true
			}
		}
	}
}

// made is how many findings of a class there were.
func made(n *rule.Count, class rule.Class) uint64 {
	switch class {
	case rule.Event:
		return n.Exercised
	case rule.Unproven:
		return n.Unproven
	}
	return n.Violated
}
