package incident

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ibwitness/agent"
	"ibwitness/qp"
)

// interruption is how long a requester must have made no progress for that to be told apart from other losses.
const interruption = qp.LongStall

// oneLost is what fits where the first retransmission was answered at once.
const oneLost = "one packet, or its answer, that was lost, and a retransmission timer as long as that"

// lostOnceMore is what fits where what ended an interruption is a PSN sequence NAK.
const lostOnceMore = "packets that were lost, and others of the same request that were lost when it was retransmitted: what ended it is a PSN sequence NAK for a later packet"

// What fits where the answer that ended an interruption came long after the last retransmission.
const (
	resolvedLate = "a link that failed and came back before the last retransmission, the answer to which waited until the address of the requester was resolved"
	answeredLate = "a host or adapter that stopped for that long: what was sent had arrived, and was answered late"
)

// aftermath is for how long after an interruption what is retransmitted belongs to it: what was on its way when it ended.
const aftermath = int64(10 * time.Millisecond)

// together is how long after others incidents begin at most that are told as one with them.
const together = int64(time.Second)

// Of a request with so few rounds of retransmission, on a queue pair with so many rounds by PSN sequence NAKs, or between hosts with so many, that each of the few was lost may be chance.
const (
	fewRounds  = 2
	manyLosses = 8
)

// linkFailed is what fits where nothing that a host sent to another was answered.
const linkFailed = "a link, switch or route that failed and came back"

// hostStopped fits then, too.
const hostStopped = "a host or adapter that stopped for that long"

// interrupts reports whether stall s is a time in which nothing came.
func interrupts(s *qp.Stall) bool {
	return s.Lost() >= interruption && s.NAKs == 0 && (s.Total() == 0 || s.Rounds[qp.TimerExpired] > 0)
}

// keptAll reports whether each interruption of a requester is kept: each that retransmission ended, and none that was not is as short as to be left out.
func keptAll(k *qp.Trouble) bool {
	shortest, n := k.Longest[0].Lost(), uint32(0)
	for j := range k.Longest {
		s := &k.Longest[j]
		if shortest = min(shortest, s.Lost()); s.Total() > 0 {
			n++
		}
	}
	return n == k.Sum.Long && shortest < qp.SlowAnswer
}

// holey reports whether packets of a connection are missing in the capture.
func holey(c *agent.Connection) bool {
	return slices.ContainsFunc(c.Ends[:], func(e agent.End) bool {
		return e.Trouble != nil && (e.Trouble.Missing.PSNs > 0 || e.Trouble.Missing.Acked > 0 || e.Trouble.Missing.Responses.PSNs > 0)
	})
}

// interrupted tells of the times in which nothing was answered for long, and then was.
func (t *teller) interrupted(c *agent.Connection, from int, k *qp.Trouble) {
	for j := range k.Longest {
		s := &k.Longest[j]
		if !interrupts(s) || t.recordedNothing(s) || t.ofCutOff(c, from, s) || t.idleBefore(c, from, s) || lateByPlace(k) && s.Rounds[qp.TimerExpired] <= 1 {
			continue
		}
		i := t.between(Interrupted, c, from)
		i.during(s)
		i.readsCame = t.readWaits(c, from, s)
		if s.Total() == 0 && s.Before {
			i.unseen(s)
			i.inHole = t.lossy()
			t.unseenBeside(i, s)
			t.cause(i, c, from, s)
		} else {
			held := heldBack(c, from, s) && !t.damages(i) && !s.LostAgain // else the answer to that was dropped, or tells of a loss
			i.fact("request", again(s)+inAll(k, s))
			if s.Packets > 0 {
				i.fact("cost", fmt.Sprintf("%s retransmitted, %s of payload", count(uint64(s.Packets), "packet"), count(s.Bytes, "byte")))
			}
			t.cause(i, c, from, s)
			if s.Frames.Ended != 0 {
				label := "answered"
				if s.PassedOver != 0 && s.Skipped {
					label = "response" // to this one, or to a later one
				}
				i.fact(label, fmt.Sprintf("in frame %d%s%s", s.Frames.Ended, sinceLast(s, held), byNAK(s)))
			}
			i.waited(s, held)
			if s.Total() == 0 && s.PassedOver == 0 && t.lossy() && holey(c) {
				i.doubt(fmt.Sprintf("The capture, which lost packets, holds no answer of %v to %v for %s, and no retransmission; then one came.", &i.Peer, &i.Local, span(s.Lost())))
			}
			t.leftBefore(i, c, from, s)
			if s.Total() > 0 && !held {
				t.beside(i, c, from, k, s)
				t.silentToAll(i, c, from, s)
				i.fromTheFirst(c, from, s)
			}
			if t.sawNothing(s) {
				i.FitsWith = append(i.FitsWith, "a clock of the capture that was set forward, or a tap that stopped: it holds no frame of any host meanwhile")
			}
		}
		if t.damages(i) {
			i.FitsWith = append([]string{"the packets that were damaged, see there: their receivers drop them"}, i.FitsWith...)
		}
		if t.trims(i) {
			i.FitsWith = append([]string{"the packets that were trimmed, see there: their receivers drop them"}, i.FitsWith...)
			i.What = strings.Replace(i.What, fmt.Sprintf("Nothing that %v sent to %v was answered", &i.Local, &i.Peer), fmt.Sprintf("%v made no progress with %v", &i.Local, &i.Peer), 1) // what was trimmed may be an answer
		}
		i.byDamage = s.Total() > 0 && t.ofDamage(i, s)
		t.noAnswerSent(i, s)
		more := !slices.ContainsFunc(k.Longest[:], func(s qp.Stall) bool { return !interrupts(&s) }) && !keptAll(k)
		if j == 0 && more && int(k.Sum.Long) > len(k.Longest) {
			i.unkept = uint64(k.Sum.Long) - uint64(len(k.Longest))
		}
		t.stopped = append(t.stopped, stop{i, more})
	}
}

