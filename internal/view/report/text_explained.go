package report

import (
	"slices"

	"ibwitness/incident"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/verifier/rc"
)

// numbered is a queue pair.
type numbered struct {
	addr packet.Addr
	qpn  uint32
}

// networkExplains are the rules that an endpoint seems to break where the network damages, loses, delays or reorders packets between it and the tap.
var networkExplains = map[rule.ID]bool{
	rule.ROCV2019: true, rule.UCPSN001: true,
	rule.RCPSN004: true, rule.RCRES001: true, rule.RCRSP005: true, rule.RCRSP007: true, rule.RCRTY005: true, rule.RCRTY006: true, rule.RCRTY008: true, rule.RCRTY010: true,
}

// orderExplains are those besides that a responder seems to break where packets come in another order to it, or its answers to the tap.
var orderExplains = map[rule.ID]bool{rule.RCRSP006: true, rule.RCRSP013: true, rule.RCRSP017: true}

// nakExplains are those besides that it seems to break where it takes packets that come in another order for lost.
var nakExplains = map[rule.ID]bool{rule.RCRSP002: true, rule.RCRSP003: true}

// byOrder reports whether an incident of packets that came late between the same hosts would explain a suspicion.
func byOrder(i *incident.Incident, f *rule.Finding) bool {
	return networkExplains[f.Rule] || orderExplains[f.Rule] || nakExplains[f.Rule] && !i.Ordinary()
}

// ofLosses are the kinds of incidents that show, or may show, that packets were lost or late.
var ofLosses = map[incident.Kind]bool{
	incident.Unanswered: true, incident.Interrupted: true, incident.Retransmitting: true, incident.Loss: true, incident.Damage: true, incident.Trimmed: true, incident.Reordered: true, incident.Untrusted: true,
}

// excuse says what would explain all suspicions that the verdict is about, where they are of endpoints that may have done what they had to: NAKs on the same connections have asked for what the tap shows, so
// that packets of these requesters were lost between it and the responders; or the incidents show that this network lost or delayed packets. Empty: nothing would explain some of them.
func (t *text) excuse() string {
	after, near := t.lossesAfter()
	damaged, late := false, true
	unheld := t.unheldExplains()
	asked, lost := true, slices.ContainsFunc(t.run.Incidents(), func(i incident.Incident) bool { return ofLosses[i.Kind] || i.Loses() })
	for n := range t.res.Findings {
		f := &t.res.Findings[n]
		if f.Class != rule.Unproven || f.Rule.Row().Severity != rule.Error {
			continue
		}
		asked = asked && f.Rule == rule.RCRSP005 && after[[2]numbered{{f.Accused.Addr, f.Accused.QPN}, {f.Peer.Addr, f.Peer.QPN}}]
		damaged = damaged || f.Rule == rule.ROCV2019
		lost = lost && networkExplains[f.Rule] && !near[f.Accused.Addr]
		late = late && !near[f.Accused.Addr] && t.cameLate(f)
	}
	switch {
	case asked:
		return "; NAKs show losses after the tap on these connections, which would explain that"
	case unheld:
		return "; packets that the capture lost would explain that"
	case lost && damaged && t.damagedOnWay():
		return onTheWay
	case lost && damaged:
		return "; packets that were damaged, lost or late would explain that"
	case lost:
		return "; packets that were lost or late would explain that"
	case late:
		return "; packets that came late would explain that"
	}
	return ""
}

// cameLate reports whether an incident shows that packets between the hosts of a finding came after later ones, which would explain it.
func (t *text) cameLate(f *rule.Finding) bool {
	return slices.ContainsFunc(t.run.Incidents(), func(i incident.Incident) bool {
		return i.Kind == incident.Reordered && i.Between(f.Accused.Addr, f.Peer.Addr) && byOrder(&i, f)
	})
}

// unheldExplains reports whether the capture lost packets, where nothing shows that the network did, and all suspicions are what that looks like: of the rules that losses explain, and of responses to requests that it does not hold.
func (t *text) unheldExplains() bool {
	list := t.run.Incidents()
	if !slices.ContainsFunc(list, func(i incident.Incident) bool { return i.Lacks() }) || slices.ContainsFunc(list, func(i incident.Incident) bool { return i.Kind != incident.Untrusted && (ofLosses[i.Kind] || i.Loses()) }) {
		return false
	}
	return !slices.ContainsFunc(t.res.Findings, func(f rule.Finding) bool {
		missed := f.Rule == rule.RCRSP006 && f.Detail == rc.TapMissed
		return f.Class == rule.Unproven && f.Rule.Row().Severity == rule.Error && !missed && (!networkExplains[f.Rule] || f.Rule == rule.ROCV2019)
	})
}

// onTheWay excuses whoever sent packets with a wrong ICRC, so that the verdict line names nobody.
const onTheWay = "; packets were damaged after their ICRC had been computed, as flipped bits show, which would explain that"

// damagedOnWay reports whether packets had a wrong ICRC that is right with bits of one byte turned back, or one bit of two bytes, and no other packet that was looked at had one: their senders have
// computed it rightly. Bits at the same place of the headers in each, a sender may have changed itself, or taken otherwise than it has to.
func (t *text) damagedOnWay() bool {
	first, varied := -1, false
	for k := range t.res.Findings {
		f := &t.res.Findings[k]
		if !icrc(f.Rule) || f.Comparison == nil {
			continue
		}
		flip, looked := f.Comparison.Flip()
		if looked && flip.Bits == 0 {
			return false
		}
		if looked {
			varied = varied || flip.OfPayload() || first >= 0 && first != flip.At
			first = flip.At
		}
	}
	return varied
}

// lossesAfter returns the responder and the requester of connections on which NAKs have asked for what the tap shows, and the hosts that the tap is near.
func (t *text) lossesAfter() (after map[[2]numbered]bool, near map[packet.Addr]bool) {
	after, near = map[[2]numbered]bool{}, map[packet.Addr]bool{}
	for n := range t.res.Connections {
		c := &t.res.Connections[n]
		for k := range c.Ends {
			e, peer := &c.Ends[k], &c.Ends[1-k]
			if e.Near {
				near[e.Addr] = true
			}
			if e.Trouble != nil && e.Trouble.Asked.After > 0 && !peer.Near && e.QPNKnown && peer.QPNKnown {
				after[[2]numbered{{peer.Addr, peer.QPN}, {e.Addr, e.QPN}}] = true
			}
		}
	}
	return after, near
}
