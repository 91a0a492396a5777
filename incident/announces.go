package incident

import (
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
)

// announcing is for how long after the first an interface that came up may repeat its gratuitous ARP.
const announcing = int64(5 * time.Second)

// gratuitous reports whether a sign is an ARP request for the address of its own host.
func gratuitous(s *agent.Sign) bool {
	return s.By == fabricagent.ByARP && !s.Host.IsZero() && s.To == s.Host
}

// missedOne reports whether a host came back with a gratuitous ARP from a time in which a request was sent to it that it did not get.
func (h *hostSilence) missedOne() bool {
	return h.announced && (h.waited > 0 || h.missed != 0 && h.missed < h.to)
}

// cameUp reports whether a host came back with a gratuitous ARP from a time in which nobody asked it for anything.
func (h *hostSilence) cameUp() bool {
	return h.announced && h.waited == 0 && h.missed == 0 && h.to != 0 && h.Length() >= interruption
}

// announces reports whether a host was down once at least, and whenever it was, and only then, came back with a gratuitous ARP: such a one shows that
// it was down, too, where only one request was lost.
func (t *teller) announces(a packet.Addr) bool {
	shown := false
	var backs []int64
	for _, h := range t.silencesOf(a) {
		strong := h.rounds > 1 || h.waited > 1
		switch {
		case h.to == 0:
		case strong && !h.announced:
			return false
		case strong || h.missedOne():
			backs, shown = append(backs, h.to), shown || strong
		case h.cameUp():
			backs = append(backs, h.to)
		}
	}
	for n := range t.run.Signs {
		if s := &t.run.Signs[n]; shown && s.Host == a && gratuitous(s) && !soonAfter(s.At, backs) {
			return false
		}
	}
	return shown
}

// soonAfter reports whether a time is at one of others, or soon after it.
func soonAfter(at int64, others []int64) bool {
	for _, o := range others {
		if at >= o && at-o <= announcing {
			return true
		}
	}
	return false
}
