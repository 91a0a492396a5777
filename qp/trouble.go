package qp

import (
	"math"
	"time"

	"ibwitness/packet"
	"ibwitness/wqe"
)

// Trouble is what kept the requests of a queue pair from being answered: for who tells of incidents. Few send queues have it; a requester that goes on without retransmitting
// has none.
//
// Times are nanoseconds since the Unix epoch.
type Trouble struct {
	Now      Stall                // the newest one; Rounds are 0 where there was none
	Attempts Attempts             // at its request
	Longest  [longestStalls]Stall // of those that are over, the longest first
	Sum      Stalls               // of all that are over
	Again    Sums                 // what was retransmitted in all, but after RNR NAKs: packets and payload; no messages
	Refused  Sums                 // what was after RNR NAKs
	Round    RetransmissionCause  // of the newest round
	From     packet.PSN           // with which that began
	Refusal  Refusal
	NAK      struct { // the newest RNR NAK
		PSN  packet.PSN
		Time int64 // when it came; 0: the requester has resumed since
		Code uint8 // of its timer
	}
	Late struct { // rounds that the requester's timer began although the answer was on its way: each copy was answered
		Rounds uint32
		Ahead  uint32 // other rounds, of SENDs and WRITEs, likewise: an ACK of what the requester had not come to again ended them
		// The newest stall that only the timer made: the PSNs that were retransmitted, in how many rounds, and how many more answers show that the first copy had one too: any, or to the last
		// PSN of each round, which a responder acknowledges only once it has all.
		From, To, Last packet.PSN
		Of, LastLeft   uint16
		Left           uint32
		Unsent         uint16 // of Of, those that Unsent counts
		OfAhead        uint16 // of Of, those that Ahead counts
	}
	Copies      Copies // that the timer had retransmitted, and their answers
	AnswersSeen uint32 // rounds that the requester's timer began although the tap had seen the answer
	Passed      uint32 // rounds that a later response began, likewise
	WentShort   uint32 // rounds that its timer began, before which the tap had not seen the end of the one before
	Unsent      uint32 // rounds that its timer began, before which the responder had sent nothing, as its IPv4 identifications show
	PeerID      uint16 // IPv4 identification of the newest packet of the responder when the newest stall was first retransmitted; 0: it has none
	PeerSilent  bool   // the newest stall is one of such rounds
	AckAhead    bool   // an ACK of what had not been retransmitted in it has ended the newest stall: what was sent first had come
	PassedOver  uint32 // rounds that its timer began for a READ or atomic that had no response, though one to a later request had come
	Cut         uint32 // rounds that its timer began for a READ of which only the last packets of the response were missing: see Stall.LackedEnd
	Earlier     uint32 // rounds that the requester's timer began with what it had sent before the capture
	RNR         RNRSums
	Missing     Missing
	Asked       struct { // PSN sequence NAKs, by where the packet was lost that they ask for
		Before uint32 // before the tap, which had not seen it in order
		After  uint32 // after it
		Late   uint32 // nowhere: the responder took it though it was not retransmitted, as others had only overtaken it
		LateAt int64  // when the newest of these was shown
		Tails  Tails  // of After
	}
	Notified *Notified // nil: it was not

	Overtaking *Overtaking // of requests; nil: none was overtaken
	Responses  *Overtaking // likewise of responses to READs
	Storming   *Storming   // nil: nothing was retransmitted
	Back       Back
}

const longestStalls = 4

// LongStall is how long a stall lasts at least that is told apart from other losses, nanoseconds.
const LongStall = int64(100 * time.Millisecond)

// SlowAnswer is how long a requester waits without retransmission at least for that to be noted: see NoteSlow and NoteSilence.
const SlowAnswer = int64(500 * time.Millisecond)

// RetransmissionCause is what had a requester retransmit.
type RetransmissionCause uint8

// The causes.
const (
	TimerExpired  RetransmissionCause = iota // nothing in the capture has asked for it
	SequenceAsked                            // a PSN sequence NAK
	NotReady                                 // an RNR NAK
	ResponseLost                             // a later response came before one that it needs
	NumCauses
)

