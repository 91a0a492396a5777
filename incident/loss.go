package incident

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
)

// loss tells of packets that were lost and retransmitted.
func (t *teller) loss(c *agent.Connection, from int, k *qp.Trouble) {
	s := k.Sum
	n := s.Total() - uint64(s.Rounds[qp.NotReady])
	if n == 0 || t.told(k, n, s.Begun, s.Last) || onlyLate(c, from, k, n) {
		return
	}
	i := t.between(Loss, c, from)
	e := &c.Ends[from]
	i.Begin, i.End, i.Lost, i.Tap = s.Begun, t.lossEnds(e, k), time.Duration(s.Lost-s.Refused), s.Tap
	i.show(s.Frames.Begun[0], s.Frames.Last)
	o := k.Overtaking.All()
	vain := uint64(k.Now.Packets) // of what is told as unanswered
	sent := max(k.Again.Packets, 1)
	if k.Refused.Packets == 0 {
		sent = max(sent, sub(sub(uint64(e.Retransmissions), uint64(o.Packets-o.Numbered)), vain))
	}
	least := ""
	if s.Before+k.Asked.Before > 0 && !t.damages(i) && !t.trims(i) {
		least = "at least " // what was lost before the tap, and comes as what is next when it is retransmitted, does not show
	}
	all, of, too := requestsOf(c, from, k)
	in := fmt.Sprintf("%s of %s to %v (%s%s), in %s%s", number(sent), of, &i.Peer, share(sent, all), too, least, count(n, "round"))
	if t.mayBeCopies(c, s.Begun) {
		least, in = "at most ", "at most "+in
		i.fact("of these", "some are likely copies that another mirrored port shows, as long as that was not known: the capture has packets between these hosts twice")
	}
	late := mostlyLate(k, n)
	var short *shortTimeout
	if !late {
		short = t.timeoutTooShort(c, from, k, n)
	}
	late = late || short != nil
	i.again = retransmitting{said: fmt.Sprintf("%v retransmitted %s", &i.Local, in), rounds: n, late: late, lost: lostBefore(k)}
	i.What = i.again.said + lostOrLate + "."
	i.lostArriving(k, n)
	if late {
		i.again.short = short != nil
		i.again.said += cameLateSaid(k, n, short)
		i.What = i.again.said + "."
	}
	storm := k.Storm()
	waits := k.Now.Begun != 0 && storm.First >= k.Now.Since // that is told as unanswered
	if storm.Time != 0 && !waits && !t.told(k, math.MaxUint64, storm.First, storm.Last) && n > uint64(s.Rounds[qp.NotReady]) && t.timed() {
		t.stormFacts(i, c, from, k, &storm, n, all, sent)
	}
	i.fact("caused", causes(&s, k.Earlier))
	if short == nil {
		i.fact("slowest", t.slowestWaited(c, from, k))
		i.fact("cost", least+t.cost(c, from, k))
	}
	if each := k.Again.Packets / n; each >= i.inFlight(&s) && !late && i.Kind != Retransmitting {
		i.fact("each", costsEach(each))
	}
	if short == nil {
		i.fact("where", where(k, t.answersGone(c, from, k), t.damages(i), t.trims(i)))
	}
	if o.Packets == 0 && s.Before+k.Asked.Before > 0 && !t.damages(i) && !t.trims(i) { // what came damaged or trimmed does not count as seen
		i.fact("missing", missing(&k.Missing, least))
	}
	path := t.pathOfLoss(c, from, late)
	i.fact("paths", path.said)
	if !late {
		i.fact("others", t.unharmed(c, from, n))
	} else {
		i.fact("timer", t.timerBeside(k))
	}
	p := placesOf(k)
	i.ofAnswers, i.allAnswers = p.back+p.over+p.missing > 0, uint64(p.back) == n
	i.onePath, i.ofTrimmed, i.ofMarked = path.one, t.trims(i), t.marked[way{i.Local.Addr, i.Peer.Addr}]
	t.lossReasons(i, c, from, k, late, path)
	if short != nil {
		t.tellShort(i, c, from, k, short)
	}
	i.byDamage = t.allDamaged(i, k, n)
	t.noneLost(i, c, from)
	if tails := lostTails(c, from, k); !i.noneLost && !late {
		t.tellTails(i, &tails, k.Asked.After)
	}
	asked := uint64(o.Asked) + uint64(k.Responses.All().Asked)
	// What is retransmitted may be overtaken too. A timer that runs out does not show that a packet was, but where there are few rounds beside many that were overtaken.
	i.explained = asked > 0 && (2*asked >= n || 2*(asked+uint64(o.Numbered)) >= n && 2*uint64(s.Rounds[qp.TimerExpired]) < n) || uint64(o.Packets) >= mostlyOvertaken*n
	t.tell(i, unlike(i))
}

