package incident

import (
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/timing"
	"ibwitness/wqe"
)

const (
	largestMTU = 4096 // bytes, of a queue pair
	fitsAny    = 512  // bytes of payload that every path takes
)

// passage is how large the packets were that one host sent to another in SENDs, WRITEs and responses to READs which were answered, on all connections of a service, and in those which never were.
type passage struct {
	sender          packet.Addr
	timing.Answered                 // Most is of a packet
	acks            timing.Answered // SENDs and WRITEs the other way, that packets without payload acknowledged
	connections     int             // on which there were any
	other           bool            // not all were READs
	never           int             // requests that are not answered, at most one on each connection: the oldest
	open            uint64          // all that wait on these connections
	least           uint32          // bytes of the largest packet of that of them for which it is the smallest
	begun           int64           // when the first of them was retransmitted
	since           int64           // when the first of them was sent
	mean            uint32          // bytes of payload of a packet on average, on the connection with the most on which nothing waits or did
	unsure          bool            // on one of these are messages of which the answer was not seen
	larger          bool            // larger ones passed, which are not counted
}

// passageOf returns what is known of the packets that requests of end from of c have sent, or READs of it have asked for; nil: that was not measured.
func (t *teller) passageOf(c *agent.Connection, from int, read bool) *passage {
	way := way{c.Ends[from].Addr, c.Ends[1-from].Addr}
	if read {
		way.from, way.to = way.to, way.from
	}
	list := t.siblings(c)
	if c.Timing == nil || way.from == way.to || len(list) > mostOthers {
		return nil
	}
	key := passageKey{way, c.Service}
	if p := t.passages[key]; p != nil {
		return p
	}
	if t.passages == nil {
		t.passages = map[passageKey]*passage{}
	}
	p := &passage{sender: way.from}
	t.passages[key] = p
	for _, d := range list {
		for e := range d.Ends {
			if d.Timing != nil && d.Ends[e].Addr == way.from {
				t.adds(p, d, e)
			}
		}
	}
	return p
}

type passageKey struct {
	way
	service packet.Service
}

// adds takes what end e of connection d has sent.
func (t *teller) adds(p *passage, d *agent.Connection, e int) {
	most := uint32(largestMTU)
	if d.PMTU != 0 {
		most = d.PMTU
	}
	acked, read := d.Timing.Ends[e].Acked, d.Timing.Ends[1-e].Read
	p.acks.Merge(&d.Timing.Ends[1-e].Acked)
	if acked.Count+read.Count > 0 {
		p.connections++
	}
	p.other = p.other || acked.Count > 0
	for _, a := range []timing.Answered{acked, read} {
		a.Most = min(a.Most, most)
		a.InPackets(most)
		p.Merge(&a)
	}
	stalled := false
	for from := range d.Ends {
		k, waits := t.vain(d, from)
		if !waits {
			continue
		}
		stalled = true
		p.larger = p.larger || rest(&k.Request) // what is before in the same message was answered
		if size, sends := t.neverSent(d, e, from, &k); sends && !t.follows(d, from, &k) {
			p.neverAnswered(size, k.Since, k.Begun)
			p.open += uint64(d.Ends[from].Open)
		}
	}
	quiet := !stalled && d.Ends[0].Open+d.Ends[1].Open == 0 && d.Ends[0].Trouble == nil && d.Ends[1].Trouble == nil
	if n := d.Ends[e].Packets; quiet && n > 0 {
		p.mean = max(p.mean, uint32(d.Ends[e].Bytes/n))
		p.unsure = p.unsure || untimed(&d.Timing.Ends[e], wqe.Send, wqe.Write) || untimed(&d.Timing.Ends[1-e], wqe.Read)
	}
}

// untimed reports whether there are messages of an end, of some operations, of which it is not known which answer is theirs.
func untimed(e *timing.End, ops ...wqe.Op) bool {
	return slices.ContainsFunc(ops, func(op wqe.Op) bool { return e.Ops[op] != nil && e.Ops[op].Untimed > 0 })
}

