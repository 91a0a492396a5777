package incident

import (
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/qp"
)

// longAfterAnswers is how many times as long as answers usually take a NAK comes at least after the end of a message to show that the end was lost.
const longAfterAnswers = 20

// lostTails returns the ends of messages that end from of c sent and that were lost after the tap, several packets in a row; Count 0: none, or their NAKs may only be as late as
// answers are.
func lostTails(c *agent.Connection, from int, k *qp.Trouble) (none qp.Tails) {
	x := k.Asked.Tails
	if x.Count == 0 || k.Asked.Late > 0 || k.Overtaking.All().Packets > 0 {
		return none
	}
	if usual := usuallyTook(c, from); usual == 0 || x.Soonest < longAfterAnswers*usual {
		return none
	}
	return x
}

// mostlyTails reports whether no chance has so many of some packets that NAKs ask for after the tap begin an end of a message that was lost.
func (t *teller) mostlyTails(x *qp.Tails, asked uint32) bool {
	return x.Count >= tellingRounds && 2*x.Count >= asked && t.timed()
}

// tellTails says how many packets were lost in a row, where most were lost so. Then a queue is full, and no others have overtaken them.
func (t *teller) tellTails(i *Incident, x *qp.Tails, asked uint32) {
	if !t.mostlyTails(x, asked) {
		return
	}
	row, late := number(uint64(x.Least)), span(x.Soonest)
	if x.Most > x.Least {
		row += " to " + number(uint64(x.Most))
	}
	if most := span(x.Latest); most != late {
		late += " to " + most
	}
	said := fmt.Sprintf("in bursts: %d of %s from the packet asked for to the end of its message at least, %s in a row, as the NAK came only with a later message, %s after it: so a full queue loses packets",
		x.Count, times(uint64(asked)), row, late)
	if rest := asked - x.Count; rest > 0 {
		said += fmt.Sprintf("; %s the NAK came sooner, which does not show how many were lost", times(uint64(rest)))
	}
	i.fact("lost", said)
	i.FitsWith = slices.DeleteFunc(i.FitsWith, func(f string) bool { return f == badCable })
	if fewSooner(x, asked) {
		i.noOvertaking()
	}
}

// fewSooner reports whether so few NAKs came sooner that what they ask for was likely lost as the rest was, and not overtaken: a packet is not late by so much.
func fewSooner(x *qp.Tails, asked uint32) bool {
	return x.Count >= tellingRounds && asked-min(asked, x.Count) < tellingRounds
}
