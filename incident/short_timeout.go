package incident

import (
	"fmt"
	"slices"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/timing"
)

// Of timeShown answers or more it is told how long they took. Of one round in so many at least it has to be known that its answer was only late: provenPart.
const (
	timeShown  = 8
	provenPart = 4
)

// ackTimes is how long some answers took, from the last packet of a message to its ACK.
type ackTimes struct {
	n            int
	median, most time.Duration
}

func ackTimesOf(list []time.Duration) ackTimes {
	if len(list) == 0 {
		return ackTimes{}
	}
	slices.Sort(list)
	return ackTimes{len(list), list[len(list)/2], list[len(list)-1]}
}

func (k *ackTimes) said() string {
	return fmt.Sprintf("%s in the median, %s at most", span(int64(k.median)), span(int64(k.most)))
}

// ackTimesIn is how long the answers took that an end waited for at some time of a span, without those of messages of which packets were retransmitted, and with them, and how long those took that had come before it.
func ackTimesIn(e *timing.End, from, to int64) (once, all, before ackTimes) {
	var lists [3][]time.Duration
	for n, waits := range [][]timing.AckWait{e.Acks.List, e.Copied.List} {
		for _, w := range waits {
			switch {
			case w.At+int64(w.Took) < from:
				lists[2] = append(lists[2], w.Took)
			case w.At > to:
			default:
				lists[1] = append(lists[1], w.Took)
				if n == 0 {
					lists[0] = append(lists[0], w.Took)
				}
			}
		}
	}
	return ackTimesOf(lists[0]), ackTimesOf(lists[1]), ackTimesOf(lists[2])
}

// shortTimeout is that a requester had no loss to repair: its ACK timeout is shorter than the answers take.
type shortTimeout struct {
	timer       int64
	proven      uint64 // rounds of which it is known that the answer was only late
	all, before ackTimes
}

// timeoutTooShort reports whether the rounds in which end from of c retransmitted follow from answers that took longer than its timer, as those of messages did that were sent once: no NAK asked for anything, all passed
// the tap, and of a good part of the rounds it is known.
func (t *teller) timeoutTooShort(c *agent.Connection, from int, k *qp.Trouble, n uint64) *shortTimeout {
	e, peer, s := &c.Ends[from], &c.Ends[1-from], &k.Sum
	if n < fewestLate || !t.timed() || t.lossy() || c.Timing == nil || e.Timer == 0 || e.Stalled {
		return nil
	}
	lost := s.Before + k.Earlier + k.AnswersSeen + k.Passed + k.PassedOver + k.Cut + k.Unsent + k.WentShort + k.Missing.PSNs
	if uint64(s.Rounds[qp.TimerExpired]) != n || s.Total() != n || lost > 0 || peer.NAKs > 0 || k.RNR.NAKs > 0 || k.Overtaking.All().Packets > 0 {
		return nil
	}
	x := &shortTimeout{timer: e.Timer, proven: min(uint64(k.Late.Rounds+k.Late.Ahead), n)}
	once, all, before := ackTimesIn(&c.Timing.Ends[from], s.Begun, t.lossEnds(e, k))
	if x.all, x.before = all, before; provenPart*x.proven < n || once.n < timeShown || int64(once.median) < e.Timer || int64(all.median) < e.Timer {
		return nil
	}
	return x
}

// said says what that means.
func (x *shortTimeout) said() string {
	return fmt.Sprintf(": its ACK timeout, about %s, is shorter than the answers take (%s): nothing was lost, as far as the capture shows", span(x.timer), x.all.said())
}

