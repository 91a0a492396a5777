package incident

import (
	"iter"
	"slices"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/subnet"
	"ibwitness/verifier/cm"
)

// State is what has become of an incident while a run goes on.
type State uint8

// The states.
const (
	Began State = iota
	Changed
	Ended
)

func (s State) String() string { return [...]string{"began", "changed", "ended"}[s] }

// MarshalText has a state be its name in JSON.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Live follows the incidents of a run that goes on. Its zero value is ready. It is not safe for concurrent use.
type Live struct {
	known  map[group]*followed
	looked int64
	newest uint64 // number
	net    network
	pauses pauses
	reqs   []cm.Unanswered
	sidrs  []cm.Resolved
	mads   func() []subnet.Unanswered
	lost   uint64 // packets that the capture has lost
	drops  drops
}

// drops is when the capture lost packets.
type drops struct {
	since, last int64  // no quiet time lies between them; 0: it has lost none
	before      uint64 // that it had lost before
}

// take takes over how many packets the capture has lost until now, where it had lost fewer before.
func (d *drops) take(now int64, before uint64) {
	if d.last == 0 || now-d.last > quiet {
		d.since, d.before = now, before
	}
	d.last = now
}

// followed is an incident that has not ended, as it was told last.
type followed struct {
	number uint64
	told   Incident
	seen   bool
}

// Told is an incident, and what is told of it.
type Told struct {
	Number uint64 // of the incident, from 1 on
	State  State
	Incident
}

const (
	every        = int64(5 * time.Second)  // between two looks
	quiet        = int64(10 * time.Second) // after which an incident that is not going on has ended
	managedFor   = int64(time.Minute)      // for which a management request is followed that nothing answers: whoever sent it has given up then
	mostFollowed = 1024
)

// Due reports whether it is time to look at the connections.
func (l *Live) Due(now int64) bool { return now-l.looked >= every }

// Look looks at the connections of a run at time now, and returns what began, changed or ended since.
func (l *Live) Look(now int64, each iter.Seq2[uint64, *agent.Connection]) []Told {
	l.looked = now
	r := &agent.Result{Last: now, Dropped: l.lost}
	t := newTeller(r)
	for _, c := range each {
		t.host(c)
		if c.Ends[0].Trouble != nil || c.Ends[1].Trouble != nil || c.Upper != nil && (c.Upper.Oldest != nil || c.Upper.Slow > 0) || (c.Closed.At == 0 || now-c.Closed.At < quiet) && (waits(&c.Ends[0], now) || waits(&c.Ends[1], now) || leftOff(c, now)) {
			r.Connections = append(r.Connections, *c)
		}
	}
	l.net.forget(now - quiet)
	r.Paused, r.REQs, r.SIDRs = l.pauses.since, l.reqs, l.sidrs
	if l.mads != nil {
		r.MADs = slices.DeleteFunc(l.mads(), func(u subnet.Unanswered) bool { return now-u.Last > managedFor })
	}
	t.sight(each)
	t.network(&l.net)
	t.connections()
	t.ignored()
	t.managed()
	t.paused()
	t.drops(&l.drops)
	return l.compare(now, t)
}

// drops tells that the capture loses packets.
func (t *teller) drops(d *drops) {
	now := t.run.Last
	if d.last == 0 || now-d.last > quiet {
		return
	}
	i := &Incident{Kind: Untrusted, Certainty: Proven, Begin: d.since, End: d.last, Ongoing: now-d.last < quiet}
	i.What, i.Next = lostPackets(t.run.Dropped - d.before)
	t.tell(i, "drops")
}

// compare compares what is with what was told.
func (l *Live) compare(now int64, t *teller) (out []Told) {
	if l.known == nil {
		l.known = map[group]*followed{}
	}
	for _, f := range l.known {
		f.seen = false
	}
	for k, g := range t.keys {
		i := t.order[k]
		if !i.Ongoing && now-i.End > quiet {
			continue
		}
		f := l.known[g]
		switch {
		case f == nil && len(l.known) >= mostFollowed: // it is told when others have ended
		case f == nil:
			l.newest++
			l.known[g] = &followed{l.newest, *i, true}
			out = append(out, Told{l.newest, Began, *i})
		case i.Lost >= 2*f.told.Lost && i.Lost > f.told.Lost+time.Second || i.Connections > f.told.Connections && i.Connections >= 2*f.told.Connections:
			f.told, f.seen = *i, true
			out = append(out, Told{f.number, Changed, *i})
		default:
			f.seen = true
			f.told.End, f.told.Lost, f.told.Frames, f.told.Facts, f.told.What = i.End, i.Lost, i.Frames, i.Facts, i.What
		}
	}
	for g, f := range l.known {
		if !f.seen {
			f.told.Ongoing = false
			out = append(out, Told{f.number, Ended, f.told})
			delete(l.known, g)
		}
	}
	slices.SortStableFunc(out, func(a, b Told) int { return order(&a.Incident, &b.Incident) })
	return out
}

// Status takes what a run that goes on tells of pause frames and of requests for a connection.
func (l *Live) Status(s *agent.Status) {
	l.pauses.take(s.Now, s.Paused)
	// Whether packets show that an RTU was needless is known of connections only that had trouble: of a run that goes on, only REQs are told of.
	l.reqs = slices.DeleteFunc(slices.Clone(s.REQs), func(q cm.Unanswered) bool { return q.Waits != cm.ForREP })
	l.sidrs = s.SIDRs
	if l.mads = s.MADs; s.Dropped > l.lost {
		l.drops.take(s.Now, l.lost)
	}
	l.lost = s.Dropped
}

// Found returns the incidents that findings tell of by themselves.
func (l *Live) Found(list []rule.Finding) (out []Told) {
	l.net.most = mostFollowed
	for i := range list {
		l.net.add(&list[i])
		var told *Incident
		switch f := &list[i]; {
		case f.Rule == rule.EvReject && f.Class == rule.Event:
			r, _ := cm.ParseRefusal(f.Detail)
			told = rejection(f, &r)
		case completionMissing(f):
			told = missed(f)
		default:
			continue
		}
		l.newest++
		out = append(out, Told{l.newest, Ended, *told})
	}
	return out
}

func newTeller(r *agent.Result) *teller {
	return &teller{run: r, hosts: map[packet.Addr]host{}, seen: map[packet.Addr]*sightings{}, groups: map[group]*Incident{}, damaged: map[way]bool{}, cut: map[way]bool{}, marked: map[way]bool{}}
}
