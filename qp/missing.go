package qp

import (
	"ibwitness/packet"
	"ibwitness/wqe"
)

// Missing is the requests that the tap did not see before later ones, whether the network lost them before it or the capture did.
type Missing struct {
	Gaps, PSNs uint32
	Acked      uint32     // of PSNs: that were acknowledged, and not retransmitted, as far as the capture shows
	AckedGaps  uint32     // in how many gaps, at least
	AckedFrame uint64     // in which they first were
	Longest    uint32     // PSNs of the longest gap
	Messages   uint32     // on UC: messages that they are of, at least
	After      packet.PSN // likewise: PSN after the newest gap
	Frame      uint64     // after it
	First      struct {
		Frame uint64 // after the first gap
		Time  int64
		Tap   uint16
	}
	Newest struct { // likewise after the newest
		Frame uint64
		Time  int64
	}
	Between   struct{ First, After int64 } // times of the requests before and after the longest gap
	Filled    Filled
	Responses MissingResponses
}

// Filled is the requests that came later than others, and that the capture had not shown before: they were retransmitted, as the network had lost them before the tap, and not the capture.
type Filled struct {
	Gaps, PSNs uint32     // in how many runs of PSNs
	Packets    uint32     // that took these
	Longest    uint32     // PSNs of the longest run
	Run        uint32     // of the newest
	Next       packet.PSN // after that
	Late       uint32     // of PSNs: they came late, and were not retransmitted, as their requester had not gone back: see settle
	Waiting    uint32     // PSNs of the newest runs, of which that is not known yet
	High       packet.PSN // after the newest request when the newest came
}

// take takes a request that takes n PSNs.
func (f *Filled) take(psn packet.PSN, n int) {
	if f.Gaps == 0 || psn != f.Next {
		f.Gaps, f.Run = f.Gaps+1, 0
	}
	f.PSNs, f.Run, f.Next = f.PSNs+uint32(n), f.Run+uint32(n), psn.Add(n)
	f.Longest = max(f.Longest, f.Run)
}

// FilledUp notes that requests which were missing came, n PSNs from one on.
func (s *SendQueue) FilledUp(psn packet.PSN, n int) {
	if t := s.sender.trouble; t != nil && t.Missing.PSNs > 0 {
		f := &t.Missing.Filled
		if f.Waiting > 0 && f.High != s.High {
			f.settle(true)
		}
		f.Packets++
		f.take(psn, n)
		f.Waiting, f.High = f.Waiting+uint32(n), s.High
	}
}

// CameAgain notes that a request came which had come before, at a PSN.
func (s *SendQueue) CameAgain(psn packet.PSN) {
	if t := s.sender.trouble; t != nil && t.Missing.Filled.Waiting > 0 {
		f := &t.Missing.Filled
		f.settle(f.High != s.High || psn.Before(f.Next))
	}
}

// settle counts what filled gaps as late, or as retransmitted. A requester that retransmits goes back, and retransmits what came after the gap, too: the next request is one of these, which had
// come. Where it is a new one, or of before the gap, the requester had not gone back.
func (f *Filled) settle(late bool) {
	if late {
		f.Late += f.Waiting
	}
	f.Waiting = 0
}

// MissingResponses is the responses to READs that the tap did not see before later ones.
type MissingResponses struct {
	Gaps, PSNs uint32
	Frame      uint64        // after the first gap
	Messages   uint64        // that the requester had sent then
	Newest     [4]MissingRun // of which it may still turn out that they are asked for again
	Next       uint8         // place of the next one among them
}

// MissingRun is a number of responses in a row, from a PSN on; 0: none, or they were asked for again, or came late.
type MissingRun struct {
	From packet.PSN
	N    uint32
}

// askedAgain takes back the newest responses that were missing from a PSN on: they were asked for again, as the network had lost them, and not the capture.
func (m *MissingResponses) askedAgain(psn packet.PSN) {
	for i := range m.Newest {
		if r := &m.Newest[i]; r.N > 0 && r.From.Add(int(r.N)).After(psn) {
			m.Gaps, m.PSNs, m.Frame = m.Gaps-1, m.PSNs-r.N, 0
			*r = MissingRun{}
		}
	}
}