// tellShort has an incident tell of it.
func (t *teller) tellShort(i *Incident, c *agent.Connection, from int, k *qp.Trouble, x *shortTimeout) {
	e, n := &c.Ends[from], i.again.rounds
	i.fact("cost", copiesCost(c, from, k))
	text := fmt.Sprintf("%s, of %s in this time, from their last packet, as it was first sent, to their ACK", x.all.said(), count(uint64(x.all.n), "message"))
	if x.before.n > 0 {
		text += fmt.Sprintf("; %s in the median of %d before", span(int64(x.before.median)), x.before.n)
	}
	i.fact("answers", text+fmt.Sprintf("; it retransmits after %s without progress", span(x.timer)))
	i.fact("proof", fmt.Sprintf("%v asked for nothing (no NAK), and acknowledged all; in %d of the %s the ACK was of what had not been retransmitted yet, or as many came as copies and what was sent first ask for", i.Peer.Addr, x.proven, count(n, "round")))
	i.fact("spared", t.sparedByTimeout(c, from, x, i.Begin, i.End))
	i.fact("others", t.answeredSooner(c, from, x, i.Begin, i.End))
	held := fmt.Sprintf("a queue on the way to %v or back, or %v itself, that holds packets up and drops none", i.Peer.Addr, i.Peer.Addr)
	if !e.ECNCapable && t.run.Packets > 0 && t.run.Cover[rule.EvCNP].Exercised == 0 {
		held += " (these packets are not ECN-capable, so that no switch marks them, and no CNP slows their sender down)"
	}
	i.FitsWith = []string{"an ACK timeout that is too short for this path under load", held}
	code, longer := uint8(0), uint8(14)
	for int64(packet.Timeout(code+1)) <= x.timer {
		code++
	}
	for longer < 30 && packet.Timeout(longer) < 4*x.all.most {
		longer++
	}
	i.Next = []string{
		fmt.Sprintf("a longer ACK timeout of these queue pairs on %v: code %d is %s, code %d is %s", i.Local.Addr, code, span(int64(packet.Timeout(code))), longer, span(int64(packet.Timeout(longer)))),
		fmt.Sprintf("then what makes answers of %v take so long: who else sends to it at these times, and the queue and pause counters of its switch port", i.Peer.Addr),
	}
}

// copiesCost says what the copies are of what was sent.
func copiesCost(c *agent.Connection, from int, k *qp.Trouble) string {
	text := count(k.Again.Bytes, "byte") + " of payload were copies that nothing needed"
	if e := &c.Ends[from]; c.Ends[1-from].Messages == 0 && e.Bytes > k.Again.Bytes {
		text += fmt.Sprintf(": %.2f times what there was to send", float64(e.Bytes)/float64(e.Bytes-k.Again.Bytes))
	}
	if s := k.Storm(); s.Time > 0 && s.Sent.Bytes > s.Again.Bytes {
		text += fmt.Sprintf(", %.2f times in the %s in which much was retransmitted", float64(s.Sent.Bytes)/float64(s.Sent.Bytes-s.Again.Bytes), span(s.Time))
	}
	return text
}

// unharmedFrom calls f with each end from which the host of end from of c sends, that has retransmitted nothing, and how long its answers took in a time, where enough are known.
func (t *teller) unharmedFrom(c *agent.Connection, from int, begin, end int64, f func(e, peer *agent.End, all ackTimes)) {
	for n := range t.run.Connections {
		d := &t.run.Connections[n]
		for j := range d.Ends {
			e := &d.Ends[j]
			if d.Timing == nil || !d.Service.Reliable() || e.Addr != c.Ends[from].Addr || e.Retransmissions > 0 || e.Stalled || !e.QPNKnown {
				continue
			}
			if _, all, _ := ackTimesIn(&d.Timing.Ends[j], begin, end); all.n >= timeShown {
				f(e, &d.Ends[1-j], all)
			}
		}
	}
}

// sparedByTimeout names the queue pairs between the same hosts whose answers took as long at that time, and that retransmitted nothing; "": there are none.
func (t *teller) sparedByTimeout(c *agent.Connection, from int, x *shortTimeout, begin, end int64) string {
	var names []string
	t.unharmedFrom(c, from, begin, end, func(e, peer *agent.End, all ackTimes) {
		if peer.Addr == c.Ends[1-from].Addr && int64(all.median) >= x.timer && 2*all.median >= x.all.median {
			names = append(names, fmt.Sprintf("QP 0x%x to QP 0x%x (%s, of %s)", e.QPN, peer.QPN, all.said(), count(uint64(all.n), "message")))
		}
	})
	if len(names) == 0 {
		return ""
	}
	return "between the same hosts answers took as long at this time, and nothing was retransmitted: " + listed(names) + ", with a longer ACK timeout"
}

// answeredSooner names the hosts that answered the same requester sooner than its timer runs out, and to which it retransmitted nothing; "": there are none.
func (t *teller) answeredSooner(c *agent.Connection, from int, x *shortTimeout, begin, end int64) string {
	var names []string
	t.unharmedFrom(c, from, begin, end, func(e, peer *agent.End, all ackTimes) {
		if peer.Addr != c.Ends[1-from].Addr && peer.Addr != e.Addr && int64(all.most) < x.timer {
			names = append(names, fmt.Sprintf("%v answered QP 0x%x within %s", peer.Addr, e.QPN, span(int64(all.most))))
		}
	})
	if len(names) == 0 {
		return ""
	}
	return listed(names) + ": nothing was retransmitted to it"
}
