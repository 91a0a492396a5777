package qp

import (
	"math"

	"ibwitness/packet"
	"ibwitness/wqe"
)

// A round is that a requester goes back: it sends a request with a PSN before the one that it would have sent next. What was overtaken on its way is none, nor is a copy that the
// network made. What it sends after that in order, packets that the tap misses left out, belongs to the round, until it sends something new.
//
// Its cause is what had asked for it last and was not obeyed yet: an RNR NAK, a PSN sequence NAK, or a response that came before one which is needed. Such a requester goes back
// promptly. Where it has not, or nothing has asked, its timer ran out.
//
// The time without progress is that of its stalls, of which no two overlap: from when the request was sent that waits, or when a response last made progress, until it was answered.

// promptly is within what time a requester goes back that was asked to, in nanoseconds: soft-RoCE on a busy host needs up to 5 ms. The timers of requesters are longer.
const promptly = int64(10e6)

// Back is where a requester is that has gone back.
type Back struct {
	Next  packet.PSN // that it would send next
	Set   bool       // else it is the one after the newest request
	Tail  bool       // the tap had not seen the end of the newest message when the timer ran out, and no packet before that asks for an acknowledgment: it was lost before the tap
	Found Sums       // what of that end came in this round: packets and payload
	NAKs  [4]Asked   // the newest last
	Lone  Overtaken  // the newest packet with which a round began that a NAK had asked for, and that was not shown before
}

// Asked is a PSN sequence NAK.
type Asked struct {
	At     int64 // when it came; 0: there was none
	PSN    packet.PSN
	Obeyed bool
}

// sendWindow is how many PSNs a requester has outstanding at most that stops in the midst of a message for them: that of soft-RoCE, and of some adapters.
const sendWindow = 128

// comesNext is the PSN of the request that would come next.
func (s *SendQueue) comesNext() packet.PSN {
	switch t := s.sender.trouble; {
	case t != nil && t.Back.Set:
		return t.Back.Next
	case s.NextDropped():
		return s.High.Add(1)
	}
	return s.High
}

// NextDropped reports whether the next request has been sent, and its receiver has dropped it, as it was damaged.
func (s *SendQueue) NextDropped() bool { return s.GapExplained && s.DamagedAt(s.High) }

// GoesBack reports whether a requester that sends psn goes back with it.
func (s *SendQueue) GoesBack(psn packet.PSN) bool { return psn.Before(s.comesNext()) }

// SentAgain notes that a requester that has gone back has sent the PSNs before next.
func (s *SendQueue) SentAgain(next packet.PSN) {
	b := &s.trouble().Back
	b.Next, b.Set = next, next.Before(s.High)
}

// GoesOn notes that the requester has sent something new, or nothing is open any more: a round that it had begun is over.
func (s *SendQueue) GoesOn() {
	if t := s.sender.trouble; t != nil {
		t.Back.Set = false
	}
}

// NoteNAK notes that a PSN sequence NAK asks for psn.
func (s *SendQueue) NoteNAK(psn packet.PSN, now int64) {
	s.EndSpray()
	k := &s.trouble().Back.NAKs
	copy(k[:], k[1:])
	k[len(k)-1] = Asked{At: now, PSN: psn}
}

// ObeysNAK reports whether a requester that goes back to psn at a time does so for a PSN sequence NAK that asks for it, and has it be obeyed then.
func (s *SendQueue) ObeysNAK(psn packet.PSN, now int64) bool {
	return s.obeys(now, func(k *Asked) bool { return k.PSN == psn })
}

// ObeysNewestNAK is ObeysNAK where the newest NAK asks for another PSN: the tap has missed the request with that, or the requester goes back further.
func (s *SendQueue) ObeysNewestNAK(now int64) bool {
	newest := true
	return s.obeys(now, func(*Asked) bool {
		was := newest
		newest = false
		return was
	})
}

// obeys has the newest NAK that is as asked be obeyed, where it was not, and those before it.
func (s *SendQueue) obeys(now int64, is func(*Asked) bool) bool {
	t := s.sender.trouble
	if t == nil {
		return false
	}
	for i := len(t.Back.NAKs) - 1; i >= 0; i-- {
		k := &t.Back.NAKs[i]
		if k.At == 0 || k.Obeyed || !is(k) {
			continue
		}
		for j := range i + 1 {
			t.Back.NAKs[j].Obeyed = true
		}
		return now-k.At < promptly || now-s.Last.Time < promptly
	}
	return false
}

// A request waits for leastTimer at least before the timer of its requester runs out, and for idleTimer where nothing is sent meanwhile: what is retransmitted sooner was asked
// for, or is not in the order in which it was sent.
const (
	leastTimer = int64(1e6)
	idleTimer  = int64(64e3)
)

// Waited reports whether the request of message w, which was sent at a time, or was retransmitted last, has waited for so long that the timer of its requester may have run out.
// sent is 0 where it is not known.
func (s *SendQueue) Waited(sent, now int64) bool {
	if t := s.sender.trouble; t != nil && t.Now.Active() && t.Now.Last > sent {
		sent = t.Now.Last
	}
	if sent == 0 {
		sent = s.TimerStart
	}
	if sent == 0 {
		sent = s.Last.Time // nothing is known to have waited before
	}
	newest := s.Last.Time
	if s.Damaged() {
		newest = max(newest, s.Recovery.Damage.Time) // it has sent that, too
	}
	return now-sent >= leastTimer || now-max(sent, newest) >= idleTimer
}

