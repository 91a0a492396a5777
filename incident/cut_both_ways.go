package incident

import (
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
)

// cutBothWays reports whether a host was cut off in a silence of which nothing shows that before it was back: what was sent to it then was lost, and
// what it sent itself, which the first packet of a queue pair after it shows. It returns when the first request was sent that was; 0: it was not.
func (t *teller) cutBothWays(a packet.Addr, h *hostSilence) (since int64) {
	if h.seen || h.to == 0 || !h.ended {
		return 0
	}
	k := cutOff{hostSilence: *h}
	if k.missed(t, a, t.askedOf(a)); k.on == 0 {
		return 0
	}
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		for e := range c.Ends {
			x := &c.Ends[e]
			if x.Trouble == nil || c.Ends[1-e].Addr != a || x.Addr == a || !c.Service.Reliable() {
				continue
			}
			settled := x.Trouble.Settled(x.Stalled)
			for j := range settled.Longest {
				if s := &settled.Longest[j]; h.misses(s) && (since == 0 || s.Since < since) {
					since = s.Since
				}
			}
		}
	}
	return since
}

// misses reports whether stall s is of a request that was sent in a silence, retransmitted only when it was over, and then answered.
func (h *hostSilence) misses(s *qp.Stall) bool {
	return s.Since > h.from-aftermath && s.Since < h.to && s.Begun >= h.to && s.Total() > 0 && s.Ended > s.Begun && s.NAKs == 0 && !s.Late && !s.AnswerLost && !s.Before && !s.Unshown
}

// askedOf returns the PSN sequence NAKs that ask a host for what it sent.
func (t *teller) askedOf(a packet.Addr) (list []*rule.Finding) {
	for n := range t.run.Findings {
		if f := &t.run.Findings[n]; f.Rule == rule.EvSeqNAK && f.Class == rule.Event && f.Peer.Addr == a {
			list = append(list, f)
		}
	}
	return list
}

// wentOnAfter has the incident of a host that was down several times tell instead of others of a list which say only that a queue pair of it went on
// with a later PSN when one of these was over.
func (i *Incident) wentOnAfter(downs []hostSilence, list []Incident, merged map[*Incident]bool) {
	a := i.Peer.Addr
	for n := range list {
		o := &list[n]
		if o.Kind != Interrupted || o.Certainty != Likely || !o.common.IsZero() || o.Local.Addr != a && o.Peer.Addr != a || merged[o] {
			continue
		}
		for k := range downs {
			if d := &downs[k]; d.to != 0 && o.Begin < d.to && o.End >= d.to && o.End <= d.to+aftermath {
				merged[o] = true
				i.foundToo(o.Found)
				if o.Tap == i.Tap {
					i.show(o.Frames...)
				}
			}
		}
	}
}
