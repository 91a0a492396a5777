package upper

const (
	// heldFor is for how long an end has sent no message, at least, that then sends answers which it held back, nanoseconds.
	heldFor = int64(10e6)
	// atOnce is within which time after a message of the peer, or after each other, these leave, nanoseconds.
	atOnce = int64(100e3)
	// reserved is how many credits are kept for a message that grants some itself (MS-SMBD 3.1.5.1).
	reserved = 1
	// severalHeld is from how many answers on a burst is no chance, of an end that may have had credits.
	severalHeld = 2
)

// Release is a time in which an end sent no message though it owed answers, until these left in one burst, right after a message of its peer.
type Release struct {
	Last  Grant // its last message before
	Freed Grant // the message of its peer, and how many credits that granted; 0: none, or that is not known
	First int64 // when the first answer left, nanoseconds since the Unix epoch
	Held  int   // answers that did, to commands that had begun before Freed
	Since int64 // since when the peer had granted nothing, or later, since Last, where that is known
}

// Lasted is for how long the end sent nothing, nanoseconds.
func (r *Release) Lasted() int64 { return r.Freed.Time - r.Last.Time }

// Releases are those of an end that had no credit to send an answer with, or those of which that is not known: of these, only such of several answers.
type Releases struct {
	Count    int
	Held     int   // answers
	Slow     int   // of them, those to commands that took SlowAfter or longer
	Shortest int64 // for how long the end sent nothing, nanoseconds: the shortest
	First    Release
	Newest   Release
	Longest  Release
}

// Freed is the frame of the message of its peer right after which an end sent an answer that it had held; 0: it did not. Dry says that until then it
// had no credit to send it with.
type Freed struct {
	Frame uint64
	Dry   bool
}

// burst is held answers that leave.
type burst struct {
	Release
	newest int64 // when the newest of them left
	slow   int   // of them
	dry    bool
}

// releases follows the messages of both ends.
type releases struct {
	last, before [2]Grant // the newest message of each end, and the one before
	now          [2]burst
	sums         [2][2]Releases // by end, and whether it had no credit
}

// sent notes a message of an end, which has been decoded.
func (r *releases) sent(m *Message) {
	r.before[m.From], r.last[m.From] = r.last[m.From], Grant{Time: m.Time, Frame: m.Frame}
}

// answers takes an answer, the message at hand, to a command, and returns whether it had been held.
func (r *releases) answers(t *Tracker, c *Command) (by Freed) {
	m := t.message
	b := &r.now[m.From]
	if b.Held == 0 || m.Time-b.newest > atOnce {
		r.begins(t, b)
	}
	if b.Freed.Frame == 0 || c.Since >= b.Freed.Time {
		return by
	}
	b.Held++
	b.newest = m.Time
	slow := 0
	if m.Time-c.Since >= SlowAfter {
		slow = 1
	}
	b.slow += slow
	if r.count(m.From, b, slow) {
		by = Freed{b.Freed.Frame, b.dry}
	}
	if !b.dry && b.Held == severalHeld { // the one before was held, too
		for k := range t.times.Longest {
			if d := &t.times.Longest[k]; d.From == c.From && d.Ended >= b.First && d.Since < b.Freed.Time {
				d.Freed = by
			}
		}
	}
	return by
}

// begins begins a burst of the end that has sent the message at hand, where it had sent none for long before its peer sent one just now. Where it may have
// had credits, its peer had sent none for long either: that one of many came just then may be chance.
func (r *releases) begins(t *Tracker, b *burst) {
	m := t.message
	own, freed := r.last[m.From], r.last[1-m.From]
	dry, since := false, int64(0)
	if d, ok := t.decoder.(creditor); ok {
		k, known := d.Credits()
		if g := k.Granted[m.From]; g.Frame != 0 && m.Time-g.Time <= atOnce {
			dry = known && k.Known(m.From) && k.Left[m.From]+1-g.Count <= reserved
			if since = max(k.Before[m.From].Time, own.Time); dry || g.Frame == freed.Frame {
				freed = g
			}
		}
	}
	*b = burst{}
	if own.Frame == 0 || freed.Frame == 0 || m.Time-freed.Time > atOnce || freed.Time-own.Time < heldFor || !dry && freed.Time-r.before[1-m.From].Time < heldFor {
		return
	}
	b.Release, b.dry = Release{Last: own, Freed: freed, First: m.Time, Since: since}, dry
}

// count counts the newest answer of a burst, and those before it where it is the one with which that counts. It reports whether the burst counts.
func (r *releases) count(end int, b *burst, slow int) bool {
	s, least := &r.sums[end][0], severalHeld
	if b.dry {
		s, least = &r.sums[end][1], 1
	}
	switch {
	case b.Held < least:
		return false
	case b.Held == least:
		s.Count++
		s.Held += least
		s.Slow += b.slow
		if s.Count == 1 || b.Lasted() < s.Shortest {
			s.Shortest = b.Lasted()
		}
	default:
		s.Held++
		s.Slow += slow
	}
	if s.Count == 1 {
		s.First = b.Release
	}
	if b.Lasted() >= s.Longest.Lasted() {
		s.Longest = b.Release
	}
	s.Newest = b.Release
	return true
}

// Releases returns those of an end: of which it is known that it had no credit, or the others.
func (t *Tracker) Releases(end int, dry bool) *Releases {
	s := &t.releases.sums[end^t.turned]
	if dry {
		return &s[1]
	}
	return &s[0]
}
