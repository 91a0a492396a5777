package incident

import (
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/timing"
)

// cutHost is a host that was cut off, and when.
type cutHost struct {
	host packet.Addr
	in   []hostSilence
}

// ofCutOff reports whether stall s of end from of a connection is told with a host that was cut off meanwhile: PSNs are missing, or the host
// retransmitted only when it was back.
func (t *teller) ofCutOff(c *agent.Connection, from int, s *qp.Stall) bool {
	missing := s.Total() == 0 && s.Before
	return slices.ContainsFunc(t.away, func(h cutHost) bool {
		return endOf(c, h.host) != nil && slices.ContainsFunc(h.in, func(k hostSilence) bool {
			own := c.Ends[from].Addr == h.host && s.Total() > 0 && s.Begun >= k.to
			return k.from >= s.Since && k.to <= max(s.Ended, s.Last) && (missing || own)
		})
	})
}

// lostWhenCutOff has losses of hosts that were cut off fit that.
func (t *teller) lostWhenCutOff(list []Incident) {
	for _, h := range t.away {
		for n := range list {
			list[n].lostInDown(h.host, h.in)
		}
	}
}

// unseenBeside takes back that the tap may have recorded nothing in stall s, of which PSNs are missing, where it holds packets of others all that
// time.
func (t *teller) unseenBeside(i *Incident, s *qp.Stall) {
	on := i.Peer.Addr
	if s.Request.Frame == 0 {
		on = i.Local.Addr
	}
	went := t.wentOnBeside(on, packet.Addr{}, &timing.Silence{From: s.Since, To: s.Ended})
	if len(went) == 0 || s.Ended == 0 || t.lossy() || len(t.run.Taps) > 1 || len(t.run.Connections) > mostOthers {
		return
	}
	i.fact("meanwhile", someOf(went)+" went on: it is not the tap that stopped")
	i.FitsWith = []string{fmt.Sprintf("a link or path from %v to the tap that was down: PSNs are missing", on), "a path of several, of which the tap sees some"}
	i.Next = []string{fmt.Sprintf("link events of %v and of the switch ports between it and the tap, at that time", on)}
}
