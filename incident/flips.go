package incident

import (
	"fmt"

	"ibwitness/expect"
	"ibwitness/rule"
)

// flips is which bits were flipped in damaged packets, of those that findings compare with what they should be.
type flips struct {
	damaged           uint64 // packets in all
	ethernet          bool   // that came as RoCE: in frames with an FCS, which captures seldom hold
	looked, bit, byte int    // how many were looked at, and in how many one bit was flipped, or several of one byte
	first             expect.Flip
	frame             uint64
	places            map[place]int // how many of them have the same
	apart             int           // greatest common divisor of how many bytes the others are from the first; 0: all are at the same byte
	unlike            bool          // other bits of their byte are flipped in some
}

// place is which bits of which byte of a packet were flipped.
type place struct {
	at   int
	bits byte
}

func (x *flips) add(f *rule.Finding) {
	x.damaged++
	x.ethernet = x.ethernet || f.Rule == rule.ROCV2019
	if f.Comparison == nil {
		return
	}
	flip, looked := f.Comparison.Flip()
	if !looked {
		return
	}
	if x.looked++; flip.Bits == 0 {
		return
	}
	if x.bit+x.byte == 0 {
		x.first, x.frame, x.places = flip, f.Frame, map[place]int{}
	}
	x.apart = divisor(x.apart, flip.At-x.first.At)
	x.unlike = x.unlike || flip.Bits != x.first.Bits
	if x.places[place{flip.At, flip.Bits}]++; flip.One() {
		x.bit++
	} else {
		x.byte++
	}
}

// pattern says how many of the packets that were looked at one bit explains, or one byte.
func (x *flips) pattern() string {
	var list []string
	if x.bit > 0 {
		list = append(list, fmt.Sprintf("in %d one bit is flipped", x.bit))
	}
	if x.byte > 0 {
		list = append(list, fmt.Sprintf("in %d several bits of one byte", x.byte))
	}
	switch more := x.looked - x.bit - x.byte; {
	case more == x.looked:
		return fmt.Sprintf("none of the first %d%s is explained by one bit or one byte", x.looked, x.of())
	case more > 0:
		list = append(list, fmt.Sprintf("in %d more than that", more))
	}
	return fmt.Sprintf("of the first %d%s: %s", x.looked, x.of(), enumerate(list))
}

// of says of how many damaged packets those are that were looked at; "": of no more.
func (x *flips) of() string {
	if x.damaged <= uint64(x.looked) {
		return ""
	}
	return " of " + number(x.damaged)
}

// divisor is the greatest common divisor of two distances.
func divisor(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return max(a, -a)
}

// fewRegular is from how many flips on it is no chance that all are of the same bit, or at the same place of a lane.
const fewRegular = 4

// regular says what the flips of all packets that were looked at have in common: the bit, or the byte modulo the width of a lane; "": nothing.
func (x *flips) regular() string {
	if x.bit+x.byte < fewRegular || x.bit+x.byte < x.looked || x.apart == 0 {
		return ""
	}
	var list []string
	if !x.unlike {
		list = append(list, fmt.Sprintf("the same bits, 0x%02x of their byte", x.first.Bits))
	}
	for _, width := range []int{64, 32, 16, 8} {
		if x.apart%width == 0 {
			list = append(list, fmt.Sprintf("byte %d of every %d of the packet, counted from 0", x.first.At%width, width))
			break
		}
	}
	if len(list) == 0 {
		return ""
	}
	return "in each of them " + enumerate(list)
}

// tell adds to an incident which bits were flipped, and what that fits.
func (x *flips) tell(i *Incident) {
	link, memory := "a bad cable, transceiver or switch port", "memory of an adapter or switch that flips bits: its links' own checksums are right then"
	const lane = "a lane of a wide bus or link that is stuck"
	const sender = "a sender that computes the ICRC wrongly"
	i.FitsWith = []string{link, memory, sender}
	i.Next = []string{"symbol and CRC errors of the links between (ethtool -S, perfquery)", "the bytes of the first frame beside those of its retransmission"}
	if x.ethernet {
		link = "a bad link, where the tap keeps frames with a wrong FCS: the link that it is on, or an earlier one where switches forward such frames"
		memory = "memory or logic of an adapter or switch that changes packets: an adapter that captures drops frames with a wrong FCS, as a link that flips bits makes them, unless it is set to keep them"
		i.FitsWith = []string{memory, link, sender}
		i.Next = []string{"whether the tap keeps frames with a wrong FCS", "ECC and parity errors, and internal drops, of the switches and adapters between", "FCS and symbol errors of the links between (ethtool -S)", i.Next[1]}
	}
	if x.looked == 0 {
		return
	}
	if x.bit+x.byte > 0 {
		were := "bits"
		if x.first.One() {
			were = "one bit"
		}
		i.fact("bits", fmt.Sprintf("frame %d has the right ICRC with %s turned back, 0x%02x of byte %d of the packet, in %s", x.frame, were, x.first.Bits, x.first.At, x.first.Where))
		i.show(x.frame)
	}
	more := x.looked - x.bit - x.byte
	switch {
	case x.looked == 1:
	case x.bit == x.looked:
		i.fact("pattern", fmt.Sprintf("one bit is flipped in each of the first %d%s", x.looked, x.of()))
	default:
		i.fact("pattern", x.pattern())
	}
	most := 0
	for _, n := range x.places {
		most = max(most, n)
	}
	switch {
	case most > 2 && 2*most > x.looked:
		i.fact("place", fmt.Sprintf("the same bits of the same byte in %d of them", most))
		i.FitsWith = []string{memory, lane, link}
	case x.regular() != "":
		i.fact("place", x.regular())
		i.FitsWith = []string{lane, memory, link}
	case x.bit > 2 && 2*x.bit > x.looked:
		i.fact("place", "not the same in each packet")
		i.FitsWith = []string{link + ": single bits, here and there", memory}
		if x.ethernet {
			i.FitsWith = []string{memory, link}
		}
	case x.looked > 2 && more == x.looked:
		i.FitsWith = []string{link + ": bursts", "something on the way that changes packets and does not compute the ICRC again", sender}
		if x.ethernet {
			i.FitsWith = []string{memory, i.FitsWith[1], sender, link}
		}
	}
}
