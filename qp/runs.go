package qp

import "ibwitness/packet"

// Runs are the newest retransmissions.
type Runs struct {
	List   [16]Run
	Newest uint8 // index in List
}

// Run is a run of requests that were retransmitted, in the order of their PSNs.
type Run struct {
	From, To packet.PSN
	At       int64 // when the last of them came; 0: there is none
	Before   int64 // when the request before the first of them came
}

// extend takes request p for the next of the newest run, and reports whether it is.
func (r *Runs) extend(p *packet.Packet) bool {
	run := &r.List[r.Newest]
	if run.At == 0 || !p.PSN.After(run.To) {
		return false
	}
	run.To, run.At = p.PSN, p.Time
	return true
}

// before returns when the run ended that is the newest of those before the newest one that have the request at psn; 0: none has it.
func (r *Runs) before(psn packet.PSN) int64 {
	for i := uint8(1); i < uint8(len(r.List)); i++ {
		if run := &r.List[(r.Newest-i)%uint8(len(r.List))]; run.At != 0 && psn.In(run.From, run.To) {
			return run.At
		}
	}
	return 0
}

// begin begins a run with request p.
func (r *Runs) begin(p *packet.Packet, before int64) {
	r.Newest = (r.Newest + 1) % uint8(len(r.List))
	r.List[r.Newest] = Run{p.PSN, p.PSN, p.Time, before}
}

// RetransmittedBefore returns when the retransmission ended that had the request at psn before the newest one: 0: none that is kept did.
func (s *SendQueue) RetransmittedBefore(psn packet.PSN) int64 {
	if s.Recovery == nil {
		return 0
	}
	return s.Recovery.Runs.before(psn)
}
