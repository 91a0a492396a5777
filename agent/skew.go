package agent

import (
	"slices"
	"time"

	"ibwitness/fabricagent"
	"ibwitness/packet"
	"ibwitness/rule"
)

// A capture that was merged of one for each direction has two clocks. Where they differ by more than an answer takes, answers come before what they answer.

// Skew is that what a host receives is stamped by another clock than what it sends, an earlier one.
type Skew struct {
	Host    packet.Addr
	Answers uint64        // to its requests, where the capture holds both
	Early   uint64        // of them, those that come before their requests
	By      time.Duration // the most by which one does
	Answer  uint64        // frame of that one, of Tap
	Request uint64        // and of its request
	Tap     uint16
	Again   uint64 // requests that it sent once more
	NAKs    uint64 // for a PSN sequence error, that came to it
	NAK     uint64 // frame of the first
}

const (
	// fewestEarly is how many answers have to come before their requests, and oneInOrder of how many at most one may come after it: a request that the capture lacks, and that is retransmitted, comes
	// after its answer too.
	fewestEarly = 16
	oneInOrder  = 20
	// mostExchanges is how many requests and answers are kept.
	mostExchanges = 1 << 14
)

// skews looks for answers that come before what they answer: in the frames with which a capture begins, and in all of them where it finds such.
type skews struct {
	packet    *packet.Packet // room
	begun     int            // frames that it has looked at
	found     bool
	pairs     map[talk]*Skew
	exchanges map[exchange]exchanged
	ways      map[tapPair]*delays // where another tap shows the answer than the request
}

// talk is who sends requests, and who answers.
type talk struct{ from, to packet.Addr }

type exchange struct {
	talk
	psn packet.PSN
}

// exchanged is what has come of an exchange.
type exchanged struct {
	request, answer uint64 // frames; 0: it has not come
	at              int64  // time of the one that came first
	tap             uint16 // likewise
}

// take takes the frames of a batch.
func (k *skews) take(frames []fabricagent.Frame) {
	for i := range frames {
		if k.begun >= mostMeasured && !k.found {
			return
		}
		if k.begun++; k.packet == nil {
			k.packet, k.pairs, k.exchanges, k.ways = new(packet.Packet), map[talk]*Skew{}, map[exchange]exchanged{}, map[tapPair]*delays{}
		}
		if p := k.packet; fabricagent.Decode(&frames[i], p).IsRDMA() && p.Has&packet.HasBTH != 0 && p.Opcode.Service().Reliable() {
			k.add(p)
		}
	}
}

// add takes a packet of a reliable service.
func (k *skews) add(p *packet.Packet) {
	if len(k.exchanges) >= mostExchanges {
		clear(k.exchanges)
	}
	switch in := p.Info(); {
	case in.Request:
		k.request(k.of(talk{p.Src, p.Dst}, p.Tap), p)
	case in.Response && p.Has&packet.HasAETH != 0:
		k.answer(k.of(talk{p.Dst, p.Src}, p.Tap), p)
	}
}

// of returns what is known of a talk.
func (k *skews) of(w talk, tap uint16) *Skew {
	s := k.pairs[w]
	if s == nil {
		s = &Skew{Host: w.from, Tap: tap}
		k.pairs[w] = s
	}
	return s
}

// request takes a request.
func (k *skews) request(s *Skew, p *packet.Packet) {
	at := exchange{talk{p.Src, p.Dst}, p.PSN}
	x := k.exchanges[at]
	switch {
	case x.request != 0:
		s.Again++
		return
	case x.answer != 0:
		s.Answers, s.Early = s.Answers+1, s.Early+1
		if by := time.Duration(p.Time - x.at); by > s.By {
			s.By, s.Answer, s.Request, s.Tap = by, x.answer, p.Frame, p.Tap
		}
		k.found = k.found || s.holds()
		k.pairOf(&x, p, false)
	default:
		x.at, x.tap = p.Time, p.Tap
	}
	x.request = p.Frame
	k.exchanges[at] = x
}

// answer takes an answer.
func (k *skews) answer(s *Skew, p *packet.Packet) {
	if p.Syndrome == packet.NAKSequence {
		if s.NAKs++; s.NAKs == 1 {
			s.NAK = p.Frame
		}
		return
	}
	at := exchange{talk{p.Dst, p.Src}, p.PSN}
	x := k.exchanges[at]
	switch {
	case x.answer != 0:
		return
	case x.request != 0:
		s.Answers++
		k.pairOf(&x, p, true)
	default:
		x.at, x.tap = p.Time, p.Tap
	}
	x.answer = p.Frame
	k.exchanges[at] = x
}

// holds reports whether the answers to a host show that the clocks differ.
func (s *Skew) holds() bool {
	return s.Early >= fewestEarly && (s.Answers-s.Early)*oneInOrder <= s.Early && s.By > 0
}

// list returns the hosts to which answers come too early, by address. Where the clocks of interfaces differ these are all to which one does.
func (k *skews) list(apart bool) (list []Skew) {
	for w, s := range k.pairs {
		if !s.holds() && (!apart || s.Early == 0 || s.By <= 0) {
			continue
		}
		i := slices.IndexFunc(list, func(o Skew) bool { return o.Host == w.from })
		if i < 0 {
			list = append(list, *s)
			continue
		}
		list[i].Add(s)
	}
	slices.SortFunc(list, func(a, b Skew) int { return a.Host.Compare(b.Host) })
	return list
}

// Add adds what the answers of others show.
func (s *Skew) Add(o *Skew) {
	s.Answers, s.Early, s.Again = s.Answers+o.Answers, s.Early+o.Early, s.Again+o.Again
	if o.NAKs > 0 && (s.NAKs == 0 || o.NAK < s.NAK) {
		s.NAK = o.NAK
	}
	s.NAKs += o.NAKs
	if o.By > s.By || o.By == s.By && o.Answer < s.Answer {
		s.By, s.Answer, s.Request, s.Tap = o.By, o.Answer, o.Request, o.Tap
	}
}

// leaveToClocks takes back that responses came before their requests, or before those to earlier ones, where two clocks stamp them, and doubts what rests on time.
func leaveToClocks(agents []*Transport, hosts []Skew) {
	if len(hosts) == 0 {
		return
	}
	for _, t := range agents {
		t.Rec.DoubtClock()
		gone := map[int]bool{}
		for i := range t.Rec.Findings {
			f := &t.Rec.Findings[i]
			if (f.Rule == rule.RCRSP006 || f.Rule == rule.RCRSP007) && slices.ContainsFunc(hosts, func(s Skew) bool { return s.Host == f.Peer.Addr }) {
				gone[i] = true
			}
		}
		t.Rec.RemoveAll(gone)
	}
}
