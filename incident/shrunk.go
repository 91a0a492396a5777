package incident

import (
	"cmp"
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// shrinks tells of the request of stall k of end from of c, which nothing answers, that packets as large passed that way before, and that
// since the first such request was not answered only smaller ones do; or that smaller ones after it on the same queue pair refute that. It reports whether it told either: several requests are not answered, or their
// responder has taken this one, and smaller ones are.
func (t *teller) shrinks(i *Incident, c *agent.Connection, from int, k *qp.Stall, l *life) bool {
	r, read := &k.Request, k.Request.Op == wqe.Read
	p := t.passageOf(c, from, read)
	if p == nil || r.Tail || rest(r) || r.Op.Responded() && !read || k.NAKs > 0 || k.Part > 0 || p.larger || !t.timed() || t.lossy() {
		return false
	}
	size, as, carries, sender, receiver := r.Payload, "", "carries", i.Local.Addr.String(), i.Peer.Addr.String()
	if read {
		size, as = t.asksFor(c, from, r)
		carries, sender, receiver = "asks for packets with", receiver, sender
	}
	most, last := p.LargeSince(p.begun)
	if p.never < 2 && k.PassedOver == 0 || p.Since(max(p.begun, k.Begun)) < 2 || last == 0 || min(size, p.least) <= max(most, fitsAny) ||
		t.passedSince(c, p.sender, max(most, fitsAny), p.since) {
		return false
	}
	if !read && !k.Asked && smallBehind(c, from, max(most, fitsAny)) { // of those that brought one, no other is due
		i.notSized = true
		i.fact("size", fmt.Sprintf("not why: packets of this queue pair after it, with %s of payload at the least, bring no NAK for what is before them", count(uint64(c.Ends[from].AfterStalled.Least), "byte")))
		return true
	}
	if l.ended(&c.Ends[1-from]) {
		i.FitsWith = append(i.FitsWith, fmt.Sprintf("less likely a path from %s to %s whose MTU became smaller then: "+
			"only packets with at most %s of payload were answered since", sender, receiver, count(uint64(most), "byte")))
		i.Next = append(i.Next, checkMTU(c.Encap, r, size, sender, receiver))
		return true
	}
	since := fmt.Sprintf("since such requests are not answered, what was from %s to %s carried at most %s in an RDMA packet, the newest %s after it was first retransmitted", sender, receiver, count(uint64(most), "byte"), span(p.Newest-k.Begun))
	if p.never > 1 {
		since += fmt.Sprintf("; %d requests with larger ones were not, the oldest on each of as many connections", p.never)
	}
	i.fact("size", fmt.Sprintf("it %s %s of payload%s; %s", carries, count(uint64(size), "byte"), as, since))
	i.fact("before", fmt.Sprintf("a larger one was answered last %s before the first such request was retransmitted", span(p.begun-last)))
	i.FitsWith = append([]string{"a path from " + sender + " to " + receiver + " whose MTU became smaller then, by a change of a route, a switch or an interface: larger packets vanish, smaller ones arrive"}, i.FitsWith...)
	i.Next = append([]string{checkMTU(c.Encap, r, size, sender, receiver)}, i.Next...)
	i.What += fmt.Sprintf(" From %s to %s, RDMA packets with more than %s of payload were answered before, and only smaller ones since.", sender, receiver, count(uint64(most), "byte"))
	i.sized = true
	return true
}

// smallBehind reports whether end from of c sent a packet of at most so many bytes of payload after the request that nothing answers: had only the
// larger ones vanished, its responder would have sent a NAK for these.
func smallBehind(c *agent.Connection, from int, most uint32) bool {
	b := &c.Ends[from].AfterStalled
	return c.Service == packet.RC && b.Known && b.Least <= most
}

// smallRefute reports whether small packets of the queue pair after the request of stall k of end from of c, which is no READ, bring no NAK for
// it: it did not vanish by its size, while smaller packets pass.
func (t *teller) smallRefute(p *passage, c *agent.Connection, from int, k *qp.Stall) bool {
	return k.Request.Op != wqe.Read && !k.Asked && smallBehind(c, from, max(p.Most, fitsAny))
}

// passedSince reports whether packets from a host with more than so many bytes of payload were answered after a time to that of c, on a
// connection on which no request waits, and its requester sent another after that time: what was sent before it, and is not answered, was not
// lost by its size.
func (t *teller) passedSince(c *agent.Connection, sender packet.Addr, most uint32, since int64) bool {
	return slices.ContainsFunc(t.siblings(c), func(d *agent.Connection) bool {
		if d.Timing == nil || d.Ends[0].Stalled || d.Ends[1].Stalled {
			return false
		}
		for e := range d.Ends {
			x := d.Timing.Ends[e].Acked
			if d.Ends[e].Addr != sender {
				x = d.Timing.Ends[e].Read
			}
			x.InPackets(cmp.Or(d.PMTU, largestMTU))
			if large, _ := x.LargeSince(since); large > most && d.Timing.Ends[e].LastRequest() > since {
				return true
			}
		}
		return false
	})
}
