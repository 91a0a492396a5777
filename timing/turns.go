package timing

import "time"

// LongTurn is from how long on a turn is long.
const LongTurn = 10 * time.Millisecond

// Turns is how soon an end began a message after the newest one of its peer had come, where its own one before was older than that: programs that answer each other with SENDs and WRITEs
// take turns. An ACK does not show that, as the adapter sends it, whatever its program does.
type Turns struct {
	Count, Long uint64        // Long: of them, those of LongTurn or longer
	Usual, Slow time.Duration // the others in all, and the long ones
	Most        time.Duration
	Frame       uint64 // that ended the longest
	At          int64  // when that was, nanoseconds since the Unix epoch
	Longest     Longest
	// From when the first of the long ones went on, and until when the last did, nanoseconds since the Unix epoch.
	From, To int64
}

func (t *Turns) add(d time.Duration, at int64, frame uint64) {
	t.Count++
	if d >= LongTurn {
		if t.Long == 0 {
			t.From = at - int64(d)
		}
		t.To = at
		t.Long++
		t.Slow += d
	} else {
		t.Usual += d
	}
	t.Longest.add(Took{d, frame, at})
	if d > t.Most {
		t.Most, t.Frame, t.At = d, frame, at
	}
}

func (t *Turns) merge(o *Turns) {
	switch {
	case t.Long == 0:
		t.From, t.To = o.From, o.To
	case o.Long > 0:
		t.From, t.To = min(t.From, o.From), max(t.To, o.To)
	}
	t.Count, t.Long, t.Usual, t.Slow = t.Count+o.Count, t.Long+o.Long, t.Usual+o.Usual, t.Slow+o.Slow
	t.Longest.merge(&o.Longest)
	if o.Most > t.Most {
		t.Most, t.Frame, t.At = o.Most, o.Frame, o.At
	}
}

// Mean is how long a turn took that was not long.
func (t *Turns) Mean() time.Duration {
	if t.Count == t.Long {
		return 0
	}
	return t.Usual / time.Duration(t.Count-t.Long)
}

// MeanOfAll is how long a turn took.
func (t *Turns) MeanOfAll() time.Duration {
	if t.Count == 0 {
		return 0
	}
	return (t.Usual + t.Slow) / time.Duration(t.Count)
}

// turn is whose message came last, and when its last packet did, in which frame.
type turn struct {
	from  int
	at    int64 // 0: not known
	frame uint64
}

// Newest returns which end sent the newest message, but for READs and atomics, when its last packet came, nanoseconds since the Unix epoch, and in which frame; at 0: none was seen.
func (c *Connection) Newest() (from int, at int64, frame uint64) {
	return c.newest.from, c.newest.at, c.newest.frame
}