// beside says what else lost packets, or did not, and what that fits: other queue pairs between the same hosts, and this one at other times.
func (t *teller) beside(i *Incident, c *agent.Connection, from int, k *qp.Trouble, s *qp.Stall) {
	path := t.paths(c, from)
	if t.silentBetween(i, c, s) {
		path = lossyPath{} // the others had nothing to lose then
	}
	i.fact("paths", path.said)
	t.answeredMeanwhile(i, c, from, s, path.all)
	if s.Late {
		return
	}
	lostAgain, few := s.LostAgain || s.Unseen > 0 && s.Asked, s.Rounds[qp.TimerExpired] <= fewRounds && !t.lossy()
	i.lostAgain, i.endLost = lostAgain && few, s.Unseen > 0 && few
	i.answersGone = answerUnknown(s) && t.answersNumbered(c, 1-from)
	if n := k.Sum.Rounds[qp.SequenceAsked]; s.Total()-uint64(s.Rounds[qp.SequenceAsked]) <= fewRounds && n >= manyLosses && !lostAgain {
		i.amongLosses = true
		i.FitsWith = append([]string{"a packet that was lost with what was retransmitted for it: this queue pair had " + count(uint64(n), "round") + " by PSN sequence NAKs in all"}, i.FitsWith...)
	}
	if path.one {
		i.FitsWith = append([]string{onePath}, i.FitsWith...)
	}
	if s.Unseen > 0 && s.Rounds[qp.SequenceAsked] == 0 && !t.lossy() {
		i.FitsWith = slices.DeleteFunc(i.FitsWith, func(f string) bool { return f == oneLost })
		i.FitsWith = append([]string{t.whyOnlyTimer(i, s)}, i.FitsWith...)
		i.Next = slices.Insert(i.Next, 0, "discards and errors of the switch ports on the way to the tap (ethtool -S)")
	}
}

// whyOnlyTimer says why only the timer brought what the tap had not seen whole before it, in stall s.
func (t *teller) whyOnlyTimer(i *Incident, s *qp.Stall) string {
	switch {
	case s.Asked && t.damages(i):
		return "a retransmission that came damaged or not at all: a PSN sequence NAK had asked for it, and a receiver asks once, so that only the timer brought it"
	case s.Asked:
		return "a retransmission that was lost too, before the tap: a PSN sequence NAK had asked for it, and a receiver asks once, so that only the timer brought it"
	case s.Before && t.damages(i):
		return "a packet that came damaged or not at all until the timer had it retransmitted, and that no PSN sequence NAK in the capture asks for"
	case s.Before:
		return "a packet that the tap has not seen before it was retransmitted by timer: it was lost before the tap, and the capture shows no PSN sequence NAK for it"
	}
	return "the end of what was sent, which the tap has not seen before it was retransmitted: it was lost before the tap, and as nothing came after it the receiver could not ask for it, so that only the timer did"
}

