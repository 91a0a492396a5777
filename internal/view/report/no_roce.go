package report

import (
	"fmt"

	"ibwitness/agent"
	"ibwitness/packet"
)

// noRoCE is the datagrams to port 4791 that are no RoCE; nil: there are none.
func noRoCE(r *agent.Result) []others {
	if len(r.NoRoCE) == 0 {
		return nil
	}
	first := &r.NoRoCE[0]
	o := others{What: "UDP datagram to port 4791, no RoCE", singular: "UDP datagram", plural: "UDP datagrams", ofRDMA: true, Tap: &first.Tap, Frame: first.Frame}
	answers, short, one := uint64(0), uint64(0), true
	for i := range r.NoRoCE {
		x := &r.NoRoCE[i]
		o.Count, answers, short = o.Count+x.Count, answers+x.Answers, short+x.Short
		o.by(x.From)
		one = one && x.From == first.From && x.To == first.To
		if x.Frame < o.Frame {
			o.Tap, o.Frame = &x.Tap, x.Frame
		}
	}
	o.few()
	switch {
	case one && len(r.NoRoCE) == 1:
		o.more = fmt.Sprintf(" of %v port %d to port %d of %v", first.From, first.Port, packet.UDPPort, first.To)
	case one:
		o.more = fmt.Sprintf(" of %v to port %d of %v", first.From, packet.UDPPort, first.To)
	case o.From != nil:
		o.more = fmt.Sprintf(" of %s to port %d", enumerate(o.From), packet.UDPPort)
	default:
		o.more = fmt.Sprintf(" of many hosts to port %d", packet.UDPPort)
	}
	why := "too short for RoCE"
	switch {
	case short == 0:
		why = "without the ICRC of RoCE"
	case short < o.Count:
		why = "too short for RoCE or without its ICRC"
	}
	o.more += fmt.Sprintf(", %s, %s from there: another program, no RoCE", why, howAnswered(o.Count, answers))
	return []others{o}
}

func howAnswered(n, answers uint64) string {
	if n == answers {
		return "each answered"
	}
	return fmt.Sprintf("answered %s", times(answers))
}
