package sma

import (
	"slices"

	"ibwitness/mad"
)

// refusal is what a faulty node keeps in mind to refuse what it should not.
type refusal struct {
	answered []mad.Attribute // of which it answers only one Get
	set      []mad.Attribute // that were set, and not read since, or, of LinearForwardingTable, at all
}

// refuses reports whether a faulty node refuses what it has.
func (n *Node) refuses(r *request) bool {
	switch r.Attribute {
	case mad.AttrPortInfo:
		return n.refusesPortInfo(r)
	case mad.AttrNodeInfo, mad.AttrSwitchInfo:
		return r.set() && n.has(setRefused)
	case mad.AttrLinearForwarding:
		if n.refusesLinear(r) {
			return true
		}
	}
	return r.set() && n.has(setRefused) || !r.set() && n.has(getRefused)
}

// refusesPortInfo is refuses for PortInfo.
func (n *Node) refusesPortInfo(r *request) bool {
	p := n.managed(r.in.number)
	switch {
	case r.set() && n.has(smSLRefused):
		return piSMSL.Uint(r.Data) != p.get(piSMSL)
	case !r.set() && n.sw != nil && r.Modifier != 0 && n.has(portInfoExternalRefused):
		return true
	case !n.has(portInfoOnceRefused):
	case r.set():
		n.refusal.set = []mad.Attribute{r.Attribute}
	default:
		refused := len(n.refusal.set) > 0
		n.refusal.set = nil
		return refused
	}
	return false
}

// refusesLinear is refuses for LinearForwardingTable.
func (n *Node) refusesLinear(r *request) bool {
	missing := func(port byte) bool { return port > n.config.Ports && port != noPort }
	switch {
	case r.set() && n.has(lftPortRefused):
		return slices.ContainsFunc(r.Data, missing)
	case !n.has(lftUnreadable):
	case r.set():
		n.refusal.set = []mad.Attribute{r.Attribute}
	default:
		return len(n.refusal.set) > 0
	}
	return false
}

// repeats reports whether a faulty node has answered a Get before that it answers only once.
func (n *Node) repeats(method mad.Method, a mad.Attribute) bool {
	if !n.has(answersOnce) || method != mad.Get || a != mad.AttrNodeInfo && a != mad.AttrClassPortInfo {
		return false
	}
	if slices.Contains(n.refusal.answered, a) {
		return true
	}
	n.refusal.answered = append(n.refusal.answered, a)
	return false
}

// Reply is the SLID and the service level of the answer to a packet that was for a LID and had a service level.
func (n *Node) Reply(number uint8, lid uint16, sl uint8) (slid uint16, level uint8) {
	if n.has(drOwnSLID) && lid == mad.PermissiveLID {
		lid, _ = n.LID(number)
	}
	if n.has(smpOtherSL) {
		sl = 1
	}
	return lid, sl
}
