package timing

import (
	"cmp"
	"slices"
)

// Periods are the messages of a connection where the two ends send ones of the same sizes in the same turns again and again, as by a protocol: a
// request to send, its grant, the data.
type Periods struct {
	Steps    []Step  // of a period: the first after the longest pause
	Begun    []int64 // when each period began, and when it was complete, nanoseconds since the Unix epoch
	Complete []int64
	Came     int // steps of the newest period that came, where it is not complete; 0: it is
	Last     Turn
}

// Step is which end sends a message of a period, and how many bytes it has.
type Step struct {
	From  int
	Bytes uint32
}

// Turn is a message as a step of a period.
type Turn struct {
	Step
	At int64 // when it began, nanoseconds since the Unix epoch
}

// Next is the step that comes next.
func (p *Periods) Next() Step { return p.Steps[p.Came] }

const (
	fewestPeriods = 12
	mostSteps     = 16
)

// PeriodsOf finds them in the messages of which all are kept up to the newest. ok: the messages are in such turns, to the last one.
func PeriodsOf(c *Connection) (p Periods, ok bool) {
	all := turnsKept(c)
	n := stepsOf(all)
	if n == 0 {
		return p, false
	}
	first, ok := opens(all, n)
	if !ok {
		return p, false
	}
	for i := first; i < len(all); i += n {
		p.Begun = append(p.Begun, all[i].At)
		if i+n <= len(all) {
			p.Complete = append(p.Complete, all[i+n-1].At)
		}
	}
	for _, x := range all[first : first+n] {
		p.Steps = append(p.Steps, x.Step)
	}
	p.Came, p.Last = (len(all)-first)%n, all[len(all)-1]
	return p, true
}

// turnsKept are the messages of both ends, in the order in which they began, from when on all are kept.
func turnsKept(c *Connection) (all []Turn) {
	from := int64(0)
	for k := range c.Ends {
		first, newest, count := c.Ends[k].AllSent()
		if count > len(first)+len(newest) {
			from = max(from, newest[0].Begin)
		}
		for _, s := range slices.Concat(first, newest) {
			all = append(all, Turn{Step{k, s.Bytes}, s.Begin})
		}
	}
	slices.SortStableFunc(all, func(a, b Turn) int { return cmp.Compare(a.At, b.At) })
	return slices.DeleteFunc(all, func(x Turn) bool { return x.At < from })
}

// stepsOf is after how many messages each is as before; 0: there is no such number, or too few messages to know. Both ends send some.
func stepsOf(all []Turn) int {
	for n := 2; n <= min(mostSteps, len(all)/fewestPeriods); n++ {
		same := true
		for i := n; i < len(all) && same; i++ {
			same = all[i].Step == all[i-n].Step
		}
		if same && slices.ContainsFunc(all[:n], func(x Turn) bool { return x.From != all[0].From }) {
			return n
		}
	}
	return 0
}

// opens is the first message that begins a period: one after a pause which is mostly the longest of those in as many messages as a period has.
func opens(all []Turn, n int) (first int, ok bool) {
	longest, windows := make([]int, n), 0
	for i := 1; i+n <= len(all); i += n {
		at := i
		for k := i; k < i+n; k++ {
			if all[k].At-all[k-1].At > all[at].At-all[at-1].At {
				at = k
			}
		}
		longest[at%n]++
		windows++
	}
	for k, times := range longest {
		if times*4 >= windows*3 {
			return k, true
		}
	}
	return 0, false
}
