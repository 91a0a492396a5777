package cm

import (
	"fmt"

	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
)

// paths judges the paths of a REQ (rules CM-REQ-008, -009, -010, -011, -014).
func (v *Verifier) paths(m *message, q *mad.REQ) {
	p := &q.Primary
	v.localDelay(m, q)
	if m.Has&packet.HasLRH != 0 {
		v.judge(m, rule.CMREQ009, !lidsFit(p), func() rule.Verdict {
			return rule.Verdict{Expected: "unicast LIDs on a path within the subnet, else 0xffff", Actual: pathLIDs(p)}
		})
	}
	v.judge(m, rule.CMREQ010, !unicastGID(p.LocalGID) || !unicastGID(p.RemoteGID), func() rule.Verdict {
		return rule.Verdict{Expected: "unicast GIDs of both ports", Actual: fmt.Sprintf("%v and %v", p.LocalGID, p.RemoteGID)}
	})
	v.judge(m, rule.CMREQ014, p.SubnetLocal != (p.HopLimit <= 1), func() rule.Verdict {
		return rule.Verdict{Expected: "Subnet Local if and only if the hop limit is 0 or 1", Actual: fmt.Sprintf("Subnet Local %t, hop limit %d", p.SubnetLocal, p.HopLimit)}
	})
	a := q.Alternate
	a.Reserved1, a.Reserved2, a.Reserved3 = 0, 0, 0
	v.alternate(m, &a, "an alternate path that is all 0, or has unicast GIDs and LIDs", a.IsZero())
}

// alternate judges the alternate path of a REQ or LAP (rule CM-REQ-011).
func (v *Verifier) alternate(m *message, a *mad.Path, expected string, none bool) {
	bad := !none && (!unicastGID(a.LocalGID) || !unicastGID(a.RemoteGID) || m.Has&packet.HasLRH != 0 && !lidsFit(a))
	v.judge(m, rule.CMREQ011, bad, func() rule.Verdict {
		return rule.Verdict{Expected: expected, Actual: fmt.Sprintf("GIDs %v and %v, %s", a.LocalGID, a.RemoteGID, pathLIDs(a))}
	})
}

func pathLIDs(p *mad.Path) string {
	return fmt.Sprintf("LIDs 0x%04x and 0x%04x, Subnet Local %t", p.LocalLID, p.RemoteLID, p.SubnetLocal)
}

// lidsFit reports whether the LIDs of a path are what its Subnet Local bit says.
func lidsFit(p *mad.Path) bool {
	if p.SubnetLocal {
		return unicast(p.LocalLID) && unicast(p.RemoteLID)
	}
	return p.LocalLID == mad.PermissiveLID && p.RemoteLID == mad.PermissiveLID
}

func unicast(lid uint16) bool { return lid > 0 && lid < 0xC000 }

func unicastGID(a packet.Addr) bool { return !a.IsZero() && !a.IsMulticast() && a.Hi>>56 != 0xFF }
