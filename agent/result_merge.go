package agent

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"ibwitness/agent/internal/connection"
	"ibwitness/fabricagent"
	"ibwitness/internal/cache"
	"ibwitness/link"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier"
	"ibwitness/verifier/cm"
	"ibwitness/verifier/gmp"
	"ibwitness/verifier/ud"
)

// notJudged adds what was not judged, and how often, by reasons that why names.
func (r *Result) notJudged(counts []uint64, why func(i int) string) {
	for i, n := range counts {
		if n > 0 {
			r.NotJudged = append(r.NotJudged, Note{why(i), n})
		}
	}
}

// addLatencies adds those of a shard; nil: it has measured none.
func (r *Result) addLatencies(l *verifier.Latencies) {
	if l == nil {
		return
	}
	if r.Latencies == nil {
		r.Latencies = new(verifier.Latencies)
	}
	r.Latencies.Add(l)
}

// result puts together what the shards found, in an order that does not depend on their number.
func (e *engine) result() *Result {
	r := &Result{Packets: e.sums.packets, RDMA: e.sums.rdma, Undecoded: e.sums.short, Events: len(e.opt.Events), First: e.clocks.first, Last: e.clocks.last, Taps: e.src.Taps(), Clock: e.clocks.step, Disorder: e.clocks.order, Silences: e.clocks.silences(), Echoes: e.sums.echoes.hosts(), Discards: e.sums.discards.all(), OtherFrames: e.sums.frames.list(), Neighbors: e.sums.neighbors.all()}
	var skipped [verifier.NumSkips]uint64
	var management [gmp.NumSkips]uint64
	var hosts []*connection.Host
	refused, pauses := uint64(0), uint64(0)
	agents := make([]*Transport, len(e.shards))
	dropped := slices.ContainsFunc(r.Taps, func(t fabricagent.Tap) bool { return t.Dropped > 0 })
	if dropped && e.watch == nil && e.completions != nil {
		e.completions.incomplete()
	}
	if e.completions != nil {
		r.Events = len(e.completions.sources)
	}
	e.judgeEvents(e.clocks.last)
	r.LogClocks, r.LogsUnseen = e.completions.clocks(), e.completions.unseen()
	for i, s := range e.shards {
		agents[i] = s.t
		if dropped && e.watch == nil { // it may say so after its last packet
			s.t.Dropped()
		}
		s.t.rc.Stopped = e.clocks.stopped
		s.t.Finish(e.clocks.last)
	}
	Reconcile(agents...)
	var noRoCE []NoRoCE
	if e.watch == nil {
		noRoCE = leaveToPrograms(agents, &e.sums.signs.answers)
		leaveToCopies(agents, r.RDMA)
		leaveToMirrors(agents)
		r.Numbered, r.Arrived, r.ArrivedQPs = e.numbers.list(), e.numbers.arrived(), e.numbers.pairs.arrived()
		withdrawUncaptured(agents, r.Numbered)
		r.Apart = e.skews.listApart()
		r.Skewed = e.skews.list(len(r.Apart) > 0)
		leaveToClocks(agents, r.Skewed)
	}
	r.Streams = ud.Streams(ofDatagrams(agents)...)
	for _, t := range agents {
		r.Repeated += t.repeated
		r.Copies.Add(&t.ver.Copies)
		r.Mirrored = append(r.Mirrored, t.table.Mirrored()...)
		r.Undecoded += t.short
		r.Unjudged += t.unjudged
		refused += t.table.Refused()
		r.Open.Add(&t.opened)
		managed := t.waitsManagement(e.clocks.last)
		r.Open.Add(&managed)
		for i, n := range t.ver.Skipped {
			skipped[i] += n
		}
		for i, n := range t.gmp.Skipped {
			management[i] += n
		}
		r.cover(&t.Rec)
		if e.opt.Coverage {
			r.Shown.Add(t.Shown)
		}
		r.addLatencies(t.rc.Latencies)
		r.REQs = append(r.REQs, t.talks.Unanswered()...)
		r.SIDRs = append(r.SIDRs, t.talks.Resolved()...)
		r.Delayed = append(r.Delayed, t.talks.Delayed()...)
		r.MADs = append(r.MADs, t.unmanaged(e.clocks.last)...)
		r.await(t.gmp.Waiting())
		t.nodes()
		e.more(t)
		r.Paused = append(r.Paused, t.paused.List(e.clocks.last)...)
		pauses += t.paused.Others()
		r.Findings = append(r.Findings, t.Rec.Findings...)
		hosts = slices.AppendSeq(hosts, t.table.Hosts())
	}
	if c := e.completions; c != nil {
		e.alike(c.rec.More())
		r.cover(&c.rec)
		if e.opt.Coverage {
			r.Shown.Add(&c.queues.Shown)
		}
		r.Findings = append(r.Findings, e.takeEvents(math.MaxInt64)...)
		r.Datagrams = c.queues.DroppedDatagrams()
	}
	r.TapCounts = tapCountsOf(agents)
	for _, tap := range r.Taps {
		r.Dropped += tap.Dropped
	}
	r.Gaps = skipped[verifier.SkipGap]
	r.notJudged(skipped[:], func(i int) string { return verifier.Skip(i).String() })
	r.notJudged(management[:], func(i int) string { return gmp.Skip(i).String() })
	r.notJudged([]uint64{refused}, func(int) string { return connection.RefusedWhy })
	r.notJudged([]uint64{e.sums.unknown}, func(int) string { return "frames of a link type that cannot be decoded" })
	r.notJudged(e.sums.other[:], func(i int) string { return notRDMAWhy[i] })
	r.notJudged([]uint64{pauses}, func(int) string {
		return fmt.Sprintf("pause frames of more than %d ports: not followed", link.PortsMost)
	})
	slices.SortStableFunc(r.NotJudged, func(a, b Note) int { return cmp.Compare(b.Count, a.Count) })
	sortREQs(r.REQs)
	sortMADs(r.MADs)
	servedElsewhere(r.MADs, agents)
	r.Connections = connections(agents, false, math.MaxInt, len(e.gone))
	r.trimMessages(agents, e.opt.Messages)
	r.listed(e.gone)
	r.Forgotten = e.forgotten
	if e.watch == nil {
		gatherChecksums(r, hosts)
		namePorts(r.Paused, hosts, agents)
		r.Signs, r.Pings = e.sums.signs.of(hosts), e.sums.signs.pings.all()
		r.Moved = movedHosts(hosts, r.Signs)
		waysBack(r.REQs, hosts)
		leaveToPauses(r)
		r.leave(noRoCE, &e.sums.signs.answers)
	}
	r.Open.Unclocked, r.Open.Apart = r.Clock.Count > 0 || len(r.Skewed) > 0, len(r.Apart) > 0
	r.sort(e.together)
	return r
}

