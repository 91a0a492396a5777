package incident

import (
	"fmt"

	"ibwitness/expect"
	"ibwitness/rule"
)

// flips is which bits were flipped in damaged packets, of those that findings compare with what they should be.
type flips struct {
	looked, bit, byte int // how many were looked at, and in how many one bit was flipped, or several of one byte
	first             expect.Flip
	frame             uint64
	places            map[place]int // how many of them have the same
}

// place is which bits of which byte of a packet were flipped.
type place struct {
	at   int
	bits byte
}

func (x *flips) add(f *rule.Finding) {
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
		return fmt.Sprintf("none of the first %d is explained by one bit or one byte", x.looked)
	case more > 0:
		list = append(list, fmt.Sprintf("in %d more than that", more))
	}
	return fmt.Sprintf("of the first %d: %s", x.looked, enumerate(list))
}

// tell adds to an incident which bits were flipped, and what that fits.
func (x *flips) tell(i *Incident) {
	const link, memory = "a bad cable, transceiver or switch port", "memory of an adapter or switch that flips bits: its links' own checksums are right then"
	const sender = "a sender that computes the ICRC wrongly"
	i.FitsWith = []string{link, memory, sender}
	i.Next = []string{"symbol and CRC errors of the links between (ethtool -S, perfquery)", "the bytes of the first frame beside those of its retransmission"}
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
		i.fact("pattern", fmt.Sprintf("one bit is flipped in each of the first %d", x.looked))
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
		i.FitsWith = []string{memory, "a lane of a wide bus or link that is stuck", link}
	case x.bit > 2 && 2*x.bit > x.looked:
		i.fact("place", "not the same in each packet")
		i.FitsWith = []string{link + ": single bits, here and there", memory}
	case x.looked > 2 && more == x.looked:
		i.FitsWith = []string{link + ": bursts", "something on the way that changes packets and does not compute the ICRC again", sender}
	}
}