// neverAnswered counts a request whose largest packet carries so many bytes, and when it was sent, and retransmitted first.
func (p *passage) neverAnswered(size uint32, since, begun int64) {
	if p.never++; p.never == 1 {
		p.least, p.since, p.begun = size, since, begun
	}
	p.least, p.since, p.begun = min(p.least, size), min(p.since, since), min(p.begun, begun)
}

// neverSent is how many bytes of payload the largest packet carries that end e of d sends for stall k of end from, and whether it sends any but acknowledgments.
func (t *teller) neverSent(d *agent.Connection, e, from int, k *qp.Stall) (size uint32, sends bool) {
	r := &k.Request
	switch {
	case r.Op == wqe.Read:
		size, _ = t.asksFor(d, from, r)
		return size, from != e
	case r.Op.Responded():
		return 0, true // both ways
	case r.Tail && d.PMTU == 0:
		return largestMTU, from == e
	case r.Tail:
		return d.PMTU, from == e
	}
	return r.Payload, from == e
}

// follows reports whether stall k of end from of d follows from one of the other end, whose retries were used up before: its queue pair is in the error state.
func (t *teller) follows(d *agent.Connection, from int, k *qp.Stall) bool {
	first, waits := t.vain(d, 1-from)
	return waits && first.Last < k.Begun
}

// vain returns the stall of a request of end from of d that was retransmitted and never answered, or each answer to which its requester seems not to have taken.
func (t *teller) vain(d *agent.Connection, from int) (k qp.Stall, ok bool) {
	e := &d.Ends[from]
	switch {
	case e.Trouble == nil || e.Trouble.Refusal.Time != 0:
		return k, false
	case e.Stalled:
		k = e.Trouble.Now
		return k, k.NAKs == 0 && (k.Total() > 1 || k.Total() == 1 && t.run.Last-k.Since >= patience)
	}
	s := e.Trouble.Settled(false)
	return t.takesNone(d, from, &s)
}

// asksFor is how many bytes of payload the largest response to a READ of end from of c carries. as says on what that rests, where its path MTU is not known; "": it is.
func (t *teller) asksFor(c *agent.Connection, from int, r *qp.StalledRequest) (size uint32, as string) {
	size, as = t.responseSize(c, from, r)
	if as == "" && c.PMTU == 0 && r.Length > size {
		return min(r.Length, largestMTU), " if its path MTU, which the capture does not tell, is as large"
	}
	return size, as
}

// apart reports whether the sizes of what was answered and of what never was are apart, with a request of stall k whose largest packet carries so many bytes: twice as large, or two smaller ones were
// answered since the first that was not was retransmitted. Where none was answered that way at all, it is acknowledgments that came since.
func (t *teller) apart(p *passage, k *qp.Stall, size uint32) bool {
	most := max(p.Most, p.mean, k.Part)
	if p.larger || p.unsure && p.mean > p.Most || k.Part == 0 && k.Partly || min(size, p.least) <= max(most, fitsAny) {
		return false
	}
	if p.Count == 0 {
		return k.Request.Op == wqe.Read && t.timed() && p.acks.Since(k.Begun) > 1
	}
	return p.Most > 0 && (size >= 2*most || t.timed() && p.Since(p.begun) > 1)
}

