package header

import (
	"fmt"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
)

// Trimmed recognizes a packet that a switch has cut short in place of dropping it, and given another DSCP: the IP or UDP length, or the path MTU, is that of the whole
// packet. It counts as an event, and is followed no further: it has no ICRC, so that its receiver drops it. A frame that is short and has the DSCP of its flow may have been cut
// by anything.
func (v *Verifier) Trimmed(c *qp.Pair, from int, p *packet.Packet) bool {
	const unlike = packet.FlawDiscard | packet.FlawFragment | packet.FlawExtension
	if c == nil || p.Cut || !p.Encap.OnIP() || p.Has&packet.HasBTH == 0 || p.Flaws&unlike != 0 || v.Untouched(p) {
		return false
	}
	end := &c.Ends[from]
	if f := &end.Flow; !f.Known() || f.TClass == p.TClass>>2 || end.Sums().Bytes == 0 { // the last: a mirror that cuts all frames leaves those without payload
		return false
	}
	whole := untrimmed(c, p)
	if whole == "" {
		return false
	}
	v.ReportBytes(c, from, p, rule.Verdict{
		Rule: rule.EvTrimmed, Class: rule.Event, Role: rule.Network,
		Detail: fmt.Sprintf("%d bytes %s, DSCP %d in place of %d", len(p.Data), whole, p.TClass>>2, end.Flow.TClass),
	})
	v.dropped(c, from, p)
	return true
}

// untrimmed says how long packet p was before it was cut; "": nothing says that it was.
func untrimmed(c *qp.Pair, p *packet.Packet) string {
	said := int(p.PayLen) // of IPv4 with its header
	if p.Encap == packet.RoCEv2IPv6 {
		said += 40
	}
	udp := p.BTHOff - 8 + int(p.UDPLen)
	switch {
	case p.Flaws&packet.FlawIPLength != 0 && said == udp && said > len(p.Data):
		return fmt.Sprintf("in place of %d", said)
	case p.Flaws&(packet.FlawIPLength|packet.FlawUDPLength) == packet.FlawUDPLength && said == len(p.Data) && udp > said:
		return fmt.Sprintf("in place of %d, by its UDP length", udp)
	case p.Flaws == 0 && p.ICRCState == packet.CRCBad && c.PMTU != 0 && p.Info().Payload && !p.Info().Last && !p.Info().Only && p.PayloadLen < int(c.PMTU):
		return fmt.Sprintf("in place of %d, with the lengths in its headers changed to match (every %v carries %d bytes of payload, it %d)", len(p.Data)-p.PayloadLen+int(c.PMTU), p.Opcode, c.PMTU, p.PayloadLen)
	}
	return ""
}