// Stall is a time in which a requester made no progress: its oldest request that is not acknowledged was retransmitted, or refused by an RNR NAK, until it was answered.
type Stall struct {
	Request    StalledRequest
	Rounds     [NumCauses]uint32 // how many times the requester went back, by cause
	NAKs       uint32            // RNR NAKs
	Unseen     uint16            // rounds of its timer that begin with what the capture had not shown: it was lost before the tap, or not recorded; 65,535 or more
	OnlyNAKed  bool              // of PassedOver: that is a PSN sequence NAK for a later one
	Cut        bool              // the first packets of the response to this READ had come when its timer had it retransmitted, and the last ones not
	Packets    uint32            // that it retransmitted
	Bytes      uint64            // their payload
	Since      int64             // when the request was sent that waits, as far as it was kept; else when a response last made progress
	Begun      int64             // when it was first retransmitted or refused
	Last       int64             // when it last was
	Ended      int64             // when it was answered; 0: it was not, or when is not known
	High       packet.PSN        // PSN after the newest request when it last was
	Tap        uint16
	Skipped    bool // a response to a later request has Ended it, as far as is known: this READ or atomic lacks its own, and waits on if it is retransmitted
	LostAgain  bool // what Ended it is a PSN sequence NAK for a later packet, which was lost too
	Frames     StallFrames
	PassedOver uint32 // low bits of the frame of a response to a later request, while this READ or atomic had none of its own; 0: none
	Part       uint32 // bytes of the largest response that came to this READ while it was retransmitted, though not all did; 0: none came
	Late       bool   // each copy was answered
	Later      bool   // the newest round begins after the first request that the capture holds: what is before it was answered
	Acked      bool   // the tap had seen its answer when it was retransmitted
	Partly     bool   // a response to this READ had come when it was retransmitted from its beginning
	AnswerLost bool   // and that had long passed it
	Before     bool   // the capture had not shown what was retransmitted first, or lacks what was sent meanwhile: it was lost before the tap, or not recorded
	Asked      bool   // a PSN sequence NAK asks for it
	Unshown    bool   // a PSN sequence NAK asks for one before it, which the capture has not shown
}

// StallFrames are frames of a stall.
type StallFrames struct {
	Begun [3]uint64 // in which the first rounds begin
	Last  uint64    // in which the newest begins
	Ended uint64    // 0: none
}

// Stalls adds up stalls.
type Stalls struct {
	Count       uint32
	Rounds      [NumCauses]uint32
	Long        uint32 // of them, those of LongStall or longer without an RNR NAK, which a timer ended, or nothing that was retransmitted
	Lost        int64  // nanoseconds without progress
	Refused     int64  // of them, those for which only RNR NAKs were why
	Before      uint32 // rounds of a timer that begin with what the capture had not shown
	Begun, Last int64
	Ended       int64       // when the newest was over, as far as that is known
	Frames      StallFrames // Begun[0] of the first, Last of the newest
	Tap         uint16
}

// RNRSums adds up RNR NAKs.
type RNRSums struct {
	NAKs           uint32
	Least, Most    uint8  // timer codes of table T4; meaningless where NAKs are 0
	Waits          uint32 // after which the requester resumed
	ForRequest     uint32 // NAKs of the newest request
	Waited         int64  // from an RNR NAK until it did, in all
	Asked          int64  // for how long those RNR NAKs asked to wait, in all
	First, Last    int64
	Frame, Newest  uint64 // of the first and of the newest one
	MostForRequest uint32 // NAKs of one request, at most
	Episodes       uint32 // of NAKs without a break
	Began          int64  // when the newest of them did
}

// Without an RNR NAK for so long, and for so many times what the one before asked for, the next one begins a new episode.
const (
	leastBreak = int64(20 * time.Millisecond)
	breakTimes = 8
)

// Active reports whether the request still waits for its response.
func (s *Stall) Active() bool { return s.Begun != 0 && (s.Ended == 0 || s.Skipped) }

// Lost is for how long there was no progress, in nanoseconds. Where it is not known when the stall ended, it is up to the newest round.
func (s *Stall) Lost() int64 {
	end := s.Ended
	if end == 0 {
		end = s.Last
	}
	return max(end-s.Since, 0)
}

// Total is how many times the requester went back.
func (s *Stall) Total() (n uint64) {
	for _, r := range s.Rounds {
		n += uint64(r)
	}
	return n
}

// Trouble returns what kept the requests from being answered; nil: nothing did.
func (s *SendQueue) Trouble() *Trouble { return s.sender.trouble }

// trouble returns it, to be written.
func (s *SendQueue) trouble() *Trouble {
	if s.sender.trouble == nil {
		s.seldom().sender.trouble = new(Trouble)
	}
	return s.sender.trouble
}