// pathOfLoss is the path on which packets or their answers were lost; late says that none was.
func (t *teller) pathOfLoss(c *agent.Connection, from int, late bool) (path lossyPath) {
	if late {
		return path
	}
	if path = t.paths(c, from); path.said == "" {
		path = t.answersPath(c, from)
	}
	return path
}

// onlyLate reports whether n rounds of retransmission are most likely packets that came late too, as many others did that nothing numbers: hardly a packet came twice, and the responder has asked for none.
func onlyLate(c *agent.Connection, from int, k *qp.Trouble, n uint64) bool {
	o, peer := k.Overtaking.All(), &c.Ends[1-from]
	return uint64(o.Packets-o.Numbered) >= mostlyOvertaken*n && peer.NAKs == 0 && mostlyOvertaken*peer.Duplicates <= o.Packets-o.Numbered
}

// unlike tells losses apart that are not one with others between the same hosts: of late answers nothing was lost, nor was what others had overtaken.
func unlike(i *Incident) string {
	switch {
	case i.again.late:
		return "late"
	case i.readsCame:
		return "reads came"
	case i.noneLost:
		return "none lost"
	case i.explained:
		return "overtaken"
	}
	return ""
}

// muchInFlight is from how many packets on that are retransmitted for each that was lost it is told that this is what it costs.
const muchInFlight = 32

// goBackEach is the same of what tells that much was retransmitted as NAKs asked for it.
const goBackEach = muchInFlight / 8

// inFlight is the same of what an incident tells of: a few cost much where it tells that much was retransmitted as NAKs asked for it.
func (i *Incident) inFlight(s *qp.Stalls) uint64 {
	if i.Kind == Retransmitting && !mostlyTimer(s) {
		return goBackEach
	}
	return muchInFlight
}

// mostlyOvertaken is how many packets that were overtaken there are for each round of retransmission at least, where that is most likely another one of them.
const mostlyOvertaken = 10

// damages reports whether packets between the hosts of an incident were damaged, either way.
func (t *teller) damages(i *Incident) bool {
	return t.damaged[way{i.Local.Addr, i.Peer.Addr}] || t.damaged[way{i.Peer.Addr, i.Local.Addr}]
}

// trims reports whether packets between the hosts of an incident came trimmed.
func (t *teller) trims(i *Incident) bool {
	return t.cut[way{i.Local.Addr, i.Peer.Addr}] || t.cut[way{i.Peer.Addr, i.Local.Addr}]
}

// lossEnds is when what end e had lost was answered, and the last packet of it retransmitted.
func (t *teller) lossEnds(e *agent.End, k *qp.Trouble) int64 {
	if !t.timed() {
		return k.Sum.Last
	}
	end := max(k.Sum.Last, k.Sum.Ended)
	if k.Storming != nil && !e.Stalled { // else the newest belongs to what was not answered
		end = max(end, k.Storming.Newest)
	}
	return end
}

