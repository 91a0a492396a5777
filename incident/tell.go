package incident

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/timing"
	"ibwitness/verifier/cm"
)

// Of returns the incidents of a run, the gravest kind first, and of a kind the one first that cost the most time.
func Of(r *agent.Result) []Incident {
	t := newTeller(r)

	all := func(yield func(uint64, *agent.Connection) bool) {
		for i := range r.Connections {
			if !yield(uint64(i), &r.Connections[i]) {
				return
			}
		}
	}
	for _, c := range all {
		t.host(c)
	}
	t.sight(all)
	var n network
	for k := range r.Findings {
		n.add(&r.Findings[k])
	}
	t.network(&n)
	t.stale()
	t.silences()
	t.cutOffs()
	t.connections()
	t.noARP()
	t.reconnects()
	t.datagrams()
	t.misaddressed()
	t.otherQKeys()
	t.uncompleted()
	t.rejected()
	t.ignored()
	t.managed()
	t.paused()
	t.capture()
	t.blamePauses()
	t.unsent()
	t.programsStopped()
	list := t.underStopped(t.ordered(t.sorted()))
	gather(list, r.Findings)
	list = t.pathOutages(list)
	list = t.withPauses(t.sidesOfHoles(blackHoles(t.servicesHung(t.otherVersions(t.programsEnded(list))))))
	list = t.underMarks(t.reorderedBack(t.underReordered(t.tellReadsLate(overtakings(list)))))
	list = t.peers(t.frozen(t.afterLastTap(lostOnceMoreIn(underTrimmed(list)))))
	list = survivors(t.wereDown(t.hubs(list)))
	t.lostWhenCutOff(list)
	t.commonLosses(list)
	list = oneOfMany(t.openAtEnd(led(t.lateTogether(list))))
	t.incast(list)
	t.lostClasses(list)
	list = t.programStalled(t.processesStopped(t.exhaustedBeside(t.exhaustedTogether(t.refusedQueuePairs(t.shortages(underDamage(t.oneFault(t.lostToDamage(list)))))))))
	list = t.joinByPlace(underHoles(list))
	alsoSized(list)
	stoppedAtOnce(list)
	t.crossedHalves(list)
	t.whenNamed(list)
	t.lostStates(list)
	t.refusedByAnother(list)
	t.betweenTaps(list)
	onceEach(list)
	countAll(list, r)
	return hopsOnce(capturesFirst(afterCostlier(list)))
}