// Stall notes that retransmission p begins, for a cause, of the request that w is; nil: it is not known any more. since is when that was first sent; 0: not known. before says that the
// capture had not shown it.
func (s *SendQueue) Stall(p *packet.Packet, w *wqe.SendWQE, cause RetransmissionCause, since int64, before bool) {
	k := s.stall(p, p.PSN, w, since)
	if cause == TimerExpired {
		s.trouble().attempt(p)
	}
	k.round(p)
	k.High = s.High
	s.beginsTail(cause, p.Time)
	s.trouble().From = p.PSN
	s.trouble().Round = cause
	s.trouble().Copies.begin()
	k.Later = p.PSN.After(s.First)
	k.Partly = k.Partly || w != nil && w.Op == wqe.Read && p.PSN == w.First && w.RespFrame != 0 && !w.AnswerCame(w.Last)
	if k.Rounds[cause]++; k.Rounds[TimerExpired] == 2 || k.Request.Op == wqe.Read && k.Total() == 1 {
		k.Request.Answered = s.mostAnswered(&k.Request, s.Una)
	}
	k.Before = k.Before || before
	if before && cause == TimerExpired {
		k.Unseen += min(1, math.MaxUint16-k.Unseen)
	}
	if t := s.trouble(); cause == NotReady && t.NAK.Time != 0 {
		t.RNR.Waits++
		t.RNR.Waited += p.Time - t.NAK.Time
		t.RNR.Asked += int64(packet.RNRTimer(t.NAK.Code))
		t.NAK.Time = 0
	}
}

// CountStalled counts a packet that was retransmitted. sent is what its end has sent, with it.
func (s *SendQueue) CountStalled(p *packet.Packet, sent Sums) {
	t := s.trouble()
	t.Now.Packets++
	t.Now.Bytes += uint64(p.PayloadLen)
	one := Sums{Packets: 1, Bytes: uint64(p.PayloadLen)}
	if t.Round == NotReady {
		t.Refused = t.Refused.plus(one)
		return
	}
	t.Again = t.Again.plus(one)
	if t.Round == TimerExpired {
		t.Copies.take(p)
	}
	if t.Storming == nil {
		t.Storming = new(Storming)
	}
	t.Storming.add(p, sent)
}

// StallNotReady notes RNR NAK p, which refuses the request that w is; nil: it is not known.
func (s *SendQueue) StallNotReady(p *packet.Packet, w *wqe.SendWQE, since int64) {
	k := s.stall(p, p.PSN, w, since)
	k.NAKs++
	k.round(p)
	t := s.trouble()
	r, code := &t.RNR, p.Syndrome.Value()
	if r.NAKs == 0 {
		r.First, r.Frame, r.Least, r.Most = p.Time, p.Frame, code, code
	}
	if r.NAKs == 0 || p.Time-r.Last > max(leastBreak, breakTimes*int64(packet.RNRTimer(code))) {
		r.Episodes++
		r.Began = p.Time
	}
	r.NAKs++
	r.Last, r.Newest = p.Time, p.Frame
	if k.NAKs == 1 || p.PSN != t.NAK.PSN { // an ACK may be late or lost: then the stall of the request before goes on
		r.ForRequest = 0
	}
	r.ForRequest++
	r.Least, r.Most, r.MostForRequest = shorterRNR(r.Least, code), longerRNR(r.Most, code), max(r.MostForRequest, r.ForRequest)
	t.NAK.PSN, t.NAK.Time, t.NAK.Code = p.PSN, p.Time, code
}

// NoteSlow notes that response p has answered message w so long after it was asked for, or after the response before it, that this is worth telling, though nothing was
// retransmitted. missing says that responses before it are not in the capture.
func (s *SendQueue) NoteSlow(p *packet.Packet, w *wqe.SendWQE, since int64, missing bool) {
	if s.Stalled() && !s.trouble().Now.Skipped {
		return
	}
	k := Stall{Request: s.request(p, w.First, w), Since: since, Begun: since, Last: since, Ended: p.Time, Tap: p.Tap, Frames: StallFrames{Ended: p.Frame}, Before: missing}
	s.trouble().keep(k)
}

// NoteSilence notes that request p comes after a gap, and after a time in which the capture shows nothing of the connection.
func (s *SendQueue) NoteSilence(p *packet.Packet, since int64) {
	s.trouble().keep(Stall{Request: s.request(p, p.PSN, nil), Since: since, Begun: since, Last: since, Ended: p.Time, Tap: p.Tap, Frames: StallFrames{Ended: p.Frame}, Before: true})
}

// stall returns the stall of the request at psn: the newest, if that is not over.
func (s *SendQueue) stall(p *packet.Packet, psn packet.PSN, w *wqe.SendWQE, since int64) *Stall {
	t := s.trouble()
	if t.Now.Active() && !s.passed(&t.Now) && !psn.Before(t.Now.Request.First) && (w == nil && (t.Now.PassedOver == 0 || psn == t.Now.Request.PSN) || w != nil && (w.First == t.Now.Request.First || s.blockedBy(&t.Now, psn))) {
		return &t.Now
	}
	t.over()
	if since == 0 {
		since = s.TimerStart
	}
	if since == 0 || since > p.Time {
		since = p.Time
	}
	t.Now, t.Attempts = Stall{Request: s.request(p, psn, w), Since: since, Begun: p.Time, Tap: p.Tap}, Attempts{Port: p.SrcPort}
	t.Now.Request.Copied = t.copied(psn, p.Time)
	return &t.Now
}

