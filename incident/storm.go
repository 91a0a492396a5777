package incident

import (
	"fmt"
	"math"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// costsEach says how many packets a round of retransmission has.
func costsEach(packets uint64) string {
	return count(packets, "packet") + " on average for a round (go-back-N): it retransmits all that was in flight for one that was lost"
}

// stormFacts tells a loss by what it cost: much of what end from of c sent for a while was retransmitted, in n rounds in all, sent of all its packets.
func (t *teller) stormFacts(i *Incident, c *agent.Connection, from int, k *qp.Trouble, s *qp.Storm, n, all, sent uint64) {
	i.Kind = Retransmitting
	if i.Tap != s.Tap {
		i.Tap, i.Frames = s.Tap, nil
	}
	i.show(s.Frame, s.Newest)
	densest, in := t.densest(s, all, sent), "these "+span(s.Time)
	if i.again.short {
		densest = "" // "cost" says it
	}
	if densest == "" {
		in = "the " + span(s.Time) + " in which much was retransmitted"
	}
	i.What = i.again.said + densest + "."
	if each := k.Again.Packets / n; each >= i.inFlight(&k.Sum) && !i.again.late {
		text := costsEach(each)
		if took := tookAtLeast(c, from, 1./tenth); took > 0 {
			text += fmt.Sprintf("; nine of ten answers took %s or longer", span(took))
		}
		if all > sent && n < all-sent && oneLostEach(k, n) {
			text += fmt.Sprintf("; %s for %s that were sent for the first time: one lost for each would be %s", count(n, "round"), count(all-sent, "packet"), fewShare(n, all-sent))
		}
		i.fact("each", text)
	}
	i.fact("goodput", fmt.Sprintf("%s of new payload in %s, where %s was sent", rate(s.Sent.Bytes-s.Again.Bytes, s.Time), in, rate(s.Sent.Bytes, s.Time)))
	i.fact("host", t.hostSent(c.Ends[from].Addr))
}

// densest says which part of the payload was retransmitted while much was, where that is clearly more than of all packets; "": it is not.
func (t *teller) densest(s *qp.Storm, all, sent uint64) string {
	if 10*s.Again.Packets*all <= 11*sent*s.Sent.Packets {
		return ""
	}
	if s.Windows > 1 {
		return fmt.Sprintf("; %s of the payload in the %s in which much was", share(s.Again.Bytes, s.Sent.Bytes), span(s.Time))
	}
	return fmt.Sprintf("; at most %s of the payload in %s, from %+.6f s on", share(s.Again.Bytes, s.Sent.Bytes), span(s.Time), float64(s.First-t.run.First)/1e9)
}

// oneLostEach reports whether nearly each of n rounds may be for one packet of its own: none came after later ones, and hardly a stall had several rounds, in which the same was lost again.
func oneLostEach(k *qp.Trouble, n uint64) bool {
	more := uint64(0)
	for _, x := range k.Longest {
		if rounds := x.Total() - uint64(x.Rounds[qp.NotReady]); rounds > 1 {
			more += rounds - 1
		}
	}
	return k.Overtaking.All().Packets == 0 && mostlyAlong*more <= n
}

// stormSum adds up what was sent on connections in the times in which much of it was retransmitted.
type stormSum struct {
	on          uint64
	fresh, sent float64 // bytes a nanosecond
	longest     int64
}

func (s *stormSum) add(e *agent.End) {
	if k := e.Trouble.Storm(); k.Time > 0 {
		s.on, s.longest = s.on+1, max(s.longest, k.Time)
		s.fresh += float64(k.Sent.Bytes-k.Again.Bytes) / float64(k.Time)
		s.sent += float64(k.Sent.Bytes) / float64(k.Time)
	}
}

// ofOne has an incident that tells of several connections say which numbers are of one, and the goodput of all, where so much of each was retransmitted.
func (i *Incident) ofOne(s *stormSum, on uint64) {
	for n := range i.Facts {
		f := &i.Facts[n]
		switch {
		case f.Label == "goodput" && s.on == on:
			second := int64(1e9)
			f.Text = fmt.Sprintf("%s of new payload on %s in up to %s, where %s was sent", rate(uint64(s.fresh*1e9), second), count(on, "connection"), span(s.longest), rate(uint64(s.sent*1e9), second))
		case (f.Label == "goodput" || f.Label == "each") && i.Local.QPNKnown:
			f.Text = fmt.Sprintf("QP 0x%x: %s", i.Local.QPN, f.Text)
		}
	}
}

// fewShare is how many of all, in percent of two digits, as of what is lost.
func fewShare(n, all uint64) string { return fmt.Sprintf("%.2g %%", 100*float64(n)/float64(all)) }

// stormReasons says what has little loss cost so much.
func stormReasons(i *Incident, k *qp.Trouble) {
	if i.again.late {
		return // that is why
	}
	if s := &k.Sum; mostlyTimer(s) && 2*s.Before <= s.Rounds[qp.TimerExpired] && !noneLate(k) { // else most of it had not arrived
		i.FitsWith = append([]string{"a retransmission timer that is shorter than an answer takes, so that what had arrived is retransmitted"}, i.FitsWith...)
		i.Next = append([]string{timeoutOf(i)}, i.Next...)
		return
	}
	i.Next = append(i.Next, "whether both adapters can retransmit only what was lost (selective repeat)")
}

// noneLate reports whether what timers had a requester retransmit was hardly answered late: nearly each time the responder had sent nothing
// before the copies, or it answered each of the longest waits right after them, and far sooner than the timer ran.
func noneLate(k *qp.Trouble) bool {
	if mostlyUnsent(k, uint64(k.Sum.Rounds[qp.TimerExpired])) {
		return true
	}
	n, soon := promptlyAnswered(k)
	return soon && n >= tellingRounds
}

// promptlyAnswered counts the longest waits for a timer, and reports whether each was answered right after the copies, and far sooner than the timer
// ran, and nothing came before.
func promptlyAnswered(k *qp.Trouble) (n int, soon bool) {
	for j := range k.Longest {
		x := &k.Longest[j]
		timers := int64(x.Rounds[qp.TimerExpired])
		if timers == 0 || x.Ended == 0 || x.NAKs > 0 {
			continue
		}
		if x.Late || x.Acked || x.Since == 0 || atOnceOf*timers*(x.Ended-x.Last) > x.Last-x.Since {
			return n, false
		}
		n++
	}
	return n, true
}

// atOnceOf is part of the time that a timer ran, one in so many, in which an answer comes at most that is right after the copies.
const atOnceOf = 64

// mostlyTimer reports whether timers had more retransmitted than what asked for it.
func mostlyTimer(s *qp.Stalls) bool {
	return s.Rounds[qp.TimerExpired] > s.Rounds[qp.SequenceAsked]+s.Rounds[qp.ResponseLost]
}

// hostSent says how much of what a host sent on all connections was retransmitted; "": it has one connection, or the run goes on, of which only those that had trouble are known here.
func (t *teller) hostSent(a packet.Addr) string {
	if t.run.Packets == 0 {
		return ""
	}
	n, sent, again := uint64(0), uint64(0), uint64(0)
	for k := range t.run.Connections {
		for j := range t.run.Connections[k].Ends {
			e := &t.run.Connections[k].Ends[j]
			if e.Addr != a || e.Packets == 0 {
				continue
			}
			n++
			sent += e.Bytes
			if e.Trouble != nil {
				again += e.Trouble.Again.Bytes
			}
		}
	}
	if n < 2 {
		return ""
	}
	return fmt.Sprintf("%v retransmitted %s of the payload that it sent on %d connections: %s of %s", a, share(again, sent), n, number(again), count(sent, "byte"))
}

// rate writes how fast bytes went in so many nanoseconds: "1.25 Gbit/s".
func rate(bytes uint64, ns int64) string {
	bits := 8e9 * float64(bytes) / float64(ns)
	for _, u := range []struct {
		size float64
		name string
	}{{1e9, "Gbit/s"}, {1e6, "Mbit/s"}, {1e3, "kbit/s"}} {
		switch {
		case bits >= 999.5*u.size:
			whole := math.Pow(10, math.Floor(math.Log10(bits/u.size))-2)
			return number(uint64(math.Round(bits/u.size/whole)*whole)) + " " + u.name
		case bits >= u.size:
			return fmt.Sprintf("%.3g %s", bits/u.size, u.name)
		}
	}
	return fmt.Sprintf("%.0f bit/s", bits)
}
