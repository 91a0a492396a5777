package qp

import (
	"ibwitness/packet"
	"ibwitness/wqe"
)

// RequesterUna is the oldest PSN whose response the requester may lack: Una, unless a response has overtaken one before.
func (s *SendQueue) RequesterUna() packet.PSN {
	if s.LacksResponse {
		return s.Recovery.Lack.Una
	}
	return s.Una
}

// LackResponse notes, at time now, that the requester lacks a response from psn on.
func (s *SendQueue) LackResponse(psn packet.PSN, now int64) {
	r := s.Lost()
	s.LacksResponse, r.Lack.Una, r.Lack.Since = true, psn, now
}

// TakeResponse notes that a response, seen at time now, acknowledges the SENDs and WRITEs up to psn, and that it answers the READ or atomic at
// psn itself where own is set. A requester takes it only as far as no READ or atomic before it lacks its own answer. It comes before
// Una moves on.
func (s *SendQueue) TakeResponse(psn packet.PSN, own bool, now int64) {
	una := s.RequesterUna()
	if psn.Before(una) {
		return
	}
	end := s.responseReach(una, psn, own, now)
	if !end.Before(s.Una) && !end.Before(psn.Add(1)) {
		s.LacksResponse = false
		return
	}
	since := now
	if s.LacksResponse && s.Recovery.Lack.Since != 0 {
		since = s.Recovery.Lack.Since
	}
	s.LackResponse(end, since)
	s.LacksResponse = now-since <= patience
}

// responseReach is the PSN after those from una on that a response with PSN psn acknowledges to its requester (see TakeResponse): up to the first READ or atomic that
// lacks its own answer. What that response overtakes is noted.
func (s *SendQueue) responseReach(una, psn packet.PSN, own bool, now int64) packet.PSN {
	forgotten := s.Messages.Len() > 0 && una.Before(s.Messages.At(0).First)
	if una.Before(s.First) || forgotten && (!own || una != psn) {
		return una // the requests from there on are not known
	}
	for i := max(s.Messages.UpTo(una), 0); i < s.Messages.Len(); i++ {
		w := s.Messages.At(i)
		if w.First.After(psn) {
			break
		}
		if w.Last.Before(una) || !w.Op.Responded() {
			continue
		}
		if una.Before(w.First) {
			una = w.First
		}
		if own && una == psn {
			break
		}
		if una != psn {
			s.implyNAK(una, now)
		}
		return una
	}
	return psn.Add(1)
}

// AwaitsAck reports whether a message that is not acknowledged has asked for a response: without one no timer runs.
func (s *SendQueue) AwaitsAck() bool {
	for i := s.Messages.Len() - 1; i >= 0; i-- {
		switch w := s.Messages.At(i); {
		case w.Last.Before(s.Una):
			return false
		case w.Has(wqe.AckWanted):
			return true
		}
	}
	return false
}

// AnswerBeforeCapture notes that the newest of n packets of the responder answers what came before the capture.
func (s *SendQueue) AnswerBeforeCapture(n uint64) { s.Lost().BeforeCapture = n }

// AnsweredBeforeCapture is how many packets the responder had sent in the capture with its newest answer to what came before that.
func (s *SendQueue) AnsweredBeforeCapture() uint64 {
	if s.Recovery == nil {
		return 0
	}
	return s.Recovery.BeforeCapture
}