// AskedAgain notes that the responses from a PSN on were asked for again.
func (s *SendQueue) AskedAgain(psn packet.PSN) {
	if t := s.sender.trouble; t != nil && t.Missing.Responses.Gaps > 0 {
		t.Missing.Responses.askedAgain(psn)
	}
}

// ResponseCame notes that the response with a PSN came: it is missing no more, where it is of the newest that were.
func (s *SendQueue) ResponseCame(psn packet.PSN) {
	if t := s.sender.trouble; t != nil && t.Missing.Responses.Gaps > 0 {
		t.Missing.Responses.came(psn)
	}
}

func (m *MissingResponses) came(psn packet.PSN) {
	for i := range m.Newest {
		r := &m.Newest[i]
		if r.N == 0 || !psn.In(r.From, r.From.Add(int(r.N)-1)) {
			continue
		}
		if psn == r.From {
			r.From = psn.Add(1)
		}
		if m.PSNs, r.N = m.PSNs-1, r.N-1; r.N == 0 {
			m.Gaps, m.Frame = m.Gaps-1, 0
		}
		return
	}
}

// CountMissingResponses notes that n responses from a PSN on are missing before response p, when the requester had sent so many messages.
func (s *SendQueue) CountMissingResponses(from packet.PSN, n int, p *packet.Packet, messages uint64) {
	if n <= 0 {
		return
	}
	m := &s.trouble().Missing.Responses
	if m.Frame == 0 {
		m.Frame, m.Messages = p.Frame, messages
	}
	m.Gaps, m.PSNs = m.Gaps+1, m.PSNs+uint32(n)
	m.Newest[m.Next] = MissingRun{from, uint32(n)}
	m.Next = (m.Next + 1) % uint8(len(m.Newest))
}

// CountMissing notes a gap of n PSNs before packet p.
func (s *SendQueue) CountMissing(n int, p *packet.Packet) *Missing {
	m := &s.trouble().Missing
	if m.Gaps == 0 {
		m.First.Frame, m.First.Time, m.First.Tap = p.Frame, p.Time, p.Tap
	}
	m.Newest.Frame, m.Newest.Time = p.Frame, p.Time
	m.Gaps, m.PSNs = m.Gaps+1, m.PSNs+uint32(n)
	if uint32(n) > m.Longest {
		m.Longest, m.Frame = uint32(n), p.Frame
		m.Between.First, m.Between.After = s.Last.Time, p.Time
	}
	return m
}

// AfterGap returns when the request after the newest gap came, where that is in a frame; else 0.
func (s *SendQueue) AfterGap(frame uint64) int64 {
	if t := s.sender.trouble; t != nil && t.Missing.Newest.Frame == frame {
		return t.Missing.Newest.Time
	}
	return 0
}

// CountMissingMessages is CountMissing of a service that retransmits nothing: what is missing is of a message that had begun, or of one after it. A message that a gap before
// this one had cut, and that had not ended, was counted then.
func (s *SendQueue) CountMissingMessages(n int, p *packet.Packet) {
	w := s.Messages.Newest()
	m := s.CountMissing(n, p)
	if cut := m.Gaps > 1 && w != nil && w.First == m.After && !w.Has(wqe.Whole) && !w.Has(wqe.Ended); !cut {
		m.Messages++
	}
	m.After = p.PSN
}

// CountAcked notes that response p has acknowledged PSNs of the open gap, up to one: the responder has them, and the capture does not.
func (s *SendQueue) CountAcked(p *packet.Packet, psn packet.PSN) {
	t := s.sender.trouble
	if t == nil || t.Missing.PSNs == 0 {
		return
	}
	m := &t.Missing
	if m.Acked == 0 {
		m.AckedFrame = p.Frame
	}
	n := s.Holes(psn.Add(1))
	if n > 0 && m.AckedGaps < m.Gaps {
		m.AckedGaps++
	}
	m.Acked = min(m.Acked+uint32(max(n, 0)), m.PSNs)
}

// CountFound takes back that a PSN of the open gap is missing.
func (s *SendQueue) CountFound() {
	t := s.sender.trouble
	if t == nil || t.Missing.PSNs == 0 {
		return
	}
	m := &t.Missing
	m.PSNs--
	if last := s.Gap.From.Add(1) == s.Gap.To; last || m.PSNs == 0 {
		m.Gaps, m.Messages = m.Gaps-min(m.Gaps, 1), m.Messages-min(m.Messages, 1)
	}
}