// cover adds what a recorder has counted.
func (r *Result) cover(rec *rule.Recorder) {
	for i, c := range rec.Cover {
		r.Cover[i].Add(c)
	}
}

// more counts the findings of a transport agent beyond those that are kept.
func (e *engine) more(t *Transport) {
	list := t.Rec.More()
	if t.links != nil {
		list = append(list, t.links.Rec.More()...)
	}
	e.alike(list)
}

// alike counts findings beyond those that are kept.
func (e *engine) alike(list []rule.More) {
	for i := range list {
		if m := &list[i]; m.Class == rule.Event {
			e.forgotten.Events += m.Count
		} else {
			e.forgotten.Findings += m.Count
		}
	}
	if e.watch != nil && e.watch.More != nil && len(list) > 0 {
		e.watch.More(list)
	}
}

// sort brings findings into frame order. together says that all taps number their frames together, as in one file.
func (r *Result) sort(together bool) {
	files := map[string]bool{}
	for _, t := range r.Taps {
		files[t.File] = true
	}
	one := together || len(files) <= 1
	slices.SortStableFunc(r.Findings, func(a, b rule.Finding) int {
		if one {
			return cmp.Or(cmp.Compare(a.Frame, b.Frame), cmp.Compare(a.Seq, b.Seq))
		}
		return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(a.Tap, b.Tap), cmp.Compare(a.Frame, b.Frame), cmp.Compare(a.Seq, b.Seq))
	})
	for i := range r.Findings {
		r.Findings[i].Seq = uint32(i) + 1
	}
}

// Connections lists the connections so far as the report shows them, in the order of their first packet.
func (t *Transport) Connections() []Connection {
	return connections([]*Transport{t}, false, math.MaxInt, 0)
}

