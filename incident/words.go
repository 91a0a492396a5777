package incident

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// number writes 1234567 as 1,234,567.
func number(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// count writes a number and its noun: "1 packet", "2 packets".
func count(n uint64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return number(n) + " " + noun + "s"
}

func times(n uint64) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return number(n) + " times"
}

// timed reports whether times between packets are known: where a clock of the capture was set, or it has two, none is.
func (t *teller) timed() bool { return t.run.Clock.Count == 0 && len(t.run.Skewed) == 0 }

// within writes a time between packets as a format has it, as " in %s"; "": it is not known.
func (t *teller) within(format string, ns int64) string {
	if !t.timed() {
		return ""
	}
	return fmt.Sprintf(format, span(ns))
}

// span writes nanoseconds to three digits: "4.02s", "67.1ms".
func span(ns int64) string {
	if ns <= 0 {
		return "0s"
	}
	d := time.Duration(ns)
	if digits := int(math.Floor(math.Log10(float64(d)))) - 2; digits > 0 {
		d = d.Round(time.Duration(math.Pow10(digits)))
	}
	return d.String()
}

func (p *Party) String() string {
	if !p.QPNKnown {
		return p.Addr.String()
	}
	return fmt.Sprintf("%v QP 0x%x", p.Addr, p.QPN)
}

// operation names a request: "RDMA READ of 4096 bytes".
func operation(r *qp.StalledRequest) string {
	switch {
	case r.Op == wqe.None:
		return "request"
	case r.Op == wqe.Send && r.Length == 0, r.Op.Atomic(), r.Op > wqe.Read:
		return r.Op.String()
	}
	if r.Tail {
		return r.Op.String() // how long it is its first packet tells
	}
	least := ""
	if r.Begun {
		least = "at least "
	}
	return fmt.Sprintf("%v of %s%s", r.Op, least, count(uint64(r.Length), "byte"))
}

// request describes a request: "RDMA READ of 4096 bytes at 0x7f001000, R_Key 0x1234, PSN 77, in frame 12". What was done to it need not begin with its first PSN:
// "refused at PSN 79".
func request(r *qp.StalledRequest, done string) string {
	s := operation(r)
	if r.Op >= wqe.Write && (r.VA != 0 || r.RKey != 0) {
		s += fmt.Sprintf(" at 0x%x, R_Key 0x%x", r.VA, r.RKey)
	}
	s += fmt.Sprintf(", PSN %v", r.First)
	if r.Frame != 0 {
		s += ", in frame " + strconv.FormatUint(r.Frame, 10)
	}
	if r.PSN != r.First {
		s += fmt.Sprintf(", %s PSN %v", done, r.PSN)
	}
	return s
}

// rest reports whether only the rest of a request was sent once more: what had not come of it.
func rest(r *qp.StalledRequest) bool { return r.PSN != r.First }

// retransmitted describes a request that was retransmitted.
func retransmitted(r *qp.StalledRequest) string {
	if r.Op == wqe.Read {
		return request(r, "asked for again from")
	}
	return request(r, "retransmitted from")
}

// rounds is how many times at least the request of a stall was retransmitted: with what came before it, too. least says so, where it may be more often.
func rounds(s *qp.Stall) (n uint64, least string) {
	if s.Request.Copied {
		return s.Total() + 1, "at least "
	}
	return s.Total(), ""
}

// sent says how often the request of a stall was sent: "sent an RDMA READ of 4096 bytes twice".
func sent(s *qp.Stall) string { return sentAtLeast(s, "") }

// sentAtLeast is sent where that is the least: of a capture that may have begun later.
func sentAtLeast(k *qp.Stall, least string) string {
	r := &k.Request
	rounds, more := rounds(k)
	if least == "" {
		least = more
	}
	s := "sent " + article(operation(r))
	switch {
	case r.Tail:
		return "sent the end of " + article(operation(r)) + ", nothing before which is in the capture, " + least + times(rounds+1)
	case !rest(r):
		return s + " " + least + times(rounds+1)
	case r.Op == wqe.Read:
		return s + ", and asked for the rest of it again " + least + times(rounds)
	}
	return s + ", and retransmitted the rest of it " + least + times(rounds)
}

// article puts "a" or "an" before an operation.
func article(operation string) string {
	if strings.HasPrefix(operation, "RDMA") || strings.HasPrefix(operation, "ATOMIC") {
		return "an " + operation
	}
	return "a " + operation
}

// A list of more than mostEnumerated is enumerated as its first few, and how many more there are.
const mostEnumerated, fewEnumerated = 12, 10

// enumerate writes "a, b and c", and of a long list "a, b and 20 more".
func enumerate(list []string) string {
	switch n := len(list); {
	case n == 0:
		return ""
	case n == 1:
		return list[0]
	case n > mostEnumerated:
		return firstOf(list, fewEnumerated)
	default:
		return strings.Join(list[:n-1], ", ") + " and " + list[n-1]
	}
}

// firstOf enumerates so many of a list, at most, and says how many more there are.
func firstOf(list []string, most int) string {
	if more := len(list) - most; more > 0 {
		list = append(list[:most:most], number(uint64(more))+" more")
	}
	return enumerate(list)
}

// someOf names the first of a list of hosts, and how many more there are.
func someOf(hosts []packet.Addr) string {
	names := make([]string, len(hosts))
	for k, a := range hosts {
		names[k] = a.String()
	}
	return firstOf(names, portsShown)
}

// sub returns a - b, and 0 where b is more.
func sub(a, b uint64) uint64 { return a - min(a, b) }

// captureAt begins what a capture at a host would tell, which this one may be.
func captureAt(host string) string { return "a capture at " + host + ", if this is none: " }

// earlier is the earlier of two times, of those that are known: not 0.
func earlier(a, b int64) int64 {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}
