package header

import (
	"fmt"
	"slices"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/subnet"
)

// inTables compares a packet with the tables of the port s that sent it, and of the one that it goes to (rules PKY-004, PKY-003, NET-GRH-008). What
// is in flight while a manager changes a table is not judged.
func (v *Verifier) inTables(c *qp.Pair, from int, p *packet.Packet, s *subnet.Port) {
	if s.Knows(subnet.KnowsPKeys) && s.Settled(p.Time) && p.PKey&0x7FFF != 0 {
		v.sourcePKey(c, from, p, s)
	}
	d := v.Subnet.Port(p.DLID)
	if d == nil || d.Node.Type != subnet.ChannelAdapter || !d.Settled(p.Time) {
		return
	}
	if d.Knows(subnet.KnowsPKeys) && c != nil && c.Reliable() && c.Sees(1-from) {
		v.unmatched(c, from, p, d)
	}
	if p.Has&packet.HasGRH != 0 && p.Opcode.Service() == packet.UD && !p.DGID.IsMulticast() && d.Knows(subnet.KnowsGUIDs|subnet.KnowsInfo) {
		v.destGID(c, from, p, d)
	}
}

// destGID judges that a GID of port d, which a packet of UD goes to, is the one that its GRH names (rule NET-GRH-008).
func (v *Verifier) destGID(c *qp.Pair, from int, p *packet.Packet, d *subnet.Port) {
	v.Covered(rule.NETGRH008)
	if !d.HasGID(p.DGID.Hi, p.DGID.Lo) {
		v.byTable(c, from, p, d, v.Near(p.Dst), rule.Verdict{
			Rule: rule.NETGRH008, Expected: fmt.Sprintf("one of the %d GUIDs of the port with LID %d, and one of its prefixes", len(d.GUIDs), d.LID), Actual: p.DGID.String(),
		})
	}
}

// sourcePKey judges that the P_Key of a packet is in the table of the port s that sent it (rule PKY-004).
func (v *Verifier) sourcePKey(c *qp.Pair, from int, p *packet.Packet, s *subnet.Port) {
	v.Covered(rule.PKY004)
	if !slices.Contains(s.PKeys, p.PKey) && firstReport(c, from, qp.ReportedPKey) {
		v.byTable(c, from, p, s, v.Near(p.Src), rule.Verdict{
			Rule: rule.PKY004, Expected: fmt.Sprintf("a P_Key of the %d in the table of the port", len(s.PKeys)), Actual: fmt.Sprintf("P_Key 0x%04x", p.PKey),
		})
	}
}

// firstReport reports whether something has yet to be reported of an end, and notes that it is.
func firstReport(c *qp.Pair, from int, what uint16) bool {
	if c == nil {
		return true
	}
	f := &c.Ends[from].Flow
	was := f.Reported
	f.Reported |= what
	return was&what == 0
}

// byTable makes a finding that the table of a port proves where the tap sees all that is set on the port.
func (v *Verifier) byTable(c *qp.Pair, from int, p *packet.Packet, s *subnet.Port, sees bool, d rule.Verdict) {
	d.Role, d.Class, d.Evidence = rule.Sender, rule.Proven(sees), []uint64{s.Frame}
	if !sees {
		d.Detail = "packets that the capture does not hold may have changed the table"
	}
	v.ReportBytes(c, from, p, d)
}

// unmatched notes a request whose P_Key is in no entry of the table of its receiver, which is silent.
func (v *Verifier) unmatched(c *qp.Pair, from int, p *packet.Packet, d *subnet.Port) {
	q := &c.Ends[from].SQ
	if !p.Info().Request || c.Ends[from].Flow.Reported&qp.ReportedTaken != 0 || d.Takes(p.PKey) {
		return
	}
	v.Broken = true
	q.OpenForeign(p.PSN)
}