// OfTimer reports whether a request that was retransmitted so long after it was sent may have been for the timer of its requester: what is retransmitted sooner was asked for, though
// that may not be in the capture.
func OfTimer(waited int64) bool { return waited >= idleTimer }

// beginsTail notes, where the timer has run out by a time, that the tap has not seen the end of the newest message: that was sent, as the timer runs
// for a packet that asks for an acknowledgment. Where one
// before it does, its requester may have stopped in the midst of the message.
func (s *SendQueue) beginsTail(cause RetransmissionCause, now int64) {
	b := &s.trouble().Back
	b.Found = Sums{}
	b.Tail = cause == TimerExpired && now-s.Last.Time >= leastTimer && s.Next == s.High && (s.Open == wqe.Send || s.Open == wqe.Write) && s.High.Diff(s.Una) < sendWindow && s.noneAsks()
}

// noneAsks reports whether the capture holds all requests that are not acknowledged up to the newest, and none of them asks for an acknowledgment.
func (s *SendQueue) noneAsks() bool { return s.noneAsksBefore(s.High) }

// noneAsksBefore is noneAsks of those before a PSN.
func (s *SendQueue) noneAsksBefore(end packet.PSN) bool {
	for psn := s.Una; psn.Before(end); psn = psn.Add(1) {
		if x := s.History().Get(psn); x == nil || x.Trace.Flags&packet.TraceAckReq != 0 {
			return false
		}
	}
	return s.Una.Before(end)
}

// InTail reports whether the requester, which has sent all once more, goes on with the end of a message that the tap has not seen.
func (s *SendQueue) InTail() bool {
	t := s.sender.trouble
	return t != nil && t.Back.Tail
}

// EndTail notes that it goes on with something else.
func (s *SendQueue) EndTail() { s.trouble().Back.Tail = false }

// SentTail notes request p of that end, and whether its message ends with it: that was lost before the tap, and the timer ran out for it.
func (s *SendQueue) SentTail(p *packet.Packet, ends bool) {
	t := s.trouble()
	b := &t.Back
	b.Found = b.Found.plus(Sums{Packets: 1, Bytes: uint64(p.PayloadLen)})
	if b.Tail = !ends; !ends {
		return
	}
	n := uint32(b.Found.Packets)
	t.Again, t.Missing.PSNs = t.Again.plus(b.Found), t.Missing.PSNs+n
	m := s.CountMissing(0, p)
	m.Longest = max(m.Longest, n)
	m.Filled.Packets += n
	m.Filled.take(p.PSN.Add(1-int(n)), int(n))
	if k := &t.Now; k.Active() {
		k.Packets, k.Bytes = k.Packets+n, k.Bytes+b.Found.Bytes
	}
	t.lostBefore()
}

// TailDropped notes that the end of the message had come damaged: that is what the timer ran out for.
func (s *SendQueue) TailDropped() {
	if s.InTail() {
		s.EndTail()
		s.trouble().lostBefore()
	}
}

// lostBefore notes that the newest round of a timer brought what was lost before the tap.
func (t *Trouble) lostBefore() {
	if k := &t.Now; k.Active() {
		k.Unseen = uint16(min(uint32(k.Unseen)+1, k.Rounds[TimerExpired], math.MaxUint16))
	} else {
		t.Sum.Before = min(t.Sum.Before+1, t.Sum.Rounds[TimerExpired])
	}
}

// NoteLone notes request p, which no IPv4 identification numbers, and with which a round begins that a PSN sequence NAK asked for, though it was not shown before.
func (s *SendQueue) NoteLone(p *packet.Packet) {
	s.trouble().Back.Lone = Overtaken{Packets: 1, Asked: 1, Depth: uint32(s.High.Add(-1).Diff(p.PSN)), First: p.Time, Last: p.Time, Frame: p.Frame, Newest: p.Frame, PSN: p.PSN, Tap: p.Tap}
}

// LoneOvertaken reports whether the request with which the newest round began was overtaken: the requester goes back to psn once more, at a time, though nothing asks for it again.
// It counts it.
func (s *SendQueue) LoneOvertaken(p *packet.Packet) bool {
	t := s.sender.trouble
	if t == nil || t.Back.Lone.Packets == 0 || t.Back.Lone.PSN != p.PSN || p.Time-t.Back.Lone.First >= leastTimer {
		return false
	}
	if t.Overtaking == nil {
		t.Overtaking = new(Overtaking)
	}
	t.Overtaking.Sum.add(&t.Back.Lone)
	t.Back.Lone = Overtaken{}
	t.Again.Packets -= min(t.Again.Packets, 1)
	t.Again.Bytes -= min(t.Again.Bytes, uint64(p.PayloadLen))
	return true
}

// Prompt reports whether a requester goes back at a time so soon after it was asked that it does so for that.
func Prompt(asked, now int64) bool { return now-asked < promptly }