// fromTheFirst says what fits where the first request of a connection waits, end from of which has sent it: its peer may not have been ready.
func (i *Incident) fromTheFirst(c *agent.Connection, from int, s *qp.Stall) {
	if c.FirstFrame == 0 || s.Request.Frame != c.FirstFrame || s.Rounds[qp.SequenceAsked] > 0 || c.Ends[1-from].SequenceNAKs > 0 {
		return
	}
	i.fact("first", "it is the first request of the connection in the capture")
	i.FitsWith = slices.Insert(i.FitsWith, 0, "a queue pair of "+i.Peer.Addr.String()+" that was not in RTR yet: its program connects in another order")
	i.Next = slices.Insert(i.Next, 0, "when each end brings its queue pair to RTR and RTS, against when it tells the other")
}

// unseen tells of stall s, of which the capture shows nothing but that PSNs are missing after it.
func (i *Incident) unseen(s *qp.Stall) {
	on := i.Local.Addr // who went on
	if s.Request.Frame == 0 {
		i.fact("went on", "with "+retransmitted(&s.Request))
	} else {
		on = i.Peer.Addr
		i.fact("went on", fmt.Sprintf("in frame %d, which is not the next response to %s", s.Frames.Ended, retransmitted(&s.Request)))
	}
	i.Certainty = Likely // that anything was sent meanwhile only the PSNs show
	i.What = fmt.Sprintf("The capture shows nothing between %v and %v for %s; then %s went on with a later PSN.", &i.Local, &i.Peer, span(s.Lost()), on)
	i.FitsWith = []string{"a tap that recorded nothing meanwhile, while the traffic went on: PSNs are missing", "a link that was down at the tap"}
	i.Next = []string{"link events at the interface that was captured, at that time", "the drop counters of the mirror port and of the capturing host"}
}

// waited tells of stall s, in which a request waited for its answer, which was held back or not.
func (i *Incident) waited(s *qp.Stall, held bool) {
	local, peer := i.Local.Addr.String(), i.Peer.Addr.String()
	if i.answerLost = s.AnswerLost; !s.AnswerLost {
		i.gone = goneFor
	}
	switch {
	case s.PassedOver != 0:
		i.fact("later", passedOver(i, s))
		then := "it came"
		if s.Skipped {
			then = "a response came, its own or to a later one"
		}
		later := "acknowledged a later request"
		if s.OnlyNAKed {
			later = "sent a PSN sequence NAK for a later request"
		}
		i.What = fmt.Sprintf("%v waited %s for the response to %s, while %v %s; then %s.", &i.Local, span(s.Lost()), article(operation(&s.Request)), &i.Peer, later, then)
		i.FitsWith = []string{"a response that was lost on the way back, before the tap, and a retransmission timer as long as that", "a responder that sent none"}
		i.Next = []string{"discards and errors of the switch ports on the way from " + peer + " to the tap, and of its adapter (ethtool -S)"}
		i.gone = notGone
	case s.LackedEnd():
		i.What = fmt.Sprintf("%v waited %s for the last packets of the response to %s: its first packets had come from %v.", &i.Local, span(s.Lost()), article(operation(&s.Request)), &i.Peer)
		i.FitsWith = []string{"the end of a response that was lost on the way back, before the tap, and a retransmission timer as long as that", "a responder that did not send it at once"}
		i.Next = []string{"discards and errors of the switch ports on the way from " + peer + " to the tap, and of its adapter (ethtool -S)"}
		i.gone = notGone
	case s.Total() == 0:
		i.What = fmt.Sprintf("%v waited %s for %v to answer, without a retransmission; then the answer came.", &i.Local, span(s.Lost()), &i.Peer)
		i.FitsWith = []string{
			"a responder that was busy or stopped: its host, its adapter, or what a READ has to fetch", "a link or path that was down, and a retransmission timer that is longer",
			"an ACK that was lost before the tap, and a later one that acknowledges the request too", "a tap that recorded nothing meanwhile",
		}
		i.Next = []string{"what " + peer + " did at that time", "link events in the logs of both hosts and of the switches between"}
	case s.AnswerLost:
		i.What = fmt.Sprintf("%v asked again after %s for what %v had answered: the answer passed the tap, and was lost or not taken after it.", &i.Local, span(s.Lost()), &i.Peer)
		i.FitsWith = []string{
			"an answer that was lost between the tap and " + local + ", and a retransmission timer as long as that", "a link, switch or route on the way back that failed and came back",
			"a requester that dropped the answer, or was stopped",
		}
		i.Next = []string{"link events on the way from the tap to " + local, "discards and errors of " + local + " (ethtool -S)"}
	default:
		i.What = fmt.Sprintf("Nothing that %v sent to %v was answered for %s; then it went on.", &i.Local, &i.Peer, span(s.Lost()))
		if n := s.Rounds[qp.SequenceAsked]; n > 0 {
			asked := "a PSN sequence NAK"
			if n > 1 {
				asked = number(uint64(n)) + " PSN sequence NAKs"
			}
			asked = ", not even what " + asked + " asked for"
			if n == 1 && s.Rounds[qp.TimerExpired] > 0 && s.Begun-s.Since > aftermath && s.Ended != 0 && s.Ended-s.Last <= aftermath { // it may have been the last round
				asked = ""
			}
			i.What = fmt.Sprintf("Nothing that %v sent to %v was acknowledged for %s%s; then it went on.", &i.Local, &i.Peer, span(s.Lost()), asked)
		}
		i.FitsWith = []string{linkFailed, hostStopped}
		switch {
		case s.Late:
			i.fact("lost", "nothing: each copy was answered")
			i.FitsWith[0] = "a path that held packets back for that long"
		case held:
			i.FitsWith = []string{answeredLate, "a path that held packets back, and lost none", resolvedLate}
		case s.LostAgain && s.Rounds[qp.TimerExpired] > fewRounds:
			i.FitsWith = append(i.FitsWith, lostOnceMore)
		case s.LostAgain: // who answers so had not stopped
			i.FitsWith = []string{lostOnceMore, linkFailed}
		case s.Total() == 1 && 4*(s.Ended-s.Last) < s.Last-s.Since:
			i.FitsWith = append([]string{oneLost}, i.FitsWith...)
			i.onceLost = true
		}
		i.Next = []string{"link events in the logs of both hosts and of the switches at that time", othersToo}
		if held {
			i.Next = slices.Insert(i.Next, 0, "what "+peer+" did at that time: its log and dmesg, the firmware and PCIe errors of its adapter")
		}
	}
}

