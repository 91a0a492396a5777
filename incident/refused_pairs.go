package incident

import (
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// refusedPairs are the queue pairs for which a receiver was not ready, of an incident, and those of the same hosts for which it was.
type refusedPairs struct {
	n, srq, endless int
	by              string // who gave the first its RNR retry count
	lost            bool   // something was retransmitted for something else, or is missing
	spared          uint64 // connections
	messages        uint64 // on them
}

// refusedQueuePairs has incidents of receivers that were not ready at times say what CM tells of their queue pairs, whether anything was lost on them, and for how many of the same hosts the receiver was ready.
func (t *teller) refusedQueuePairs(list []Incident) []Incident {
	for n := range list {
		i := &list[n]
		if i.Kind != NotReady || t.run.Packets == 0 {
			continue
		}
		p := t.refusedPairsOf(i)
		if p.n == 0 {
			continue
		}
		if p.srq == p.n {
			for k, f := range i.FitsWith {
				if f == fewReceives {
					i.FitsWith[k] = fmt.Sprintf("a shared receive queue of %v that is empty, as its program posts receives too late or too few: CM says that %s from one", i.Peer.Addr, receiveFrom(p.n))
				}
			}
		}
		if at := slices.Index(i.Next, rnrSettings(i)); at >= 0 && p.endless == p.n {
			i.Next[at] = fmt.Sprintf("min_rnr_timer of %v", i.Peer.Addr)
			i.fact("retries", fmt.Sprintf("without end, so that nothing fails: rnr_retry is %d%s%s", endless, onAll(p.n), p.by))
		}
		if !p.lost && !t.lossy() {
			i.fact("network", "nothing was lost on "+these(p.n)+": only RNR NAKs had anything retransmitted")
		}
		if p.spared > 0 && !i.says("others") {
			i.fact("others", fmt.Sprintf("%v took all that came on %s with the same hosts meanwhile (%s): these most likely receive from another queue", i.Peer.Addr, count(p.spared, "other connection"), count(p.messages, "message")))
		}
	}
	return list
}

func receiveFrom(n int) string {
	if n == 1 {
		return "this queue pair receives"
	}
	return fmt.Sprintf("these %d queue pairs receive", n)
}

func onAll(n int) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf(" on all %d queue pairs", n)
}

func these(n int) string {
	if n == 1 {
		return "this connection"
	}
	return fmt.Sprintf("these %d connections", n)
}

// refusedPairsOf are those of an incident.
func (t *teller) refusedPairsOf(i *Incident) (p refusedPairs) {
	for _, c := range t.serves(i.Peer.Addr) {
		for from := range c.Ends {
			e, peer := &c.Ends[from], &c.Ends[1-from]
			if peer.Addr != i.Peer.Addr || e.Addr == peer.Addr || e.Addr != i.Local.Addr && !slices.Contains(i.Also, e.Addr) || !c.Service.Reliable() {
				continue
			}
			if e.Trouble != nil && e.Trouble.RNR.NAKs > 0 {
				p.add(i, c, from)
			} else if e.Messages > 0 && peer.RNRNAKs == 0 && !takesNoReceive(c, from) && !e.Stalled && t.timed() && c.First <= i.Begin && e.Last >= i.End {
				p.spared, p.messages = p.spared+1, p.messages+e.Messages
			}
		}
	}
	return p
}

// add adds a connection on which its peer was not ready for end from.
func (p *refusedPairs) add(i *Incident, c *agent.Connection, from int) {
	e, peer := &c.Ends[from], &c.Ends[1-from]
	p.n++
	if c.PairedBy == agent.ByCM && peer.SRQ {
		p.srq++
	}
	if by := gaveRNRRetryTo(c, from, peer.Addr); by != "" && e.RNRRetry >= endless && e.Trouble.RNR.MostForRequest > mostCounted {
		p.endless++
		if p.by == "" {
			p.by = by
		}
	}
	p.lost = p.lost || lostAny(e) || lostAny(peer)
}

// gaveRNRRetryTo is gaveRNRRetry of the peer of any connection of an incident.
func gaveRNRRetryTo(c *agent.Connection, from int, by packet.Addr) string {
	return gaveRNRRetry(&Incident{Peer: Party{Addr: by}}, c, from)
}

// lostAny reports whether anything that an end sent may have been lost: it was asked for, or retransmitted by its timer, or the tap lacks it.
func lostAny(e *agent.End) bool {
	k := e.Trouble
	if k == nil {
		return e.Retransmissions > 0 || e.Stalled
	}
	all := k.Settled(false).Sum
	return all.Total() != uint64(all.Rounds[qp.NotReady]) || k.Missing.PSNs > 0 || k.Asked.Before+k.Asked.After+k.Asked.Late > 0 || k.Overtaking.All().Packets > 0 || k.Again.Packets > 0
}