// bySize tells of the request of stall k of end from of c, which nothing answers, or whose answers are not taken, that only smaller packets pass that way. It reports whether it is so.
func (t *teller) bySize(i *Incident, c *agent.Connection, from int, k *qp.Stall) bool {
	if k.Request.Tail {
		return t.onlyEnds(i, c, from, k)
	}
	r, read := &k.Request, k.Request.Op == wqe.Read
	p := t.passageOf(c, from, read)
	if p == nil || rest(r) || r.Op.Responded() && !read || k.NAKs > 0 || t.smallRefute(p, c, from, k) {
		return false
	}
	size, as, carries, sender, receiver := r.Payload, "", "carries", i.Local.Addr.String(), i.Peer.Addr.String()
	if !read {
		i.packet = size
	} else {
		size, as = t.asksFor(c, from, r)
		carries, sender, receiver = "asks for packets with", receiver, sender
	}
	knows := p.Count > 0 || i.Kind == Unanswered // else it may be that the responder does not know the queue pair
	if !knows || !t.apart(p, k, size) || p.Since(k.Begun) == 0 && t.lostByOthers(c, from, k) {
		return false
	}
	s := fmt.Sprintf("it %s %s of payload%s", carries, count(uint64(size), "byte"), as)
	h := hole{way: way{c.Ends[from].Addr, c.Ends[1-from].Addr}, most: p.Most, size: size, pmtu: c.PMTU, check: checkMTU(c.Encap, r, size, sender, receiver)}
	if read {
		h.from, h.to = h.to, h.from
	}
	switch {
	case p.Count == 0:
		h.said = fmt.Sprintf(" From %s to %s, acknowledgments came of %s, and no response to a READ.", sender, receiver, count(p.acks.Count, "message"))
		s += "; acknowledgments, which have none, came from " + sender + " to " + receiver + t.passedOn(p, &p.acks, k)
	case p.Count > 1:
		what := "messages"
		if !p.other {
			what = "READs"
		}
		h.said = fmt.Sprintf(" From %s to %s, %s %s in packets of up to %s were answered, and none in larger ones.", sender, receiver, number(p.Count), what, count(uint64(p.Most), "byte"))
		fallthrough
	default:
		s += fmt.Sprintf("; those that were answered from %s to %s carried up to %s", sender, receiver, count(uint64(p.Most), "byte")) + t.passedOn(p, &p.Answered, k)
	}
	i.fact("size", s+t.passBack(c, from, read, size))
	i.FitsWith = append([]string{smallerMTU(sender, receiver)}, i.FitsWith...)
	i.vanishes(h)
	return true
}

// manyAnswered is from how many messages on, which all were smaller than one that is not answered, its size may be why, though it is hardly larger.
const manyAnswered = 16

// perhapsBySize adds, where it is not told already, that the request of stall k of end from of c is larger than all that were answered that way.
func (t *teller) perhapsBySize(i *Incident, c *agent.Connection, from int, k *qp.Stall) {
	r, read := &k.Request, k.Request.Op == wqe.Read
	p := t.passageOf(c, from, read)
	if i.sized || r.Tail || p == nil || rest(r) || r.Op.Responded() && !read || k.NAKs > 0 || t.smallRefute(p, c, from, k) {
		return
	}
	size, as, carries, sender, receiver := r.Payload, "", "carries", i.Local.Addr.String(), i.Peer.Addr.String()
	if read {
		size, as = t.asksFor(c, from, r)
		carries, sender, receiver = "asks for packets with", receiver, sender
	}
	if p.larger || p.unsure && p.mean > p.Most || p.Count < manyAnswered || min(size, p.least) <= max(p.Most, p.mean, k.Part, fitsAny) {
		return
	}
	i.fact("size", fmt.Sprintf("it %s %s of payload%s; %s that were answered from %s to %s carried up to %s", carries, count(uint64(size), "byte"), as, count(p.Count, "message"), sender, receiver, count(uint64(p.Most), "byte"))+t.passedOn(p, &p.Answered, k))
	i.FitsWith = append(i.FitsWith, "a path from "+sender+" to "+receiver+" whose MTU is smaller than the path MTU of the queue pair: larger packets vanish")
	i.Next = append(i.Next, checkMTU(c.Encap, r, size, sender, receiver))
}

// alsoSized has requests of a host that nothing answers fit what has its packets of such a size vanish on the way to another, as told there.
func alsoSized(list []Incident) {
	least := map[packet.Addr]uint32{} // payload of the smallest packets that vanish, by who sends them
	for n := range list {
		if i := &list[n]; i.sized && i.packet > 0 && (least[i.Local.Addr] == 0 || i.packet < least[i.Local.Addr]) {
			least[i.Local.Addr] = i.packet
		}
	}
	for n := range list {
		if i := &list[n]; i.Kind == Unanswered && !i.sized && least[i.Local.Addr] > 0 && i.packet >= least[i.Local.Addr] {
			i.FitsWith = slices.Insert(i.FitsWith, 0, "the same as of what "+i.Local.Addr.String()+" sends to another host, see there: its packets are as large, and such vanish")
		}
	}
}

