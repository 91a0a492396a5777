package incident

import (
	"fmt"
	"slices"
	"strings"

	"ibwitness/qp"
)

// A receiver that takes what it has asked for, before that was retransmitted, shows that the packet was not lost: others had overtaken it after the tap.

// oftenTookLate is of how many PSN sequence NAKs for what the tap shows one at least has to show that for overtaking to be the likeliest of what fits.
const oftenTookLate = 10

// tookLate says how often a receiver took what it had asked for before that was retransmitted; "": never.
func tookLate(k *qp.Trouble) string {
	if k.Asked.Late == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s it took what it had asked for before that was retransmitted: others had only overtaken it)", times(uint64(k.Asked.Late)))
}

// mayBeOvertaken says that packets after the tap may have overtaken one another, and first where the receiver shows that they did.
func (i *Incident) mayBeOvertaken(k *qp.Trouble) {
	shown := k.Asked.Late >= tellingRounds && oftenTookLate*k.Asked.Late >= k.Asked.After
	if !shown && k.Asked.Late == 0 && k.Sum.Rounds[qp.SequenceAsked] < tellingRounds { // as a rule, packets that overtake one another do so more often
		return
	}
	if !shown {
		i.FitsWith = append(i.FitsWith, overtaking)
		i.Next = append(i.Next, adaptiveRouting+" of the switches for this traffic, and out_of_sequence of "+i.Peer.Addr.String())
		return
	}
	i.FitsWith = slices.Insert(i.FitsWith, 0, overtaking)
	i.Next = slices.Insert(i.Next, 0, "out_of_sequence of "+i.Peer.Addr.String()+", and adaptive routing or packet spraying of the switches for this traffic, or whatever delays some of its packets on the way there")
}

// onlyCopiesCame reports whether what timers brought on the connections of a sum, one in oftenByTimers of all or more, had not come to its receivers
// before, as these answered right after the copies: what is only overtaken comes, and is answered without a copy.
func (t *teller) onlyCopiesCame(s *lossSum) bool {
	if s.late > 0 || s.timers < tellingRounds || oftenByTimers*s.timers < s.naks+s.implied+s.timers {
		return false
	}
	waits := 0
	for n := range t.run.Connections {
		for from := range t.run.Connections[n].Ends {
			e := &t.run.Connections[n].Ends[from]
			if e.Trouble == nil || !s.ends[party(e)] {
				continue
			}
			more, soon := promptlyAnswered(e.Trouble)
			if !soon {
				return false
			}
			waits += more
		}
	}
	return waits >= tellingRounds
}

// oftenByTimers is of how many rounds of retransmission one at least is by a timer where these show what the others are for.
const oftenByTimers = 4

// noOvertaking has losses not fit packets that overtook one another after the tap.
func (i *Incident) noOvertaking() {
	i.FitsWith = slices.DeleteFunc(i.FitsWith, func(s string) bool { return s == overtaking })
	i.Next = slices.DeleteFunc(i.Next, func(s string) bool { return strings.HasPrefix(s, adaptiveRouting) })
}

// lostArriving says so of losses.
func (i *Incident) lostArriving(k *qp.Trouble, n uint64) {
	if mostlyUnsent(k, n) {
		i.What = fmt.Sprintf("%s: %s a request was lost after the tap, on the way to %v or there, which sent nothing until the copies came, by its IPv4 identifications.", i.again.said, eachRound(k, n), i.Peer.Addr)
	}
}

// eachRound says that something was so in each of n rounds of retransmission, or in nearly all, that mostlyUnsent is of.
func eachRound(k *qp.Trouble, n uint64) string {
	if uint64(placesOf(k).unsent) < n {
		return "nearly each time"
	}
	return "each time"
}

// mostlyUnsent reports whether of n rounds of retransmission nearly all are for requests that were lost on the way to their receiver or there, as that sent nothing before a copy came.
func mostlyUnsent(k *qp.Trouble, n uint64) bool {
	unsent := uint64(placesOf(k).unsent)
	return unsent >= tellingRounds && mostlyAlong*(n-min(n, unsent)) <= n
}
