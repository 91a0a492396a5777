package header

import (
	"fmt"
	"strings"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
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
	whole := untrimmed(c, from, p)
	if whole == "" {
		return false
	}
	v.ReportBytes(c, from, p, rule.Verdict{
		Rule: rule.EvTrimmed, Class: rule.Event, Role: rule.Network,
		Detail: fmt.Sprintf("%d bytes %s, ", len(p.Data), whole) + fmt.Sprintf(trimmedDSCP, p.TClass>>2, end.Flow.TClass),
	})
	end.Trim(p.TClass >> 2)
	v.dropped(c, from, p)
	cutShort(c, from, p)
	return true
}

// trimmedDSCP ends the detail of a packet that was trimmed.
const trimmedDSCP = "DSCP %d in place of %d"

// TrimmedDSCP returns the DSCP of a packet that was trimmed, and the one that its queue pair has otherwise, by its detail; false: that does not say it.
func TrimmedDSCP(detail string) (came, usual uint8, known bool) {
	at := strings.LastIndex(detail, "DSCP ")
	if at < 0 {
		return 0, 0, false
	}
	n, _ := fmt.Sscanf(detail[at:], trimmedDSCP, &came, &usual)
	return came, usual, n == 2
}

// MaybeTrimmed is why it is not proven that a packet has a wrong length, which a switch may have trimmed.
const MaybeTrimmed = "the packet may have been cut, trimmed by a switch or damaged on the way to the tap: its queue pair had sent no payload before"

// mayBeTrimmed reports whether packet p of end from, whose length is wrong, may have been trimmed: its queue pair has sent nothing before that shows that not all its
// packets are cut. The first packets of a connection, which begins with the first whole one, have none (c nil).
func mayBeTrimmed(c *qp.Pair, from int, p *packet.Packet) bool {
	const wrong = packet.FlawIPLength | packet.FlawUDPLength
	if !p.Encap.OnIP() || p.Has&packet.HasBTH == 0 || p.Flaws&wrong == 0 || untrimmed(c, from, p) == "" {
		return false
	}
	if c == nil {
		return true
	}
	f := &c.Ends[from].Flow
	return (!f.Known() || f.TClass != p.TClass>>2) && c.Ends[from].Sums().Bytes == 0
}

// cutShort notes packet p, which came cut short, and was sent whole.
func cutShort(c *qp.Pair, from int, p *packet.Packet) {
	if p.Has&packet.HasBTH != 0 && p.Info().Request {
		c.Ends[from].SQ.CutShort(p.PSN)
	}
}

// untrimmed says how long packet p was before it was cut; "": nothing says that it was.
func untrimmed(c *qp.Pair, from int, p *packet.Packet) string {
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
	case p.Flaws != 0 || p.ICRCState != packet.CRCBad || !p.Info().Payload:
		return ""
	}
	const matched = ", with the lengths in its headers changed to match "
	size := carries(c, from, p)
	switch whole := len(p.Data) - p.PayloadLen + size; {
	case size > p.PayloadLen && (p.Info().Last || p.Info().Only):
		return fmt.Sprintf("in place of %d"+matched+"(its message has %d bytes of payload left for it, it carries %d)", whole, size, p.PayloadLen)
	case size > p.PayloadLen:
		return fmt.Sprintf("in place of %d"+matched+"(every %v carries %d bytes of payload, it %d)", whole, p.Opcode, size, p.PayloadLen)
	case size == 0 && c.Ends[from].Odd().Trimmed == p.TClass>>2+1:
		return "in all" + matched + "(its DSCP is that of the packets of this queue pair that were trimmed before)"
	}
	return ""
}

// carries returns how many bytes of payload packet p of end from has to carry; 0: it is not known.
func carries(c *qp.Pair, from int, p *packet.Packet) int {
	info := p.Info()
	switch {
	case info.Only && p.Has&packet.HasRETH != 0:
		return int(p.DMALen)
	case c.PMTU == 0 || info.Only && !info.Response:
		return 0
	case !info.Last && !info.Only:
		return int(c.PMTU)
	}
	sender := from
	if info.Response {
		sender = 1 - from
	}
	q := &c.Ends[sender].SQ.Messages
	if q.Len() == 0 {
		return 0
	}
	w, _ := q.Find(p.PSN)
	if w == nil { // its PSN is the next of the message that is being sent
		if w = q.Newest(); p.PSN != w.Last.Add(1) {
			return 0
		}
	}
	if w.Op == wqe.Send || w.Length == 0 {
		return 0
	}
	before := uint32(p.PSN.Diff(w.First)) * c.PMTU
	if before >= w.Length || w.Length-before > c.PMTU {
		return 0
	}
	return int(w.Length - before)
}
