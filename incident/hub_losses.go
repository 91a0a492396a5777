package incident

import (
	"fmt"
	"slices"

	"ibwitness/packet"
)

// fewestHosts is with how many others the connections of a host must have lost packets for that to be what they have in common.
const fewestHosts = 2

// pairLosses is how often packets between two hosts had to be retransmitted, and about how many there were with requests and responses.
type pairLosses struct {
	rounds uint32
	sent   uint64
}

// mostLeads is how many incidents tell of losses that several connections have in common, at most.
const mostLeads = 8

// commonLosses says in the first of the incidents of losses what they have in common, and in the first of those of which that does not tell.
func (t *teller) commonLosses(list []Incident) {
	sums := t.pathsAcross(list)
	if s := t.lostAtOnce(list); s != nil {
		sums = append(sums, s)
	}
	for range mostLeads {
		n := slices.IndexFunc(list, func(i Incident) bool {
			return (i.Kind == Loss || i.Kind == Retransmitting) && !i.explained && !i.again.late && !slices.ContainsFunc(sums, func(s *lossSum) bool { return i.sum == s || s.between(&i) })
		})
		if n < 0 {
			return
		}
		i := &list[n]
		if t.commonLossesOf(i); i.sum == nil {
			return
		}
		sums = append(sums, i.sum)
	}
}

// commonLossesOf says in an incident of losses which host all of them have in common, where its connections with several others lost packets, and those without it did not, or which path or queue.
func (t *teller) commonLossesOf(i *Incident) {
	if i.ofTrimmed || i.ofMarked || t.pathOf(i, i.Local.Addr) || t.pathOf(i, i.Peer.Addr) || i.onePath {
		return // others with the host do not lose packets, or why they are lost is known
	}
	pairs := t.lossesByPair()
	for _, x := range [...]packet.Addr{i.Local.Addr, i.Peer.Addr} {
		if withAll(x, pairs) && t.sidesOfTap(i, x) {
			return
		}
		s := t.sumOfLosses(x, true, anyHost)
		if s.incast = t.incastOf(s) != ""; s.incast && t.lead(i, s, "") {
			return
		}
		common := commonLoss(x, pairs)
		fits := fmt.Sprintf("the link, adapter or switch port of %v: it is what they have in common", x)
		switch common.beside {
		case notCommon:
			continue
		case tooFewBeside:
			if i.Kind != Retransmitting || !t.leadOfHost(i, x) {
				continue
			}
			return
		case sparedHosts:
		case noneBeside: // so have all
			i.FitsWith = append(i.FitsWith, fits)
		case cleanBeside:
			i.FitsWith = slices.Insert(i.FitsWith, 0, fits)
		}
		i.fact("hosts", common.said)
		t.leadOfHost(i, x)
		return
	}
	t.leadOfPair(i)
}

// leadOfPair has an incident of losses tell of all that one host lost on the way to another, on several connections, where it is of one of these.
func (t *teller) leadOfPair(i *Incident) {
	if !i.losses() || i.Kind != Retransmitting || i.sum != nil || i.ofAll {
		return
	}
	s := t.sumOfLosses(i.Peer.Addr, true, func(a packet.Addr) bool { return a == i.Local.Addr })
	if s.implied > 0 {
		return
	}
	why := fmt.Sprintf("; %s of %s that it sent on these were retransmitted (%s)", number(s.packets), count(s.requests, "packet"), share(s.packets, s.requests))
	s.sent = s.requests
	others := slices.DeleteFunc(slices.Clone(i.Facts), func(f Fact) bool { return f.Label != "others" })
	if t.lead(i, s, why) {
		i.Facts = append(i.Facts, others...)
	}
}

// anyHost is true of each host.
func anyHost(packet.Addr) bool { return true }

// leadOfHost has an incident of losses tell of all that was lost to host x, or from it, where that has the direction in common.
// It reports whether it has.
func (t *teller) leadOfHost(i *Incident, x packet.Addr) bool {
	s := t.sumOfLosses(x, true, anyHost)
	if t.lead(i, s, s.otherWay("from it")) {
		return true
	}
	if s.against == 0 {
		return false
	}
	s = t.sumOfLosses(x, false, anyHost)
	return t.lead(i, s, s.otherWay("to it"))
}

// withAll reports whether all pairs have a host in common.
func withAll(x packet.Addr, pairs map[pair]pairLosses) bool {
	for k := range pairs {
		if k.a != x && k.b != x {
			return false
		}
	}
	return true
}

// lossesByPair adds up what connections had to retransmit.
func (t *teller) lossesByPair() map[pair]pairLosses {
	pairs := map[pair]pairLosses{}
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		if !c.Service.Reliable() {
			continue
		}
		k := pairBy(c.Ends[0].Addr, c.Ends[1].Addr)
		p := pairs[k]
		for e := range c.Ends {
			p.rounds += lost(&c.Ends[e])
			p.sent += c.Ends[e].Packets
		}
		pairs[k] = p
	}
	return pairs
}

// fares is how connections fare beside those of a host that had to retransmit.
type fares int

const (
	notCommon    fares = iota // not all that lost packets have the host in common, or others that have it fared better
	tooFewBeside              // nothing was lost on others, which carried too little to tell
	cleanBeside               // nothing was lost on those without it
	sparedHosts               // nothing was lost on those of the host with some others
	noneBeside                // there are none: all have the host in common
)

// hostLoss is what connections of a host have in common that had to retransmit, and how that is said; "": nothing shows that it is the host, or is not.
type hostLoss struct {
	beside fares
	said   string
}

// commonLoss tells whether connections of a host with several others had to retransmit, and none without it.
func commonLoss(x packet.Addr, pairs map[pair]pairLosses) hostLoss {
	var with, without pairLosses
	var lossy []packet.Addr
	none, often, clean := 0, 0, uint64(0)
	for k, p := range pairs {
		if k.a != x && k.b != x {
			without.rounds, without.sent = without.rounds+p.rounds, without.sent+p.sent
			none++
			continue
		}
		if with.rounds, with.sent = with.rounds+p.rounds, with.sent+p.sent; p.rounds == 0 {
			clean += p.sent
			continue
		}
		if p.rounds >= tellingRounds {
			often++
		}
		other := k.a
		if other == x {
			other = k.b
		}
		lossy = append(lossy, other)
	}
	telling := func(sent uint64) bool { return uint64(with.rounds)*sent >= tellingMisses*with.sent }
	if often < fewestHosts || without.rounds > 0 {
		return hostLoss{}
	}
	for k, p := range pairs {
		if (k.a == x || k.b == x) && p.rounds < tellingRounds && telling(p.sent) {
			return hostLoss{} // the packets of a pair that has the host in common fared better
		}
	}
	slices.SortFunc(lossy, packet.Addr.Compare)
	hosts := fmt.Sprintf("connections of %v with %d hosts had to retransmit (with %s); ", x, len(lossy), someOf(lossy))
	switch {
	case telling(clean):
		return hostLoss{sparedHosts, fmt.Sprintf("%sthose with others, with %s, nothing: it is not what all of these pass, as the link and port of %v", hosts, count(clean, "packet"), x)}
	case none == 0:
		return hostLoss{noneBeside, hosts + "all connections of the capture have that host in common"}
	case telling(without.sent):
		return hostLoss{cleanBeside, fmt.Sprintf("%sthose without it, with %s in all, had to retransmit nothing", hosts, count(without.sent, "packet"))}
	}
	return hostLoss{beside: tooFewBeside}
}
