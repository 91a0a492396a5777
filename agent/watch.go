package agent

import (
	"iter"
	"slices"
	"time"

	"ibwitness/agent/internal/connection"
	"ibwitness/fabricagent"
	"ibwitness/internal/cache"
	"ibwitness/link"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/subnet"
	"ibwitness/verifier"
	"ibwitness/verifier/cm"
)

// Watch has a run go on for weeks: findings are reported while it goes on and are not kept, and what is over is forgotten.
type Watch struct {
	Found func([]rule.Finding) // takes findings in the order of their frames, from the goroutine that called Run
	// More, where not nil, takes how many findings there were, at each tick, beyond those that Found takes: of very many that are alike.
	More func([]rule.More)
	// Made, where not nil, takes findings when they are made, after the packets of some batches: they may change yet, or be taken back. It is called from
	// several goroutines, whatever Found and Status do meanwhile.
	Made   func([]rule.Finding)
	Status func(*Status) // where not nil, takes the counters at each tick
	// Survey, where not nil, may look at the connections that are followed, at each tick: by ids that stay theirs, and each only until the next.
	Survey func(now int64, each iter.Seq2[uint64, *Connection])
	Every  time.Duration // between ticks; 0: one second
	Settle time.Duration // how old a finding must be to be reported, as later packets may explain it; 0: two seconds
	Idle   time.Duration // after which a connection is forgotten; 0: five minutes
	Most   int           // connections of each shard that are followed; the longest idle ones beyond them are forgotten; 0: 200,000
}

// Status is what a run counts while it goes on. Counters never fall, but those of Cover where a finding was taken back.
type Status struct {
	Now                                int64  // time up to which everything was judged
	Packets, RDMA, Repeated, Undecoded uint64 // as in Result
	Unjudged                           uint64 // as in Result
	Open                               Open   // as in Result, of the connections that were forgotten
	Dropped                            uint64
	Connections                        int    // followed now
	Forgotten                          uint64 // connections that were idle for long
	Evicted                            uint64 // that were forgotten since there were too many, or memory was short
	Relearned                          uint64 // that were forgotten since the capture had missed packets
	Cover                              [rule.NumRules]rule.Count
	Traffic                            Traffic
	Latencies                          verifier.Latencies
	Paused                             []link.Paused   // as in Result, so far
	REQs                               []cm.Unanswered // as in Result, by now
	SIDRs                              []cm.Resolved   // as in Result, by now
	// MADs returns the management requests that nothing has answered by now, as in Result. It takes a while, and may be called until the next packet.
	MADs func() []subnet.Unanswered
}

// Traffic counts RDMA packets by opcode: how many, and their bytes on the wire.
type Traffic struct{ Packets, Bytes [256]uint64 }

// take adds what o has counted, and clears that.
func (t *Traffic) take(o *Traffic) {
	for i, n := range o.Packets {
		t.Packets[i] += n
		t.Bytes[i] += o.Bytes[i]
	}
	*o = Traffic{}
}

// Clock is a source that knows how late it is although no frame comes.
type Clock interface {
	// Now returns the time up to which all frames were delivered, in nanoseconds since the Unix epoch.
	Now() int64
}

// watch tells what was found, now and then, and forgets.
type watch struct {
	Watch
	e             *engine
	clock         Clock
	ticked        int64 // when
	swept         int64
	silentChecked int64  // when it was last looked for ends that have fallen silent
	lost          uint64 // frames that the capture had dropped, as far as it has said
	doubt         bool   // something was missed since the last sweep
	Status
}

// sweeps is how many times connections are looked at in the time that they may be idle.
const sweeps = 4

// silentEvery is how often it is looked for ends that have fallen silent, in nanoseconds.
const silentEvery = int64(5 * time.Second)

// healing is how long it takes, at least, from one loss to the next that connections are learned again.
const healing = 5 * time.Second

