package upper

// mostMoves is how many of the WRITEs and READs with which the peer moves the data of commands are kept: the newest.
const mostMoves = 16

// Moved is when the peer first moved data of a command: with a WRITE of it, or a READ request for it.
type Moved struct {
	At     int64  // nanoseconds since the Unix epoch; 0: that is not known
	Frame  uint64 // in which it did
	Read   bool   // with a READ request
	Served int64  // when it answered another command last before that; 0: that is not known
}

// move is a WRITE or READ.
type move struct {
	addr  uint64
	at    int64
	frame uint64
	rkey  uint32
	read  bool
}

// moves notes that the peer moves data.
func (t *Tracker) moves(x move) {
	t.moved[t.moveCount%mostMoves] = x
	t.moveCount++
}

// movedOf returns when the peer first moved data of a command that the message at hand answers: as far as it is kept when it READ that first, or
// all that it moved since, else where it moved the beginning of the data.
func (t *Tracker) movedOf(c *Command) (m Moved) {
	all := t.moveCount <= mostMoves || t.moved[t.moveCount%mostMoves].at < c.Since
	for i := range t.moved {
		x := &t.moved[i]
		if x.at < c.Since || x.frame == 0 || m.At != 0 && x.at >= m.At {
			continue
		}
		if of, begins := t.isOf(c, x); of && (all || begins) {
			m = Moved{At: x.at, Frame: x.frame, Read: x.read}
		}
	}
	if x, known := t.flow.firstOf(c); known {
		m = Moved{At: x.at, Frame: x.frame, Read: true}
	}
	for k := range t.times.recent {
		if at := t.times.recent[k].at; at > c.Since && at < m.At {
			m.Served = max(m.Served, at)
		}
	}
	return m
}

// isOf reports whether the peer used memory that a command has named, and no later one that is known, and whether that begins what it has named.
func (t *Tracker) isOf(c *Command, x *move) (is, begins bool) {
	seen := false
	for i := range t.places {
		p := &t.places[(t.oldest+i)%len(t.places)]
		own := p.of>>placeBits == c.order
		first := own && !seen
		seen = seen || own
		if p.rkey != x.rkey || x.addr < p.addr || x.addr-p.addr >= uint64(p.length) {
			continue
		}
		if own {
			is, begins = true, begins || first && x.addr == p.addr
		} else if k := t.ordered(p.of >> placeBits); k != nil && k.order > c.order {
			return false, false
		}
	}
	return is, begins
}
