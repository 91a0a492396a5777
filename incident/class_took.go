package incident

import (
	"fmt"
	"math"
	"time"

	"ibwitness/agent"
	"ibwitness/upper"
	"ibwitness/verifier"
)

// How many times as long as their median the mean of commands is at least that is far above it.
const farTimes = 4

// classTook is how long the commands of one class took on all connections of two hosts.
type classTook struct {
	whole         bool // on each connection half of them took far longer than any other command, and were late or took about as long as the mean
	mixed         bool // commands of other classes were late too
	late, count   uint64
	connections   int
	least         time.Duration // that those took which were late, at least
	longest       time.Duration
	usual         time.Duration // half of them took no longer; 0: that is not known
	times         []upper.LateTime
	more          bool
	others        uint64 // commands of other classes
	longestOthers time.Duration
	names         []string
}

// otherClassesOf returns how many commands of other classes than one were answered, how long the longest took, and their classes.
func otherClassesOf(u *agent.Upper, name string) (n uint64, longest time.Duration, names []string) {
	for i := range u.Classes {
		if x := &u.Classes[i]; x.Name != name && x.Answers > 0 {
			n, longest, names = n+x.Answers, max(longest, x.Longest), append(names, x.Name)
		}
	}
	return n, longest, names
}

// classTook returns it for the commands of a class between the hosts of c.
func (t *teller) classTook(c *agent.Connection, name string) classTook {
	s := classTook{whole: true, least: math.MaxInt64}
	list := t.siblings(c)
	if len(list) > mostOthers {
		list = []*agent.Connection{c}
	}
	seen := map[string]bool{}
	for _, d := range list {
		u := d.Upper
		if u == nil || u.Protocol != c.Upper.Protocol || d.Ends[fromOf(u)].Addr != c.Ends[fromOf(c.Upper)].Addr {
			continue
		}
		for i := range u.Classes {
			if k := &u.Classes[i]; k.Name == name && k.Answers > 0 {
				s.add(d, k)
			}
		}
		n, longest, names := otherClassesOf(u, name)
		s.others, s.longestOthers = s.others+n, max(s.longestOthers, longest)
		s.mixed = s.mixed || longest >= time.Duration(upper.LateAfter)
		for _, x := range names {
			if !seen[x] {
				seen[x] = true
				s.names = append(s.names, x)
			}
		}
	}
	s.times = upper.JoinLate(s.times)
	return s
}

// add takes the commands of a class on a connection.
func (s *classTook) add(d *agent.Connection, k *agent.Class) {
	u := d.Upper
	_, longest, _ := otherClassesOf(u, k.Name)
	s.connections++
	s.count += k.Answers + uint64(k.Open)
	s.longest = max(s.longest, k.Longest)
	if u.Late.Count > 0 {
		s.late += u.Late.Count
		s.least = min(s.least, leastLate(d))
		s.times, s.more = append(s.times, u.Late.Times...), s.more || u.Late.More
	}
	half := halfTook(d, k.Answers)
	s.usual = max(s.usual, half)
	if half == 0 && longest < time.Duration(upper.LateAfter) && 2*u.Late.Count >= k.Answers { // not measured
		half = time.Duration(upper.LateAfter)
	}
	slow := half >= time.Duration(upper.LateAfter) || half > 0 && !farBelow(half, k)
	s.whole = s.whole && slow && half >= classTimes*longest
}

// farBelow reports whether half of the commands of a class took far less than their mean, which few of them make then.
func farBelow(half time.Duration, k *agent.Class) bool {
	return half*farTimes < k.Took/time.Duration(k.Answers)
}

// measured returns the times of the commands of a connection; nil: they are not known of all.
func measured(d *agent.Connection) *verifier.Histogram {
	if d.Timing == nil || d.Timing.Commands == nil || d.Timing.Commands.Latency.Count() != d.Upper.Answers {
		return nil
	}
	return &d.Timing.Commands.Latency
}

// halfTook is what half of so many commands took at most, and exactly where all others of the connection took less; 0: that is not known.
func halfTook(d *agent.Connection, answers uint64) time.Duration {
	h := measured(d)
	if h == nil {
		return 0
	}
	return h.Quantile(1 - float64(answers)/float64(2*d.Upper.Answers))
}

// leastLate is what the commands of a connection that were late took at least.
func leastLate(d *agent.Connection) time.Duration {
	least := time.Duration(upper.LateAfter)
	h := measured(d)
	if h == nil {
		return least
	}
	n := uint64(0)
	for i := len(h.Buckets) - 1; i > 0; i-- {
		if n += h.Buckets[i]; n >= d.Upper.Late.Count {
			return max(least, verifier.End(i-1))
		}
	}
	return least
}

// share says how many of them took long, and when, while the others did not; "": that is not so, or not known.
func (s *classTook) share(t *teller, name string) string {
	if s.mixed || s.late < fewestOfClass || s.usual == 0 || s.least < classTimes*max(s.usual, s.longestOthers) {
		return ""
	}
	on, when := "", "from "+t.offset(s.times[0].From)+" on"
	if s.connections > 1 {
		on = fmt.Sprintf(" on %d connections", s.connections)
	}
	if !s.more {
		when = fmt.Sprintf("from %s to %s", t.offset(s.times[0].From), t.offset(s.times[len(s.times)-1].To))
	}
	return fmt.Sprintf(": %s of %s %s commands%s took %s or longer, up to %s, %s, the others usually %s or less; "+
		"none of %s other commands%s took longer than %s",
		number(s.late), number(s.count), name, on, span(int64(s.least)), span(int64(s.longest)), when, span(int64(s.usual)),
		number(s.others), inBrackets(s.names), span(int64(s.longestOthers)))
}
