package header

import (
	"fmt"

	"ibwitness/expect"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/subnet"
)

// onSubnet compares a native packet with what subnet management has shown of the port that sent it.
func (v *Verifier) onSubnet(c *qp.Pair, from int, p *packet.Packet) {
	if p.DestQP == 0 { // or there is none
		return
	}
	s := v.Subnet.Port(p.SLID)
	d := rule.Verdict{Class: rule.Violation, Role: rule.Sender}
	if s.Knows(subnet.KnowsSLtoVL) {
		v.Covered(rule.LNKVL005)
		if s.SLtoVL[p.SL] == 15 {
			d.Rule, d.Expected, d.Actual = rule.LNKVL005, fmt.Sprintf("no packet of SL %d, which the port maps to VL 15", p.SL), "a data packet"
			v.onPort(c, from, p, s, d)
		}
	}
	if s.Knows(subnet.KnowsMTU) {
		v.Covered(rule.LNKMTU001)
		switch most := mostWords(int(s.MTU)); {
		case int(p.PktLen) > mostWords(4096): // reported
		case int(p.PktLen) > most:
			d.Rule, d.Expected, d.Actual = rule.LNKLRH007, fmt.Sprintf("PktLen at most %d words", most), fmt.Sprintf("PktLen %d words", p.PktLen)
			v.onPort(c, from, p, s, d)
		case p.PayloadLen > int(s.MTU):
			d.Rule, d.Expected, d.Actual = rule.LNKMTU001, fmt.Sprintf("at most %d bytes of payload, the MTU of the link", s.MTU), fmt.Sprintf("%d bytes", p.PayloadLen)
			v.onPort(c, from, p, s, d)
		}
	}
	if s.Knows(subnet.KnowsInfo) && s.State == 3 && s.Node.Type == subnet.ChannelAdapter && p.VL != 15 {
		v.armed(c, from, p, s)
	}
	if p.Has&packet.HasGRH != 0 {
		v.ownLID(c, from, p)
	}
	v.inTables(c, from, p, s)
}

// onPort makes a finding that the known attributes of a port prove, where the tap sees all that is set on the port.
func (v *Verifier) onPort(c *qp.Pair, from int, p *packet.Packet, s *subnet.Port, d rule.Verdict) {
	v.Broken = true
	if d.Class == rule.Violation && !v.Near(p.Src) && (s.LID == 0 || !v.Near(packet.LIDAddr(s.LID))) {
		d.Class, d.Detail = rule.Unproven, "the subnet manager may have changed the port in packets that the capture does not hold"
	}
	if s.Frame != 0 {
		d.Evidence = []uint64{s.Frame}
	}
	v.ReportBytes(c, from, p, d)
}

// armed judges a data packet of a channel adapter whose port is Armed (rule LNK-ST-003). The first data packet that it gets makes it active, and that may have come
// from anywhere: what the peer of this connection has sent is such.
func (v *Verifier) armed(c *qp.Pair, from int, p *packet.Packet, s *subnet.Port) {
	v.Covered(rule.LNKST003)
	if c == nil || c.Ends[1-from].Packets() > 0 || c.Ends[from].Packets() > 1 {
		return
	}
	v.onPort(c, from, p, s, rule.Verdict{
		Rule: rule.LNKST003, Class: rule.Unproven, Role: rule.Sender, Detail: "a data packet that the capture does not hold may have made the port Active",
		Expected: "no data packet from a port that is Armed and has received none", Actual: fmt.Sprintf("a data packet on VL %d", p.VL),
	})
}

// ownLID compares the source LID with those of the port that the GID names (rules LNK-LID-006, and LNK-LID-005 where the port answers what came to that LID).
func (v *Verifier) ownLID(c *qp.Pair, from int, p *packet.Packet) {
	s := v.Subnet.Port(p.SLID)
	if s == nil { // the LID of nobody
		s = v.portOf(p.SGID.Lo)
	}
	if s == nil || s.LID == 0 || !s.Knows(subnet.KnowsGUID) || s.GUID != p.SGID.Lo {
		return // a port has more GUIDs than its own
	}
	d := rule.Verdict{Rule: rule.LNKLID006, Class: rule.Violation, Role: rule.Sender}
	if p.Info().Response {
		d.Rule = rule.LNKLID005
	}
	v.Covered(d.Rule)
	if p.SLID >= s.LID && p.SLID < s.LID+1<<s.LMC {
		return
	}
	d.Wants = rule.Want(expect.SLID, uint64(s.LID))
	d.Expected, d.Actual = fmt.Sprintf("LID %d of the port", s.LID), fmt.Sprintf("LID %d", p.SLID)
	if s.LMC > 0 {
		d.Expected = fmt.Sprintf("LID %d to %d of the port", s.LID, s.LID+1<<s.LMC-1)
	}
	if d.Rule == rule.LNKLID005 {
		d.Actual = fmt.Sprintf("a response to a packet to LID %d", p.SLID)
	}
	v.onPort(c, from, p, s, d)
}

// portOf returns the port with a GUID, or nil.
func (v *Verifier) portOf(guid uint64) *subnet.Port {
	for _, n := range v.Subnet.Nodes {
		for _, s := range n.Ports {
			if s.GUID == guid {
				return s
			}
		}
	}
	return nil
}