// sinceLast says how long after the last retransmission a stall was over.
func sinceLast(s *qp.Stall, held bool) string {
	switch {
	case s.Total() == 0 || s.Ended <= s.Last:
		return ""
	case held:
		return ", " + span(s.Ended-s.Last) + " after the last retransmission, not at once"
	}
	return ", " + span(s.Ended-s.Last) + " after the last retransmission"
}

// byNAK says that what ended a stall is a PSN sequence NAK.
func byNAK(s *qp.Stall) string {
	if s.LostAgain {
		return ": a PSN sequence NAK for a later packet, which was lost too"
	}
	return ""
}

// told reports whether all that a requester retransmitted between two times is told as interruptions: it belongs to these, or to the end of one.
func (t *teller) told(k *qp.Trouble, rounds uint64, first, last int64) bool {
	if !t.timed() {
		return false
	}
	n := uint64(0)
	for j := range k.Longest {
		s := &k.Longest[j]
		if !interrupts(s) {
			continue
		}
		if n += s.Total(); first >= s.Since && last <= max(s.Ended, s.Last)+aftermath {
			return true
		}
	}
	return n >= rounds
}

// again says which request was sent how often in a stall.
func again(s *qp.Stall) string {
	if rest(&s.Request) {
		return retransmitted(&s.Request) + ", " + times(s.Total())
	}
	n, least := rounds(s)
	return retransmitted(&s.Request) + ", sent " + least + times(n+1)
}

// inAll says how often the request of stall s was sent in all stalls of trouble k, where that is more often: an answer had passed the tap in between.
func inAll(k *qp.Trouble, s *qp.Stall) string {
	n, of, least := uint64(1), uint32(0), ""
	for j := range k.Longest {
		if x := &k.Longest[j]; x.Begun != 0 && x.Total() > 0 && x.Request.Frame == s.Request.Frame && x.Request.PSN == s.Request.PSN {
			n, of = n+x.Total(), of+1
		}
	}
	if of < 2 {
		return ""
	}
	if k.Sum.Count > of {
		least = "at least "
	}
	return fmt.Sprintf("; %s%s in all, as answers to it passed the tap in between", least, times(n))
}
