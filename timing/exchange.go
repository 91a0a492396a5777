package timing

import (
	"math/bits"
	"time"

	"ibwitness/packet"
	"ibwitness/wqe"
)

const (
	// mostOwed is how many messages of an end may wait for one of its peer so that it is known since when.
	mostOwed = 256
	// fewestAnswers is from how many messages of each end on it is said who answers whom, and oneFor how many times as many as may wait they are then.
	fewestAnswers = 32
	oneFor        = 8
)

// Exchange is how many messages each of two ends owes the other, where one answers each of the other with one of its own. Only those count that complete a receive request: SENDs, and WRITEs
// with immediate. How many there were before the first that was seen is known by the MSNs of the ACKs, which count the messages of a connection from its beginning.
type Exchange struct {
	sides          [2]side
	recent, before span // of lead: since the number of messages was last a power of two, and between that and the one before
	earlier        span // and between the two before that
	newest         int64
}

// side is what is known of the messages of an end.
type side struct {
	count  uint64 // that were seen
	all    uint64 // and those of all operations
	base   uint32 // those that MSNs count beyond these
	known  bool   // base is
	moved  uint64 // how often base changed: packets were missed, or the MSNs are wrong
	others bool   // there were messages of other operations
	at     int64  // when the newest message came
	frame  uint64
	lead   span             // what it was over the newest messages, when that came
	drifts bool             // and that was all above or below what it had been before them
	peers  uint64           // messages of the peer until then
	times  *[mostOwed]int64 // when the newest messages came
	waits  *Waits           // of its messages for those of the peer
	rest   time.Duration    // that none of its messages waited
	served time.Duration    // that some did
}

// span is the least and the greatest of some numbers.
type span struct{ low, high int }

func (s span) with(n int) span { return span{min(s.low, n), max(s.high, n)} }
func (s span) and(o span) span { return span{min(s.low, o.low), max(s.high, o.high)} }
func (s span) beyond(o span) bool {
	return s.low > o.low && s.high > o.high || s.low < o.low && s.high < o.high
}
func (s span) plus(n int) span    { return span{s.low + n, s.high + n} }
func (s span) of(end int) span    { return [2]span{s, {-s.high, -s.low}}[end] }
func ahead(lead, end int) int     { return [2]int{lead, -lead}[end] }
func (x *Exchange) lead() int     { return int(x.sides[0].count) - int(x.sides[1].count) }
func (x *Exchange) latest() span  { return x.recent.and(x.before) }
func signed(n uint32) int         { return int(int32(n<<8) >> 8) }
func powerOfTwo(n uint64) bool    { return n&(n-1) == 0 }
func (s *side) started() bool     { return s.known && s.base == 0 }
func (s *side) countedOnly() bool { return s.known && !s.others }

// offset is how many messages the first end had sent more than the second before those that were seen.
func (x *Exchange) offset() (n int, known bool) {
	a, b := &x.sides[0], &x.sides[1]
	known = a.started() && b.started() || a.countedOnly() && b.countedOnly()
	return signed(a.base - b.base), known && (a.moved+b.moved)*oneFor <= a.count+b.count
}

// Taking is how many messages of an end that complete a receive request were seen.
func (x *Exchange) Taking(end int) uint64 { return x.sides[end].count }

// sent takes the last packet of a message of an end.
func (x *Exchange) sent(from int, op wqe.Op, p *packet.Packet) {
	x.sides[from].all++
	if fn := p.Opcode.Fn(); op == wqe.Send || fn == packet.WriteLastImm || fn == packet.WriteOnlyImm {
		x.message(from, p.Time, p.Frame)
	} else {
		x.sides[from].others = true
	}
}

// message takes a message of an end that completes a receive request.
func (x *Exchange) message(from int, at int64, frame uint64) {
	s, peer := &x.sides[from], &x.sides[1-from]
	if s.times == nil {
		s.times = new([mostOwed]int64)
	}
	offset, known := x.offset()
	if known && x.newest != 0 {
		x.pass(offset, time.Duration(at-x.newest))
	}
	x.newest = at
	s.times[s.count%mostOwed] = at
	s.count++
	if known {
		peer.answered(int(s.count)-1-ahead(offset, 1-from), at, frame)
	}
	lead := x.lead()
	if powerOfTwo(s.count + peer.count) {
		x.earlier, x.before, x.recent = x.before, x.recent, span{lead, lead}
	}
	x.recent = x.recent.with(lead)
	s.at, s.frame, s.lead, s.peers = at, frame, x.latest(), peer.count
	s.drifts = s.lead.beyond(x.earlier)
}

// pass has time go by in which no message came.
func (x *Exchange) pass(offset int, d time.Duration) {
	for k := range x.sides {
		if s := &x.sides[k]; ahead(x.lead()+offset, k) > 0 {
			s.served += d
		} else {
			s.rest += d
		}
	}
}

// answered notes that a message has come for that of the end which is number i of those that were seen.
func (s *side) answered(i int, at int64, frame uint64) {
	if i < 0 || i >= int(s.count) || int(s.count)-i > mostOwed || s.times == nil || s.times[i%mostOwed] == 0 {
		return
	}
	if s.waits == nil {
		s.waits = new(Waits)
	}
	s.waits.Add(time.Duration(at-s.times[i%mostOwed]), at, frame)
}

// acknowledged takes an ACK, after which some messages of an end wait for theirs: the MSN counts the others.
func (x *Exchange) acknowledged(end int, p *packet.Packet, open []Message) {
	if p.Opcode.Fn() != packet.Acknowledge || p.Syndrome.Type() != packet.ACK {
		return
	}
	s, n := &x.sides[end], uint32(len(open))
	if n > 0 && open[n-1].Sent == 0 {
		n--
	}
	base := (p.MSN + n - uint32(s.all)) & packet.PSNMask
	if s.known && base != s.base {
		s.moved++
		x.start()
	}
	s.base, s.known = base, true
}

