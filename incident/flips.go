package incident

import (
	"fmt"
	"math/bits"
	"time"

	"ibwitness/expect"
	"ibwitness/rule"
)

// flips is which bits were flipped in damaged packets, of those that findings compare with what they should be.
type flips struct {
	damaged           uint64 // packets in all
	bursts            uint64 // of them, by a pause
	newest            int64
	ethernet          bool // that came as RoCE: in frames with an FCS, which captures seldom hold
	looked, bit, byte int  // how many were looked at, and in how many one bit was flipped, or several of one byte
	two, between      int  // in how many the same bit of two bytes was, and how many bytes apart these are; -1: not in all of them as many
	bits              byte // all that were flipped, in any byte
	first             expect.Flip
	frame             uint64
	places            map[place]int // how many of them have the same
	apart             int           // greatest common divisor of how many bytes the others are from the first; 0: all are at the same byte
	unlike            bool          // other bits of their byte are flipped in some
	set, cleared      int           // in how many a flipped bit came as 1, and as 0
}

// place is which bits of which byte of a packet were flipped.
type place struct {
	at   int
	bits byte
}

// pauseOfBursts is the time between damaged packets, in nanoseconds, from which on they need not have been damaged at once.
const pauseOfBursts = int64(time.Millisecond)

func (x *flips) add(f *rule.Finding) {
	if x.damaged == 0 || f.Time-x.newest > pauseOfBursts {
		x.bursts++
	}
	x.newest = f.Time
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
	if x.explained() == 0 {
		x.first, x.frame, x.places = flip, f.Frame, map[place]int{}
	}
	x.apart = divisor(x.apart, flip.At-x.first.At)
	x.unlike = x.unlike || flip.Bits != x.first.Bits
	x.bits |= flip.Bits
	if flip.Came&flip.Bits != 0 {
		x.set++
	}
	if flip.Bits&^flip.Came != 0 {
		x.cleared++
	}
	if flip.Also != 0 {
		x.bothOf(&flip)
		return
	}
	if x.places[place{flip.At, flip.Bits}]++; flip.One() {
		x.bit++
	} else {
		x.byte++
	}
}

// bothOf takes a flip of two bytes.
func (x *flips) bothOf(flip *expect.Flip) {
	between := flip.Also - flip.At
	x.apart = divisor(x.apart, between)
	if x.two++; x.two == 1 {
		x.between = between
	} else if x.between != between {
		x.between = -1
	}
}

// explained is in how many packets flipped bits explain the wrong ICRC.
func (x *flips) explained() int { return x.bit + x.byte + x.two }

// pattern says how many of the packets that were looked at one bit explains, or one byte.
func (x *flips) pattern() string {
	var list []string
	if x.bit > 0 {
		list = append(list, fmt.Sprintf("in %d one bit is flipped", x.bit))
	}
	if x.byte > 0 {
		list = append(list, fmt.Sprintf("in %d several bits of one byte", x.byte))
	}
	if x.two > 0 {
		apart := ""
		if x.between > 0 && x.two > 1 {
			apart = ", " + count(uint64(x.between), "byte") + " apart"
		}
		list = append(list, fmt.Sprintf("in %d the same bit of two bytes%s", x.two, apart))
	}
	more, few := x.looked-x.explained(), x.fewBits()
	rest := fmt.Sprintf("in %d more than that", more)
	switch {
	case more == x.looked:
		return fmt.Sprintf("none of %s is explained by one bit or one byte", x.those())
	case more > 0 && few != "":
		few += "; " + rest
	case more > 0:
		list = append(list, rest)
	}
	return fmt.Sprintf("of %s: %s%s", x.those(), enumerate(list), few)
}

// manyFlips is from how many flips on it is no chance that they are all of one or two of the eight bits of a byte.
const manyFlips = 8

// fewBits says that all flips are of one or two bits of their bytes; "": they are of more, or too few to tell.
func (x *flips) fewBits() string {
	if x.explained() < manyFlips || bits.OnesCount8(x.bits) > 2 {
		return ""
	}
	low := x.bits & -x.bits
	if low == x.bits {
		return fmt.Sprintf(", each 0x%02x of its byte", low)
	}
	return fmt.Sprintf(", each 0x%02x or 0x%02x of its byte", x.bits&^low, low)
}

// oneWay says that each bit flipped in the same direction: it is stuck, and does no harm where it is so anyway; "": they did not, or too few did to
// tell.
func (x *flips) oneWay() string {
	switch n := x.explained(); {
	case n < manyFlips || n < x.looked || x.two > 0:
		return ""
	case x.cleared == 0:
		return ", always from 0 to 1: stuck at 1"
	case x.set == 0:
		return ", always from 1 to 0: stuck at 0"
	}
	return ""
}

// those names the damaged packets that were looked at: of many in a second, not each is.
func (x *flips) those() string {
	if x.damaged <= uint64(x.looked) {
		return fmt.Sprintf("the %d", x.looked)
	}
	return fmt.Sprintf("the %d of %s that were looked at", x.looked, number(x.damaged))
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
	if n := x.explained(); n < fewRegular || n < x.looked || x.apart == 0 {
		return ""
	}
	var list []string
	if !x.unlike {
		list = append(list, fmt.Sprintf("the same bits, 0x%02x of their byte", x.first.Bits))
	}
	for _, width := range []int{1024, 512, 256, 128, 64, 32, 16, 8} {
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
	if x.explained() > 0 {
		were, of := "bits", fmt.Sprintf("byte %d", x.first.At)
		switch {
		case x.first.One():
			were = "one bit"
		case x.first.Also != 0:
			were, of = "two bits", fmt.Sprintf("bytes %d and %d", x.first.At, x.first.Also)
		}
		i.fact("bits", fmt.Sprintf("frame %d has the right ICRC with %s turned back, 0x%02x of %s of the packet, in %s", x.frame, were, x.first.Bits, of, x.first.Where))
		i.show(x.frame)
	}
	more := x.looked - x.explained()
	switch {
	case x.looked == 1:
	case x.bit == x.looked:
		i.fact("pattern", fmt.Sprintf("one bit is flipped in each of %s%s%s", x.those(), x.fewBits(), x.oneWay()))
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
		i.FitsWith = []string{memory, lane, link}
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
	if x.oneBit() {
		i.FitsWith = []string{"memory or a bus of an adapter or switch, of which one bit is stuck or flips: a link would flip others too"}
		i.Next = []string{"ECC and parity errors, and internal drops, of the switches and adapters between", "the bytes of the first frame beside those of its retransmission"}
	}
}

// oneBit reports whether the same bit of its byte is flipped in each of so many packets that no link does that: 64b/66b turns a flipped bit into three, and errors come in any place. Where it is at one
// place of the headers, a sender may have changed them after it had computed the ICRC.
func (x *flips) oneBit() bool {
	return x.bit >= manyFlips && x.bit == x.looked && !x.unlike && (x.apart != 0 || x.first.OfPayload())
}