// roundAgo is how long ago a round began at most whose PSNs are still told from those of later requests, which may have the same, nanoseconds.
const roundAgo = int64(10e9)

// copied reports whether the newest round before now, of a stall that is over, had retransmitted a PSN.
func (t *Trouble) copied(psn packet.PSN, now int64) bool {
	return t.Sum.Count > 0 && now-t.Sum.Last < roundAgo && !psn.Before(t.From) && psn.Before(t.Back.Next)
}

// blockedBy reports whether the request of a stall is still the oldest that nothing has answered, so that one after it is retransmitted because of it.
func (s *SendQueue) blockedBy(k *Stall, psn packet.PSN) bool {
	return !s.Una.After(k.Request.PSN) && psn.After(k.Request.PSN)
}

// round notes that packet p begins a round.
func (k *Stall) round(p *packet.Packet) {
	k.Last, k.Frames.Last = p.Time, p.Frame
	if k.Skipped {
		k.Ended, k.Frames.Ended, k.Skipped = 0, 0, false
	}
	for i := range k.Frames.Begun {
		if k.Frames.Begun[i] == 0 {
			k.Frames.Begun[i] = p.Frame
			return
		}
	}
}

// Settled returns the trouble with the newest stall among those that are over, unless that still waits.
func (t *Trouble) Settled(waits bool) Trouble {
	s := *t
	if !waits {
		s.over()
	}
	return s
}

// over adds the newest stall to the sums, and keeps it where it is among the longest.
func (t *Trouble) over() {
	k := t.Now
	if k.Begun == 0 {
		return
	}
	t.Now = Stall{}
	t.Sum.add(&k)
	if k.LackedEnd() && k.PassedOver == 0 {
		t.Cut++
	}
	t.Late.Left, t.Late.LastLeft, t.Late.Unsent, t.Late.OfAhead = 0, 0, 0, 0
	if n := k.Rounds[TimerExpired]; n > 0 && n <= math.MaxUint16 && k.Ended != 0 && !k.Acked && k.NAKs == 0 && k.Total() == uint64(n) {
		t.Late.From, t.Late.To, t.Late.Of, t.Late.Left = k.Request.PSN, k.High, uint16(n), k.Packets
		if t.AckAhead {
			t.Late.Ahead, t.Late.OfAhead = t.Late.Ahead+1, 1
		}
		if t.PeerSilent {
			t.Unsent += n
			t.Late.Unsent = uint16(n)
		}
		if k.Packets%n == 0 {
			t.Late.Last, t.Late.LastLeft = k.Request.PSN.Add(int(k.Packets/n)-1), uint16(n)
		}
	}
	t.PeerID, t.PeerSilent, t.AckAhead = 0, false, false
	t.keep(k)
}

// keep keeps a stall where it is among the longest.
func (t *Trouble) keep(k Stall) {
	for i := range t.Longest {
		if k.Lost() > t.Longest[i].Lost() {
			k, t.Longest[i] = t.Longest[i], k
		}
	}
}

// Total is how many times the requester went back.
func (s *Stalls) Total() (n uint64) {
	for _, r := range s.Rounds {
		n += uint64(r)
	}
	return n
}

func (s *Stalls) add(k *Stall) {
	if s.Count == 0 {
		s.Begun, s.Tap, s.Frames.Begun[0] = k.Begun, k.Tap, k.Frames.Begun[0]
	}
	s.Count++
	for i := range k.Rounds {
		s.Rounds[i] += k.Rounds[i]
	}
	s.Lost += min(k.Lost(), max(k.Since+k.Lost()-s.Ended, 0)) // less what overlaps with the one before, whose end did not end all waits
	if k.NAKs > 0 && k.Total() == uint64(k.Rounds[NotReady]) {
		s.Refused += k.Lost()
	}
	if k.Lost() >= LongStall && k.NAKs == 0 && (k.Total() == 0 || k.Rounds[TimerExpired] > 0) {
		s.Long++
	}
	s.Before += uint32(k.Unseen)
	s.Last, s.Ended, s.Frames.Last = k.Last, max(k.Last, k.Ended), k.Frames.Last
}

func shorterRNR(a, b uint8) uint8 {
	if packet.RNRTimer(b) < packet.RNRTimer(a) {
		return b
	}
	return a
}

func longerRNR(a, b uint8) uint8 {
	if packet.RNRTimer(b) > packet.RNRTimer(a) {
		return b
	}
	return a
}