// teller makes the incidents of a run.
type teller struct {
	run       *agent.Result
	hosts     map[packet.Addr]host
	seen      map[packet.Addr]*sightings
	more      bool                     // the network did it to more packets than are told of
	damaged   map[way]bool             // packets were, on the way from host to host
	damagedAt map[flow][]int64         // what damagedTimes returns; nil: nobody has asked
	cut       map[way]bool             // packets were trimmed, likewise
	repairs   map[packet.Addr]*repairs // what repairsTo returns; nil: nobody has asked
	marked    map[way]bool             // many were marked as having met congestion, likewise
	groups    map[group]*Incident
	order     []*Incident
	keys      []group                             // of order
	pairs     map[pair][]*agent.Connection        // by First; nil: nobody has asked
	ways      map[waysKey]lossyPath               // what paths says
	allWays   map[packet.Service]lossyPath        // what pathsOfAll says
	pmtus     map[packet.Addr]uint32              // the largest path MTU of the connections of a host; nil: nobody has asked
	passages  map[passageKey]*passage             // what passageOf returns
	keysOf    map[waysKey][]uint16                // what unansweredKeys returns
	accesses  map[accessKey]*accesses             // what accessesOf returns; nil: nobody has asked
	served    map[packet.Addr][]*agent.Connection // what serves returns; nil: nobody has asked
	onlyGone  map[*agent.Numbering]bool           // what onlyAnswersGone returns
	programs  map[*agent.Connection]bool          // what ended returns; nil: nobody has asked
	folded    map[*cm.Unanswered]bool             // REQs of which an incident of others tells
	attempts  *attempts                           // what inVain returns; nil: nobody has asked
	sending   map[packet.Addr][]sendingEnd        // what sendersTo returns; nil: nobody has asked
	accepts   map[packet.Addr][]*rule.Finding     // what accepted returns; nil: nobody has asked
	broken    map[rule.Frame][]*rule.Finding      // violations, by frame; nil: nobody has asked
	stopped   []stop                              // interruptions, which stops tells of
	storms    []pauseTold                         // ports that did not let go, and whose packets they have wait
	lost      *unheld                             // nil: nobody has asked
	sided     *sides                              // nil: nobody has asked
	tapsLast  map[uint16]int64                    // when the last packet came of a connection that a tap saw first, by tap; nil: nobody has asked
	active    map[packet.Addr]*timing.Activity    // what activityOf returns; nil: nobody has asked
	quiet     map[packet.Addr][]hostSilence       // what silencesOf returns; nil: nobody has asked
	qpns      map[packet.Addr]qpns                // what qpnsOf returns; nil: nobody has asked
	pKeys     map[packet.Addr][]uint16            // what keysFrom returns; nil: nobody has asked
	away      []cutHost                           // hosts that were cut off while others went on
	slowOn    map[targetKey]*slowTarget           // what slowTargetOf returns; nil: nobody has asked
	slowParts *[]*classesOfServer                 // what slowServers returns; nil: nobody has asked
	phases    *[]*slowPhase                       // what slowPhases tells; nil: it was not looked for
	none      map[targetKey]*openCommands         // what noneAnswered returns; nil: nobody has asked
	still     []still                             // when the capture recorded nothing of any host
}

// group is which incidents are told as one: of the same kind between the same hosts, in the same direction, and overlapping in time where that is said.
type group struct {
	kind        Kind
	local, peer packet.Addr
	what        string // more that they have in common
}

// connections tells what happened on the connections.
func (t *teller) connections() {
	for i := range t.run.Connections {
		for from := range 2 {
			t.requests(&t.run.Connections[i], from)
		}
		t.unended(&t.run.Connections[i])
	}
	for i := range t.run.Connections {
		t.commands(&t.run.Connections[i])
	}
	t.slowFrom()
	t.uneven()
	t.slowByObject()
	t.slowByClasses()
	t.slowPhases()
	t.stops()
}

// requests tells what happened to the requests of an end of a connection.
func (t *teller) requests(c *agent.Connection, from int) {
	e := &c.Ends[from]
	if e.Trouble == nil && !waits(e, t.run.Last) && !deserted(c, from) || t.oneSided(c, from) {
		return
	}
	if e.Trouble == nil {
		t.silent(c, from)
		return
	}
	k := e.Trouble.Settled(e.Stalled)
	cut := e.Stalled && (t.cutShort(&k) || t.readAnswered(c, from, &k))
	if e.Stalled && !cut { // what was retransmitted in vain is told with the request that is not answered
		k.Again.Packets, k.Again.Bytes = sub(k.Again.Packets, uint64(k.Now.Packets)), sub(k.Again.Bytes, k.Now.Bytes)
	}
	if o, n := k.Overtaking.All(), k.Sum.Rounds[qp.SequenceAsked]+k.Sum.Rounds[qp.TimerExpired]; o.Numbered == 0 && n > 1 && o.Packets <= n {
		k.Overtaking = nil // only their time says that they were overtaken, and as many rounds of retransmission say otherwise
	}
	t.displaced(c, from, &k)
	refused, told := k.Refusal.Time != 0, false
	switch {
	case refused:
		t.refused(c, from, &k.Refusal)
	case e.Stalled && k.NAK.Time != 0:
		told = t.exhausted(c, from, &k)
	case cut, !t.orderKnown() && k.Now.Total() == 0: // its answer may be dated before it
	case e.Stalled:
		t.unanswered(c, from, &k.Now)
	case t.answersLost(c, from, &k):
		return
	default:
		t.silent(c, from)
		t.answeredTooLate(c, from)
	}
	if t.run.Clock.Count == 0 && t.orderKnown() {
		t.interrupted(c, from, &k)
	}
	if k.RNR.NAKs > 0 && !told {
		t.notReady(c, from, &k)
	}
	if t.copied() {
		return
	}
	t.reordered(c, from, k.Overtaking.All(), requests)
	t.reordered(c, 1-from, k.Responses.All(), responses)
	if t.mayBeCopies(c, k.Sum.Last) && k.Sum.Rounds[qp.SequenceAsked] == 0 {
		return
	}
	if cut {
		k = k.Settled(false)
	}
	t.loss(c, from, &k)
	t.gaps(c, from, &k)
}