// start has no span be known any more.
func (x *Exchange) start() {
	lead := x.lead()
	x.recent, x.before, x.earlier = span{lead, lead}, span{lead, lead}, span{lead, lead}
}

// merge adds what is known of a connection that turned out to be this one. turned says that the first end of it is the second of this one.
func (x *Exchange) merge(gone *Exchange, turned bool) {
	for k := range x.sides {
		from := k
		if turned {
			from = 1 - k
		}
		x.sides[k].merge(&gone.sides[from])
	}
	x.newest = max(x.newest, gone.newest)
	x.start()
}

func (s *side) merge(o *side) {
	switch {
	case s.count == 0:
		s.times = o.times
	case o.count > 0:
		s.times = nil
	}
	if s.at < o.at {
		s.at, s.frame = o.at, o.frame
	}
	if s.waits == nil {
		s.waits = o.waits
	} else if o.waits != nil {
		s.waits.merge(o.waits)
	}
	s.count, s.all, s.others = s.count+o.count, s.all+o.all, s.others || o.others
	s.peers += o.peers
	s.rest, s.served, s.known = s.rest+o.rest, s.served+o.served, false
}

// InARow reports whether the peer of an end has sent more messages since the newest of that than one of the two ever was ahead before, of late: then it has answered what waited, and nothing waits for it.
func (x *Exchange) InARow(end int) bool {
	s, peer := &x.sides[end], &x.sides[1-end]
	return s.count > 0 && int(peer.count-s.peers) > max(s.lead.high-s.lead.low, 1)
}

// Stopped is that an end, which had kept pace with its peer, sends nothing any more, while its peer sent more messages than one of the two had been ahead before. Which of them answers the other is not known.
type Stopped struct {
	Count  uint64 // messages of the end that were seen
	Newest int64  // when the last of them came, nanoseconds since the Unix epoch
	Frame  uint64 // in which frame
	Apart  int    // most messages that the two were apart until then, of late
	More   int    // messages of the peer since
}

// fewestMore is how many messages of the peer there are at least after the newest of an end that has stopped.
const fewestMore = 4

// Stopped reports whether an end has stopped so.
func (x *Exchange) Stopped(end int) (k Stopped, ok bool) {
	s, peer := &x.sides[end], &x.sides[1-end]
	k = Stopped{s.count, s.at, s.frame, s.lead.high - s.lead.low, int(peer.count - s.peers)}
	return k, s.count >= 2*fewestAnswers && k.More >= fewestMore && k.More > k.Apart && uint64(k.Apart)*oneFor <= s.count
}

// Apart is how many messages the two ends were apart at most, of late, beyond the least that they were.
func (x *Exchange) Apart() int {
	l := x.latest()
	return l.high - l.low
}

// Several reports whether messages of an end waited for the other end several at a time, of late, as far as is known: those of one end lead by more than a message, or are more apart at times than
// at others.
func (x *Exchange) Several() bool {
	l := x.latest()
	offset, known := x.offset()
	return x.Apart() > 1 || known && max(l.high+offset, -l.low-offset) > 1
}

// Answers is what an end sends in return for each message of its peer.
type Answers struct {
	By       int           // the end that answers
	Count    uint64        // messages of it that were seen
	Newest   int64         // when the last of them came, nanoseconds since the Unix epoch
	Frame    uint64        // in which frame
	Depth    int           // most messages of the peer that waited at once until then, of late
	Open     int           // that wait now
	Least    int           // and the least
	Waits    *Waits        // how long messages of the peer waited, if they were answered in their order; nil: that is not known
	Rest     time.Duration // that no message of the peer waited
	Served   time.Duration // that some did
	Requests uint64        // messages of the peer that were seen
	Asked    int64         // when the last of them came
	Chance   bool          // two that send when they like may be no more apart: that one answers the other is not shown
}

// Answers returns which end answers each message of its peer with one of its own, where that is known: never more are ahead than a few, and the peer always is; not where the peer gets further ahead
// all the time, as one of two that send at the same pace and which sends something more now and then.
func (x *Exchange) Answers() (a Answers, ok bool) {
	offset, known := x.offset()
	if !known {
		return a, false
	}
	for by := range x.sides {
		s, peer := &x.sides[by], &x.sides[1-by]
		lead := s.lead.plus(offset).of(1 - by)
		if s.drifts || s.count < fewestAnswers || peer.count < fewestAnswers || lead.low < 0 || lead.high < 1 || uint64(lead.high)*oneFor > s.count {
			continue
		}
		if ok {
			return Answers{}, false // each answers the other
		}
		open := ahead(x.lead()+offset, 1-by)
		a, ok = Answers{
			By: by, Count: s.count, Newest: s.at, Frame: s.frame, Depth: lead.high, Open: open, Least: lead.low,
			Waits: peer.waits, Rest: peer.rest, Served: peer.served, Requests: peer.count, Asked: peer.at, Chance: s.byChance(),
		}, true
	}
	return a, ok
}

// byChance reports whether the messages of two ends that send independently, each when it likes, may be no more apart than these were: the difference
// is a random walk then, which stays within r of n steps about once in exp(pi*pi/2*n/(r*r)) times, less than once in 1,000 where n is 1.5*r*r.
func (s *side) byChance() bool {
	all, r := s.count+s.peers, s.lead.high-s.lead.low
	since := uint64(1) << bits.Len64(all) / 4 // as of recent and before
	return 2*(all-since) < 3*uint64(r*r)
}
