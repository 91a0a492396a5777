package qp

import "ibwitness/packet"

// MostRetries is the most retries that a queue pair can be set to, and what most programs set (retry_cnt, 3 bits).
const MostRetries = 7

// Attempts are times that a requester gave a request up, and sent it with the same PSN: from a queue pair that was reset, or another one.
type Attempts struct {
	Count  uint8     // after the first one; 255 or more
	Rounds uint8     // of the newest one; 255 or more
	Port   uint16    // its UDP source port
	Frames [2]uint32 // low bits of those in which the first of Count begin
}

// begins reports whether round p of the newest stall begins another attempt: it comes later than the timer would have it, from another UDP source port, or after as many
// retries as a queue pair can have.
func (t *Trouble) begins(p *packet.Packet) bool {
	k, n := &t.Now, int64(t.Now.Total())
	if n == 0 || k.NAKs > 0 || k.Acked {
		return false
	}
	interval, gap := (k.Last-k.Since)/n, p.Time-k.Last
	return t.Attempts.Port != p.SrcPort && gap > 2*interval || t.Attempts.Rounds >= MostRetries && gap > 4*interval
}

// attempt notes round p of the newest stall, which the timer began.
func (t *Trouble) attempt(p *packet.Packet) {
	a := &t.Attempts
	if t.begins(p) {
		if int(a.Count) < len(a.Frames) {
			a.Frames[a.Count] = uint32(p.Frame)
		}
		a.Count += min(1, 255-a.Count)
		a.Rounds, a.Port = 0, p.SrcPort
		return
	}
	a.Rounds += min(1, 255-a.Rounds)
	a.Port = p.SrcPort
}

// TriesAgain reports whether request p begins another attempt with one that was given up.
func (s *SendQueue) TriesAgain(p *packet.Packet) bool {
	t := s.sender.trouble
	return t != nil && t.Now.Active() && p.PSN == t.Now.Request.PSN && t.begins(p)
}