// cutShort reports whether the newest stall of trouble k is no more than one of several whose end the capture does not show: it had just begun, or lasts
// no longer than one that was over.
func (t *teller) cutShort(k *qp.Trouble) bool {
	lasts := t.run.Last - k.Now.Since
	if t.run.Packets == 0 || k.Refusal.Time != 0 || k.NAK.Time != 0 || k.Now.NAKs > 0 || k.Sum.Count == 0 || lasts >= patience {
		return false
	}
	return k.Now.Total() == 1 || slices.ContainsFunc(k.Longest[:], func(x qp.Stall) bool { return x.Ended != 0 && x.NAKs == 0 && x.Ended-x.Since >= lasts })
}

// between makes an incident of the requests that end from of a connection sends.
func (t *teller) between(kind Kind, c *agent.Connection, from int) *Incident {
	return &Incident{Kind: kind, Certainty: Proven, Local: party(&c.Ends[from]), Peer: party(&c.Ends[1-from]), Connections: 1, Tap: c.FirstTap}
}

func party(e *agent.End) Party { return Party{e.Addr, e.QPN, e.QPNKnown} }

// during takes the times and frames of a stall.
func (i *Incident) during(k *qp.Stall) {
	i.Begin, i.End, i.Lost, i.Tap = k.Since, max(k.Ended, k.Last), time.Duration(k.Lost()), k.Tap
	i.show(k.Request.Frame)
	i.show(k.Frames.Begun[:]...)
	i.show(k.Frames.Last, k.Frames.Ended)
}

// show adds frames; 0 is none.
func (i *Incident) show(frames ...uint64) {
	for _, f := range frames {
		if at, known := slices.BinarySearch(i.Frames, f); f != 0 && !known {
			i.Frames = slices.Insert(i.Frames, at, f)
		}
	}
}

// clearlyMore is by which part of it, one in so many, an incident costs more time than another at least to be the one that is told.
const clearlyMore = 4

// tell takes an incident: with others of its group it is one, told by the one that cost clearly the most time, or else by the first.
func (t *teller) tell(i *Incident, what string) {
	t.tellAs(i, group{i.Kind, i.Local.Addr, i.Peer.Addr, what})
}

// tellAs is tell as one of a group.
func (t *teller) tellAs(i *Incident, g group) {
	was, newest := t.groups[g], [2]Party{i.Local, i.Peer}
	if i.own = i.Begin; i.lostPeer() {
		i.lostAt = []int64{i.Begin}
	}
	if was == nil {
		i.newest = newest
		t.groups[g] = i
		t.order, t.keys = append(t.order, i), append(t.keys, g)
		return
	}
	n, other := was.Connections, was.again.other
	if was.newest != newest { // else it is the same connection once more
		n += i.Connections
		other = i.again.said
	}
	answers, short := was.allAnswers && i.allAnswers, was.short
	if was.newest != newest {
		short.add(&i.short)
	}
	byDamage := was.byDamage && i.byDamage
	said, rounds, late := was.again.said, was.again.rounds+i.again.rounds, was.late
	late.add(i.late)
	begin, end, ongoing := min(was.Begin, i.Begin), max(was.End, i.End), was.Ongoing || i.Ongoing
	most, lostAt := max(was.mostLost, was.Lost, i.Lost), append(was.lostAt, i.lostAt...)
	if i.Lost > was.Lost+was.Lost/clearlyMore || i.episodic && i.Lost > was.Lost || i.Begin < was.Begin && i.Lost+i.Lost/clearlyMore >= was.Lost {
		*was, other = *i, said
	}
	short.episodes = was.short.episodes // of the one that is told
	was.mostLost, was.allAnswers, was.short, was.lostAt = most, answers, short, lostAt
	was.Connections, was.Begin, was.End, was.Ongoing, was.newest = n, begin, end, ongoing, newest
	was.again.rounds, was.again.other, was.late, was.byDamage = rounds, other, late, byDamage
}