// lostByOthers reports whether requests of other hosts were not answered either by the peer of end from of c, while stall k lasted: it is not only that way.
func (t *teller) lostByOthers(c *agent.Connection, from int, k *qp.Stall) bool {
	for _, d := range t.withOthers(c, from) {
		for e := range d.Ends {
			if s, waits := t.vain(d, e); waits && d.Ends[e].Addr != c.Ends[1-from].Addr && s.Last > k.Since {
				return true
			}
		}
	}
	return false
}

// onlyEnds tells of the request of stall k of end from of c, of which only the end comes to the tap each time, that the packets before it may be lost by their size: they are as large as the path MTU. It
// reports whether it is so: none as large has come that way.
func (t *teller) onlyEnds(i *Incident, c *agent.Connection, from int, k *qp.Stall) bool {
	p, full := t.passageOf(c, from, false), c.PMTU
	if full == 0 {
		full = largestMTU
	}
	if p == nil || k.Total() < 2 && p.never < 2 || max(p.Most, p.mean, k.Request.Payload) >= full || p.larger {
		return false
	}
	sender, receiver := i.Local.Addr.String(), i.Peer.Addr.String()
	size := "its packets before that carry as much as the path MTU of the queue pair"
	if c.PMTU != 0 {
		size += ", " + count(uint64(full), "byte")
	}
	if p.Most > 0 {
		size += fmt.Sprintf("; those that were answered from %s to %s carried up to %s", sender, receiver, count(uint64(p.Most), "byte")) + t.passedOn(p, &p.Answered, k)
	}
	i.fact("size", size)
	i.FitsWith = append([]string{"a path from " + sender + " to the tap whose MTU is smaller than the path MTU of the queue pair: full packets vanish, the shorter last one arrives"}, i.FitsWith...)
	i.Next = append([]string{checkMTU(c.Encap, &k.Request, full, sender, receiver)}, i.Next...)
	i.sized = true
	return true
}

// passedOn says on how many connections requests were answered, for how long some were after stall k began, and how many were not.
func (t *teller) passedOn(p *passage, some *timing.Answered, k *qp.Stall) (s string) {
	if p.connections > 1 {
		s += fmt.Sprintf(", on %d connections", p.connections)
	}
	if t.timed() && some.Newest > k.Begun {
		s += ", the newest " + span(some.Newest-k.Begun) + " after it was first retransmitted"
	}
	if p.never > 1 {
		s += fmt.Sprintf("; %d requests with larger ones were not, the oldest on each of as many connections", p.never)
		if p.open > uint64(p.never) {
			s += fmt.Sprintf(", where %d wait in all", p.open)
		}
	}
	return s
}

// passBack says that packets pass the other way which carry as much as those that do not pass from end from of c, or to it, where it asks for them; "": none is known to.
func (t *teller) passBack(c *agent.Connection, from int, read bool, size uint32) string {
	if p := t.passageOf(c, from, !read); p != nil && p.Count > 0 && p.Most >= size {
		return fmt.Sprintf("; packets as large of %v were answered the other way", p.sender)
	}
	return ""
}

// checkMTU says how to check whether the packets of a request pass, which carry so many bytes of payload.
func checkMTU(e packet.Encap, r *qp.StalledRequest, size uint32, sender, receiver string) string {
	if !e.OnIP() {
		return fmt.Sprintf("the MTU of both ports and of every switch port from %s to %s (smpquery portinfo)", sender, receiver)
	}
	headers := uint32(12 + 4) // BTH and ICRC, with payload that is padded to 4 bytes: IP, and 8 bytes after it, both have
	switch r.Op {
	case wqe.Read:
		headers += 4 // AETH
	case wqe.Write:
		headers += 16 // RETH
	}
	return fmt.Sprintf("the MTU of both interfaces and of every switch port from %s to %s: ping -M do -s %d %s on %s, which sends packets as large", sender, receiver, (size+3)/4*4+headers, receiver, sender)
}

// vanishOnSeveral reports whether it is told of the request of stall k of end from of c that only smaller packets pass, and larger ones were not
// answered on other connections either.
func (t *teller) vanishOnSeveral(i *Incident, c *agent.Connection, from int, k *qp.Stall) bool {
	if i.hole.size == 0 {
		return false
	}
	p := t.passageOf(c, from, k.Request.Op == wqe.Read)
	return p != nil && p.never > 1
}