// lossReasons says what would look like a loss, and what to look at. late says that nothing was lost.
func (t *teller) lossReasons(i *Incident, c *agent.Connection, from int, k *qp.Trouble, late bool, path lossyPath) {
	switch {
	case late:
		i.lateReasons(c, from, k)
	case c.Encap == packet.Native:
		i.FitsWith = []string{badCable, "a switch that discards what waits for longer than HOQLife"}
		i.Next = []string{"SymbolErrorCounter, PortRcvErrors and PortXmitDiscards of the ports between (perfquery, ibqueryerrors)"}
	default:
		i.FitsWith = []string{queueDrops, badCable}
		if t.markable(&c.Ends[from]) {
			i.FitsWith = []string{badCable, queueDrops}
		}
		i.Next = []string{portDiscards, flowControl}
	}
	if i.Kind == Retransmitting {
		stormReasons(i, k)
	}
	if i.ofMarked {
		i.FitsWith = slices.Insert(i.FitsWith, 0, "the congestion that marks of the network show, see there: a queue on the way that is full drops")
	}
	if !late && k.Sum.Rounds[qp.TimerExpired] > k.Sum.Before+t.answersGone(c, from, k) { // else all was lost before the tap
		i.timedOut(c, from, k)
	}
	if k.Asked.After > 0 && k.Overtaking.All().Packets == 0 {
		i.mayBeOvertaken(k)
	}
	switch timer := uint64(k.Sum.Rounds[qp.TimerExpired]); {
	case !path.one || late:
	case !path.answers && 2*timer > k.Sum.Total()-uint64(k.Sum.Rounds[qp.NotReady]): // most of it may be that answers come late
		i.FitsWith = append(i.FitsWith, onePath)
	default:
		i.ofPath(path.ported)
	}
	if t.damages(i) {
		i.FitsWith = append([]string{"the packets that were damaged, see there: their receivers drop them"}, i.FitsWith...)
	}
	if t.trims(i) {
		i.trimsOnly = t.onlyTrimsNaked(c, from, k)
		i.ofTrims(i.trimsOnly)
	}
	if k.Overtaking.All().Packets > 0 || k.Responses.All().Packets > 0 {
		i.FitsWith = append([]string{cameAfterLater}, i.FitsWith...)
	}
	if noneMissing(k) && !t.damages(i) && !t.trims(i) {
		i.FitsWith, i.Next = []string{cameAfterLater}, []string{afterLater(i)}
	}
}

// markable reports whether a network that marks would have marked packets of an end before a queue dropped them, and nothing in the capture shows a mark: neither a packet nor a CNP.
func (t *teller) markable(e *agent.End) bool {
	return e.ECNCapable && t.run.Packets > 0 && t.run.Cover[rule.EvCE].Exercised+t.run.Cover[rule.EvCNP].Exercised == 0
}

// adaptiveRouting is where to look where packets may have overtaken one another.
const adaptiveRouting = "where no port discards anything: adaptive routing"

// What fits losses on RoCE, and what to look at.
const (
	badCable     = "a bad cable or transceiver that damages packets"
	overtaking   = "packets that overtake one another after the tap (adaptive routing, packet spraying): the receiver takes those that come late for lost"
	queueDrops   = "congestion without flow control: a queue that drops"
	flowControl  = "priority flow control and the traffic class of this traffic"
	portDiscards = "discards and errors of the switch ports and adapters between (ethtool -S)"
)

// places is how many rounds of retransmission there were for what was lost where.
type places struct {
	before, after uint32 // requests, that a NAK asked for
	unseen        uint32 // requests before the tap, that a timer had retransmitted
	short         uint32 // likewise, though the tap had shown them before: it did not again when the requester had gone back
	earlier       uint32 // before the capture
	back          uint32 // answers after the tap
	over, missing uint32 // answers before the tap
	cut           uint32 // of over, those of READs of whose response the first packets had come
	late          uint32 // nowhere
	unsent        uint32 // requests after the tap, that a timer had retransmitted
	dropped       uint32 // nowhere, most likely: answers after the tap, that came whole while their requester waited for an earlier one
	rest          uint32 // it is not known
}

func placesOf(k *qp.Trouble) (p places) {
	s := &k.Sum
	p.before = min(k.Asked.Before, s.Rounds[qp.SequenceAsked])
	p.after = min(k.Asked.After, s.Rounds[qp.SequenceAsked]-p.before)
	p.rest = s.Rounds[qp.TimerExpired]
	take := func(n uint32) uint32 {
		n = min(n, p.rest)
		p.rest -= n
		return n
	}
	p.unseen, p.short, p.earlier, p.late, p.back, p.over = take(s.Before), take(k.WentShort), take(k.Earlier), take(lateRounds(k)), take(k.AnswersSeen), take(k.PassedOver)
	p.cut = min(k.Cut, p.rest)
	p.over += take(p.cut)
	p.unsent = take(k.Unsent)
	passed := min(k.Passed, s.Rounds[qp.ResponseLost])
	p.dropped = min(passed, p.over-p.cut) // a requester takes no answer before those to earlier READs
	p.back += passed - p.dropped
	p.missing = s.Rounds[qp.ResponseLost] - passed
	return p
}