// sorted lists the incidents.
func (t *teller) sorted() []Incident {
	out := make([]Incident, 0, len(t.order))
	for _, i := range t.order {
		if n := i.Connections; n > 1 && !i.listed && !i.says("again") && i.deadToo != n-1 {
			also := count(uint64(n-1), "more connection") + " between the same hosts likewise" + t.goesOnAfterNAK(i)
			if n == 2 && i.again.late {
				also = i.again.other
			}
			switch {
			case i.Lost == 0 || !t.timed() || n == 2 && i.again.late:
			case i.Lost < i.mostLost && i.own > i.Begin:
				also += "; none lost much more time than this one"
			case i.Lost < i.mostLost:
				also += "; this is the first, and none lost much more time"
			default:
				also += "; this is the one that lost the most time"
			}
			i.fact("also", also)
		}
		out = append(out, *i)
	}
	slices.SortStableFunc(out, func(a, b Incident) int { return order(&a, &b) })
	return out
}

// whenNamed says of incidents that tell of several connections when the request began that they name, where others had begun before.
func (t *teller) whenNamed(list []Incident) {
	for n := range list {
		i := &list[n]
		k := slices.IndexFunc(i.Facts, func(f Fact) bool { return f.Label == "request" })
		if k >= 0 && t.timed() && i.own-i.Begin >= interruption {
			began := "began"
			if i.retried {
				began = "was first retransmitted"
			}
			i.Facts[k].Text += fmt.Sprintf(", which %s %s after the first of all that is told here, at %s", began, span(i.own-i.Begin), t.offset(i.own))
		}
	}
}

// rank is the place of an incident by its kind: losses that are reordering come after that, as do those of what was trimmed or met congestion, congestion for which nothing was lost comes after these, and requests that were sent after a DREQ, or to a queue pair that had failed before, come after others that are not answered, and refusals of a client that was accepted soon after come last. Commands that were slow are among interruptions, by their time.
func rank(i *Incident) int {
	switch {
	case i.sum != nil, i.led, i.Kind == Trimmed && i.Lost > 0: // the stalls of its connections are among what it tells of, and are put in order with others by their time
		return 2 * int(Interrupted)
	case i.ofTrimmed:
		return 2*int(Trimmed) + 1
	case i.ofMarked, i.harmless && i.Kind == Congestion:
		return 2*int(Congestion) + 1
	}
	if i.explained {
		return 2*int(Reordered) + 1
	}
	if i.disconnected || i.follows {
		return 2*int(i.Kind) + 1
	}
	switch {
	case i.ofHung:
		return 2*int(Waiting) + 1
	case i.accepted:
		return 2*int(Untrusted) - 1
	case i.Kind == Slow:
		return 2 * int(Interrupted)
	}
	return 2 * int(i.Kind)
}

// order puts the gravest kind first, and of a kind what did harm, and then what cost the most time.
func order(a, b *Incident) int {
	if a.foremost != b.foremost {
		if a.foremost {
			return -1
		}
		return 1
	}
	if r := cmp.Compare(rank(a), rank(b)); r != 0 || a.harmless == b.harmless {
		return cmp.Or(r, cmp.Compare(b.cost(), a.cost()), cmp.Compare(b.late.hurt(), a.late.hurt()), cmp.Compare(a.Begin, b.Begin))
	}
	if a.harmless {
		return 1
	}
	return -1
}