func newWatch(e *engine, o *Watch) *watch {
	w := &watch{Watch: *o, e: e}
	w.clock, _ = e.src.(Clock)
	for _, d := range []struct {
		v    *time.Duration
		none time.Duration
	}{{&w.Every, time.Second}, {&w.Settle, 2 * time.Second}, {&w.Idle, 5 * time.Minute}} {
		if *d.v <= 0 {
			*d.v = d.none
		}
	}
	if w.Most <= 0 {
		w.Most = 200_000
	}
	return w
}

// missed reports whether the capture has lost frames since it was asked last.
func (w *watch) missed(taps []fabricagent.Tap) bool {
	n := uint64(0)
	for i := range taps {
		n += taps[i].Dropped
	}
	more := n > w.lost
	w.lost, w.doubt = n, w.doubt || more
	return more
}

func (w *watch) now() int64 {
	if w.clock != nil {
		return w.clock.Now()
	}
	return w.e.clocks.last
}

// due reports whether it is time for the next tick.
func (w *watch) due() bool {
	return w != nil && w.now()-w.ticked >= int64(w.Every)
}

// tick tells what is settled. No packet is being verified meanwhile.
func (w *watch) tick() {
	now := w.now()
	if w.ticked == 0 {
		w.swept = now
	}
	w.ticked = now
	alive := uint32(0)
	for _, s := range w.e.shards {
		s.t.talks.Pass(now - settled)
		alive = max(alive, s.t.table.Size().Connections, uint32(s.t.table.Size().Hosts)) // of hosts that talk without a connection none is kept either
	}
	w.e.advance(now - int64(w.Settle))
	if now-w.silentChecked >= silentEvery {
		w.silentChecked = now
		for _, s := range w.e.shards {
			s.t.rc.Stopped = w.e.clocks.stopped
			s.t.silent(now)
		}
	}
	since, short := now-w.swept, w.e.opt.Short != nil && w.e.opt.Short()
	if short || since >= int64(w.Idle)/sweeps || int(alive) > w.Most || w.doubt && since >= int64(healing) {
		w.sweep(now, short)
	}
	w.report(now - int64(w.Settle))
}

// sweep forgets connections.
func (w *watch) sweep(now int64, short bool) {
	w.swept = now
	agents := make([]*Transport, len(w.e.shards))
	for i, s := range w.e.shards {
		agents[i] = s.t
		s.t.table.Mark(now, now-int64(w.Idle), w.Most, w.doubt, short)
		s.t.conclude(now)
	}
	Reconcile(agents...)
	for _, t := range agents {
		for c, active := range t.table.Left() {
			switch {
			case active <= now-int64(w.Idle):
				w.Forgotten++
			case w.doubt && c.Lossy:
				w.Relearned++
			default:
				w.Evicted++
			}
		}
		t.forget()
	}
	w.doubt = false
}