// where says on which side of the tap packets were lost. gone is what answersGone returns; damaged says that packets between the hosts were damaged
// before it, trimmed that they were trimmed.
func where(k *qp.Trouble, gone uint32, damaged, trimmed bool) string {
	p := placesOf(k)
	gone = min(gone, p.rest)
	p.rest -= gone
	missing, shown, whole := "a response is missing", "", "in order"
	if trimmed {
		shown, whole = ", perhaps only trimmed, so that the receiver dropped it", "whole"
	} else if k.Sum.Rounds[qp.SequenceAsked] > 0 {
		shown = ", perhaps only out of order, so that the receiver dropped it"
	}
	unseen := "seen"
	if damaged {
		missing += " or damaged"
		unseen = "seen whole"
	}
	var list []string
	for _, l := range []struct {
		rounds uint32
		where  string
	}{
		{p.before, "before the tap, which has not seen " + whole + " what the receiver asked for"},
		{p.after, "after the tap: the receiver asked for what the tap shows" + tookLate(k)},
		{p.unsent, "after the tap, on the way to the receiver or there: by its IPv4 identifications it sent nothing until the copy came"},
		{p.unseen, "before the tap, which had not " + unseen + " what was then retransmitted by timer"},
		{p.short, "before the tap, which had not " + unseen + " again the end of what its sender went back to, until the timer ran out for it"},
		{p.earlier, "before the capture, which does not show what became of it when it was sent first"},
		{p.back, "on the way back: the answer had passed the tap, and was lost after it or came too late"},
		{p.dropped, "nowhere, most likely: the answer had passed the tap, and its requester drops it while it waits for an earlier one"},
		{p.cut, "on the way back, before the tap: the first packets of the response to this READ had come, and the last ones are missing"},
		{p.over - p.cut, "on the way back, before the tap: a later request was acknowledged or NAKed, and the response to this READ or atomic is missing"},
		{gone, "on the way back, before the tap: by the IPv4 identifications of the answering host, a packet that it sent right after the request " +
			"was lost there, likely the answer"},
		{p.late, "nowhere: the answer came late, and each copy was answered"},
		{p.rest, "after the tap, or on the way back, or not at all (a late answer): what was retransmitted by timer had passed the tap" + shown},
		{p.missing, "on the way back, before the tap: " + missing + ", or came after a later one"},
	} {
		if l.rounds > 0 {
			list = append(list, times(uint64(l.rounds))+" "+l.where)
		}
	}
	return strings.Join(list, "; ")
}

// fewestGaps is from how many gaps on it is told how long they are.
const fewestGaps = 3

// missing says how what was lost before the tap, and retransmitted, lies in the stream of PSNs: one by one, or in runs. What was never retransmitted is what the capture has lost.
func missing(x *qp.Missing, least string) string {
	m := &x.Filled
	switch {
	case x.Acked > 0 && m.PSNs > 0:
		return fmt.Sprintf("%s%s before the tap, in %s, retransmitted then; the capture lost %d that were not, see there", least, count(uint64(m.PSNs), "PSN"), count(uint64(m.Gaps), "gap"), x.Acked)
	case m.Gaps < fewestGaps:
		return ""
	case m.Longest == 1:
		return fmt.Sprintf("%s%s before the tap, never two in a row", least, count(uint64(m.PSNs), "PSN"))
	}
	s := fmt.Sprintf("%s%s before the tap, in %s of up to %d in a row", least, count(uint64(m.PSNs), "PSN"), count(uint64(m.Gaps), "gap"), m.Longest)
	if m.Longest == x.Longest && x.Frame != 0 {
		s += fmt.Sprintf(", which frame %d follows", x.Frame)
	}
	return s
}

// causes says what had a requester retransmit.
func causes(s *qp.Stalls, earlier uint32) string {
	var list []string
	earlier = min(earlier, s.Rounds[qp.TimerExpired])
	for k, name := range [...]string{"by the requester's timer (nothing in the capture asked for it)", "by PSN sequence NAKs", "by RNR NAKs", "by a response that came before one which it needs"} {
		n := s.Rounds[k]
		if k == int(qp.TimerExpired) {
			n -= earlier
		}
		if n > 0 && k != int(qp.NotReady) {
			list = append(list, times(uint64(n))+" "+name)
		}
	}
	if earlier > 0 {
		list = append(list, times(uint64(earlier))+" by its timer, or by what had come before the capture began")
	}
	return enumerate(list)
}

// share writes a part of a whole: "0.12 %".
func share(part, whole uint64) string {
	if whole == 0 {
		return "0 %"
	}
	percent := 100 * float64(part) / float64(whole)
	if percent < 10 {
		return fmt.Sprintf("%.2g %%", percent)
	}
	return fmt.Sprintf("%.0f %%", percent)
}
