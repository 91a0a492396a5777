package smp

import (
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
)

// routeNodes says which nodes are at the two ends of the directed route of the packet at hand, whose packets have no LIDs of their own.
func (v *Verifier) routeNodes(f *rule.Finding) {
	s := &v.s
	if !s.Directed() || s.HopCount() > mad.MaxHops {
		return
	}
	begin, end := rule.Node{Route: "0"}, v.routeEnd()
	if s.HopCount() > 0 {
		end.Route = "0," + pathText(s.Initial, s.HopCount())
	}
	if f.Accused.Role == rule.Network {
		end.GUID, end.Description = 0, ""
	}
	from, to := begin, end
	if s.Backward() || f.Accused.Role == rule.Network {
		from, to = end, begin
	}
	if permitted := packet.LIDAddr(permissive); f.Accused.Addr == permitted && f.Peer.Addr == permitted {
		f.Accused.Node, f.Peer.Node = from, to
	}
}

// routeEnd is the node that the packet at hand, on a directed route, is to or from, as far as it is known.
func (v *Verifier) routeEnd() (n rule.Node) {
	s := &v.s
	var at place
	if s.Method == mad.GetResp {
		if x, _ := v.requestOf(); x != nil {
			at = x.at
		}
	} else if p := v.routes[v.route()]; p != nil && p.age == v.age {
		at = *p
	}
	switch {
	case at.known():
		n.GUID, n.Description = at.node.GUID, at.node.Description
	case s.Method == mad.GetResp && s.Attribute == mad.AttrNodeInfo && s.Code() == 0:
		n.GUID = niGUID.Uint(s.Data)
	}
	return n
}