// report hands out the findings of before a time, and the counters.
func (w *watch) report(before int64) {
	s := &w.Status
	s.Now, s.Packets, s.RDMA, s.Undecoded, s.Dropped = w.ticked, w.e.sums.packets, w.e.sums.rdma, w.e.sums.short, w.lost
	s.Unjudged, s.Open = 0, Open{}
	s.Repeated, s.Connections, s.Cover, s.Latencies = 0, 0, [rule.NumRules]rule.Count{}, verifier.Latencies{}
	s.Paused = w.e.shards[0].t.paused.List(s.Now)
	s.MADs = func() (all []subnet.Unanswered) {
		for _, sh := range w.e.shards {
			all = append(all, sh.t.unmanaged(s.Now)...)
		}
		sortMADs(all)
		return all
	}
	r := Result{Taps: w.e.src.Taps()}
	for _, sh := range w.e.shards {
		t := sh.t
		t.name()
		t.nodes()
		t.unsealed()
		t.steady(before)
		t.cover()
		r.Findings = append(r.Findings, t.Rec.Take(before)...)
		r.Findings = append(r.Findings, t.takeLinks(before)...)
		w.e.more(t)
		s.Latencies.Add(t.rc.Latencies)
		s.Repeated += t.repeated
		s.Undecoded += t.short
		s.Unjudged += t.unjudged
		s.Open.Add(&t.opened)
		s.REQs = append(s.REQs, t.talks.Unanswered()...)
		s.SIDRs = append(s.SIDRs, t.talks.Resolved()...)
		for range t.table.All() {
			s.Connections++
		}
		for i, c := range t.Rec.Cover {
			s.Cover[i].Exercised += c.Exercised
			s.Cover[i].Violated += c.Violated
			s.Cover[i].Unproven += c.Unproven
		}
	}
	if c := w.e.completions; c != nil {
		w.e.alike(c.rec.More())
		for i, n := range c.rec.Cover {
			s.Cover[i].Exercised += n.Exercised
			s.Cover[i].Violated += n.Violated
			s.Cover[i].Unproven += n.Unproven
		}
		r.Findings = append(r.Findings, w.e.takeEvents(before)...)
	}
	sortREQs(s.REQs)
	if len(r.Findings) > 0 {
		r.sort(false)
		w.Found(r.Findings)
	}
	if w.Watch.Status != nil {
		w.Watch.Status(s)
	}
	if w.Watch.Survey != nil {
		w.Watch.Survey(s.Now, w.e.surveyed())
	}
}

// end tells the rest.
func (w *watch) end(r *Result) {
	if len(r.Findings) > 0 {
		w.Found(r.Findings)
	}
	r.Findings = nil
	w.ticked = w.now()
	w.report(0)
}

// steady proves what the packets after it show of an odd one, where it is reported now.
func (t *Transport) steady(before int64) {
	if slices.ContainsFunc(t.Rec.Findings, func(f rule.Finding) bool {
		return f.Class == rule.Unproven && f.Time < before && slices.Contains(rule.SteadyRules, f.Rule)
	}) {
		for c := range t.table.All() {
			if c.Ends[0].IsOdd() || c.Ends[1].IsOdd() {
				t.header.Steady(&c.Pair)
			}
		}
	}
}

// unsealed doubts what was found of the checksums of a direction of which none was ever right: they may not be filled in yet at the tap.
func (t *Transport) unsealed() {
	for i := range t.Rec.Findings {
		f := &t.Rec.Findings[i]
		for k := range checksums {
			if f.Class == rule.Violation && slices.Contains(checksums[k].rules, f.Rule) && !t.everSealed(&checksums[k], f.Accused.Addr, f.Peer.Addr) {
				t.Rec.Doubt(i, checksums[k].why)
			}
		}
	}
}

// everSealed reports whether a checksum was right in any packet from one address to another.
func (t *Transport) everSealed(k *checksum, from, to packet.Addr) bool {
	h, dir := t.table.HostPair(from, to)
	return h != nil && k.seals(h)[dir].Good > 0
}

// surveyed lists the connections that are followed, by ids that stay theirs. It is for a moment in which no packet is verified, and what it
// yields is valid until the next only.
func (e *engine) surveyed() iter.Seq2[uint64, *Connection] {
	return func(yield func(uint64, *Connection) bool) {
		var k Connection
		var lines cache.Lines
		for at, s := range e.shards {
			list := s.t.table.List()
			for i, c := range list {
				connection.FetchShown(len(list), i, func(i int) *connection.Connection { return list[i] }, &lines)
				if c.Dead() || c.Ends[0].Packets()+c.Ends[1].Packets() == 0 && c.PairedBy != connection.ByCM {
					continue
				}
				serial := s.t.table.Serial(i)
				show(c, &k)
				s.t.open(c, &k)
				k.Upper = s.t.upper(c)
				if !yield(serial*MaxWorkers+uint64(at), &k) {
					return
				}
			}
		}
	}
}
