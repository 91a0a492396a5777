package incident

import (
	"encoding/binary"
	"fmt"
	"net"
	"slices"

	"ibwitness/link"
	"ibwitness/packet"
)

// spared says that all that lost packets came by there, and what lost nothing and did not.
func (b *enteredBy) spared(t *teller, a *across) string {
	all := "all of these"
	if a.fates.lossy == 2 {
		all = "both"
	}
	said := fmt.Sprintf("; %s %s %s, and ", all, a.came(), b.name(t))
	if b.few == 0 {
		said += "none"
	} else {
		said += fmt.Sprintf("only %d, with %s,", b.few, count(b.sentFew, "packet"))
	}
	return said + fmt.Sprintf(" of the other %d between the same hosts, which lost nothing, with about %s: likely one path of several (a member of an ECMP group or LAG)",
		a.steady, count(a.sentSteady, "packet"))
}

// came is what packets did at the tap: what was lost after it left there.
func (a *across) came() string {
	if a.sum.side() == afterTap {
		return "left"
	}
	return "came"
}

// name says where packets came by.
func (b *enteredBy) name(t *teller) string {
	from := ""
	if b.Source != 0 {
		from = "from " + t.stationName(b.Source)
	}
	if !b.byTap {
		return from
	}
	if from != "" {
		from = ", " + from
	}
	return "over " + t.interfaceOf(b.Tap) + from
}

// portName is the Ethernet address of a port that has others pause, and who it is by LLDP.
func (t *teller) portName(p *link.Paused) string {
	var mac [8]byte
	copy(mac[2:], p.From[:])
	return t.stationName(binary.BigEndian.Uint64(mac[:]))
}

// stationName is an Ethernet address, and who it is by LLDP.
func (t *teller) stationName(station uint64) string {
	var mac [8]byte
	for k := range mac {
		mac[k] = byte(station >> (56 - 8*k))
	}
	name, ports := "", 0
	for _, n := range t.run.Neighbors {
		if n.Station != station {
			continue
		}
		switch ports++; {
		case ports == 1 && n.Port != "":
			name = fmt.Sprintf(" (%s by LLDP, its port %s)", n.System, n.Port)
		default:
			name = fmt.Sprintf(" (%s by LLDP)", n.System)
		}
	}
	return net.HardwareAddr(mac[2:]).String() + name
}

// backSaid tells of what goes the other way there; "": it is not known, or something was lost of it.
func (b *enteredBy) backSaid(a *across) string {
	if b.back == 0 || a.sum.against > 0 {
		return ""
	}
	return fmt.Sprintf("what goes the other way over this tap, from %s to %s, with %s, shows no loss", someOf(a.others), someOf(a.senders), count(b.sentBack, "packet"))
}

// besideSaid tells of those with other hosts.
func (b *enteredBy) besideSaid(a *across) string {
	if b.beside == 0 {
		return ""
	}
	return fmt.Sprintf("%s more between one of these hosts and others, in that direction, %s by other ways, with %s, and lost nothing",
		count(uint64(b.beside), "connection"), a.came(), count(b.sentBeside, "packet"))
}

// answersSaid tells of the answers that came by there, of which some may have been lost.
func (b *enteredBy) answersSaid() string {
	if len(b.answers) == 0 {
		return ""
	}
	var list []string
	for _, f := range b.answers[:min(len(b.answers), portsShown)] {
		list = append(list, fmt.Sprintf("%d from %v to %v (%s)", f.port, f.from, f.to, times(uint64(f.answers))))
	}
	if n := len(b.answers) - len(list); n > 0 {
		list = append(list, fmt.Sprintf("%d more", n))
	}
	return "only a timer had requests of the other direction retransmitted whose answers came by there, too, so that it fits that these were lost there: by their UDP source port, " + enumerate(list)
}

// lasts says whether losses of a sum went on to the end of the capture: nothing does, where the capture ends long after the last of them.
func (t *teller) lasts(s *lossSum) string {
	n := int64(s.before + s.after)
	if !t.timed() || n < tellingRounds || t.run.Last-s.end > lastsWithin*(s.end-s.begin)/n {
		return ""
	}
	return "on and off until the capture ends"
}

// lastsWithin is within how many mean times between losses a capture ends after the last at most, where they may go on.
const lastsWithin = 4

// nextOf says what to look at for a path.
func (b *enteredBy) nextOf(t *teller, a *across) []string {
	const out = "take that path out of the ECMP group or LAG (shut, or cost out): the losses end then, if it is that"
	switch {
	case b.through > 0:
		return []string{
			fmt.Sprintf("CRC and FEC errors, optical levels and discards of each port after the far end of %s, on the way to %s: both ends of each link, what it receives in that direction", t.interfaceOf(b.Tap), someOf(a.others)), out,
		}
	case a.sum.side() == afterTap:
		return []string{"CRC and FEC errors, optical levels and discards at the far end of " + t.interfaceOf(b.Tap) + ", of what it receives, and what its near end sends", out}
	}
	what := "that device"
	if b.Source != 0 {
		what = t.stationName(b.Source)
	}
	return []string{
		fmt.Sprintf("CRC and FEC errors, optical levels and discards of each port on that path, both ends of each link: from %s to the tap, and before it", what),
		out,
	}
}

// leadEntered has an incident of losses tell that all of them came by one way.
func (t *teller) leadEntered(i *Incident, a *across) {
	i.Facts = slices.DeleteFunc(i.Facts, func(f Fact) bool { return f.Label == "answers" })
	i.fact("answers", a.by.answersSaid())
	i.fact("others", a.by.besideSaid(a))
	i.fact("same tap", a.by.throughSaid(a))
	i.fact("other way", a.by.backSaid(a))
	i.fact("lasts", t.lasts(a.sum))
	i.Next = slices.DeleteFunc(i.Next, func(s string) bool { return s == hashedTo })
	i.Next = slices.Insert(i.Next, 0, a.by.nextOf(t, a)...)
}

// cleanHosts are those with which queue pairs that lost none came by another way.
func (a *across) cleanElsewhere() (list []packet.Addr) {
	for _, c := range a.cleanEnds {
		if !a.by.is(c.end) {
			list = withHost(withHost(list, c.end.Addr), c.to)
		}
	}
	return list
}