// connections lists the connections of all shards as the report shows them, in the order of their first packet: all of them, or those that leave before the end, and the first so many. The list has
// room for so many more.
func connections(agents []*Transport, leaving bool, most, more int) []Connection {
	type first struct { // what the order nearly always depends on, apart from the rest: a connection is large, and there may be many
		time  int64
		index uint32 // in the list of its agent
		agent uint32
	}
	n := 0
	for _, t := range agents {
		for _, c := range t.table.List() {
			if c.Listed(leaving) {
				n++
			}
		}
	}
	order := make([]first, 0, n)
	for k, t := range agents {
		for i, c := range t.table.List() {
			if c.Listed(leaving) {
				order = append(order, first{c.FirstTime, uint32(i), uint32(k)})
			}
		}
	}
	at := func(i int) *connection.Connection { return agents[order[i].agent].table.List()[order[i].index] }
	slices.SortFunc(order, func(a, b first) int {
		if a.time != b.time {
			return cmp.Compare(a.time, b.time)
		}
		c, d := agents[a.agent].table.List()[a.index], agents[b.agent].table.List()[b.index]
		// A connection and the datagrams that made it begin with one frame.
		return cmp.Or(cmp.Compare(c.FirstTap, d.FirstTap), cmp.Compare(c.FirstFrame, d.FirstFrame), cmp.Compare(a.index, b.index))
	})
	if order = order[:min(len(order), most)]; len(order) == 0 {
		return nil
	}
	out := make([]Connection, len(order), len(order)+more)
	cache.LargePages(out)
	entered := entriesKnown(agents)
	var lines cache.Lines
	for i := range order {
		connection.FetchShown(len(order), i, at, &lines)
		c := at(i)
		show(c, &out[i])
		if entered {
			agents[order[i].agent].entries.enter(&out[i])
		}
		for k := range out[i].Ends {
			agents[order[i].agent].uppers.refused(c, k, out[i].Ends[k].Trouble)
		}
		out[i].Upper, out[i].Timing = agents[order[i].agent].upper(c), agents[order[i].agent].timing(c)
		if u := out[i].Upper; u != nil {
			for k := range out[i].Ends {
				u.Causes[k] = agents[order[i].agent].causes(c, out[i].Ends[k].Trouble)
				u.Named[k] = agents[order[i].agent].named(c, k, out[i].Ends[k].Trouble)
				agents[order[i].agent].renewed(u, c, k, out[i].Ends[k].Trouble)
				u.Before[k] = agents[order[i].agent].before(c, k, out[i].Ends[k].Trouble)
			}
		}
		out[i].Stale = agents[order[i].agent].stale(c)
		if !leaving {
			agents[order[i].agent].openEver(c, &out[i])
		}
	}
	return out
}

// show fills in what the report shows of a connection.
func show(c *connection.Connection, k *Connection) {
	*k = Connection{
		Service: c.Service, Encap: c.Encap, PMTU: c.PMTU, PairedBy: c.PairedBy, Closed: Closed{c.ClosedBy, c.ClosedAt, c.ClosedFrame},
		First: c.FirstTime, FirstFrame: c.FirstFrame, FirstTap: c.FirstTap, FirstHops: c.FirstHops(),
	}
	if c.PMTU == 0 {
		k.Largest = uint16(c.LeastPMTU())
	}
	if c.Service == packet.UD {
		k.PMTU = 0
	}
	if !c.Paired && c.Reliable() && c.FirstOp().Fn() == packet.Acknowledge {
		k.Lone = loneOf(c.FirstPSN(), c.Ends[0].Lone())
	}
	for e := range c.Ends {
		q := &c.Ends[e]
		sums, faults := q.Sums(), q.Faults()
		k.Ends[e] = End{
			Addr: q.Addr, QPN: q.Number, QPNKnown: q.Numbered, Near: q.Near, VLAN: c.VLAN[e],
			Packets: sums.Packets, Bytes: sums.Bytes, Messages: sums.Messages,
			Retransmissions: faults.Retransmissions, Duplicates: faults.Duplicates,
			NAKs: faults.NAKs, SequenceNAKs: faults.SequenceNAKs, RNRNAKs: faults.RNRNAKs,
			Trouble: q.SQ.Trouble(), Stalled: q.SQ.StillStalled(c.Paired), Settings: settingsOf(q.Attr), Timer: q.SQ.TimerSeen(),
			Path:       Path{q.Flow.Known(), q.Flow.SrcPort, q.Flow.TClass, q.Flow.SL, q.Flow.PKey, 0, Entry{}},
			NotECT:     c.Encap.OnIP() && q.Flow.Known() && q.Flow.Reported&(qp.FirstNotECT|qp.ReportedECN) == qp.FirstNotECT,
			ECNCapable: c.Encap.OnIP() && q.Flow.Known() && q.Flow.Reported&(qp.FirstNotECT|qp.FirstNotECTResponse) == 0,
		}
		if c.Service == packet.UD {
			k.Ends[e].Path.QKey = q.Flow.QKey()
		}
		if x := &k.Ends[e]; x.Stalled {
			x.AfterStalled.Least, x.AfterStalled.Known = q.SQ.LeastAfterStalled()
		}
		if sums.Packets > 0 {
			k.Ends[e].Last = c.LastTime(e)
		}
	}
}

// loneOf is the responses that a connection begins with; nil: others than ACKs and PSN sequence NAKs are among them, or none are known.
func loneOf(first packet.PSN, l qp.LoneResponse) *Lone {
	switch {
	case !l.Seen:
	case l.NAKTime == 0:
		return &Lone{first, l.PSN, false}
	case l.Newest == packet.NAKSequence:
		return &Lone{first, l.PSN.Add(1), true}
	}
	return nil
}

// await counts management requests that are not answered.
func (r *Result) await(n uint64, since int64) {
	if n > 0 && (r.AwaitedMADs == 0 || since < r.AwaitedSince) {
		r.AwaitedSince = since
	}
	r.AwaitedMADs += n
}

// sortREQs sorts requests for a connection by when they were sent first.
func sortREQs(list []cm.Unanswered) {
	slices.SortFunc(list, func(a, b cm.Unanswered) int {
		return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.Tap, b.Tap), cmp.Compare(a.Frame, b.Frame))
	})
}
