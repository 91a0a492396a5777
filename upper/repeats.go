package upper

// Repeats is how often an end has repeated a command that has not ended, with the ID that it had, as a message of its own: an RPC client does where the reply does not come in time.
type Repeats struct {
	Times uint32
	First int64  // when the first did, nanoseconds since the Unix epoch
	Frame uint64 // and in which frame
}

// repeat returns the open command that the message at hand repeats, which has its ID and calls the same, and notes that it does; false: there is none.
func (t *Tracker) repeat(c *Command) (*Command, bool) {
	m := t.message
	was := t.Find(m.From, c.ID)
	if was == nil || was.Code != c.Code || was.Arg != c.Arg {
		return nil, false
	}
	if r := &was.Again; r.Times == 0 {
		r.First, r.Frame = m.Time, m.Frame
	}
	was.Again.Times++
	return was, true
}

// renamed has what a repeated command names from now on be the data that its peer has to fetch, in place of what it named first. It reports false, and changes nothing, where the peer has asked for some already, or
// that is not known.
func (t *Tracker) renamed(c *Command) bool {
	if t.Unfetched(c) == 0 {
		return false
	}
	for i := range t.places {
		if p := &t.places[i]; p.of>>placeBits == c.order && p.unread() {
			p.of &^= toFetch | lead
			t.unread--
		}
	}
	c.fetch = 0
	return true
}

// repeated reports whether a SEND has been seen before, and remembers it.
func (t *Tracker) repeated(m *Message) bool {
	h := uint64(14695981039346656037) // FNV-1a
	for _, b := range m.Head[:min(len(m.Head), 64)] {
		h = (h ^ uint64(b)) * 1099511628211
	}
	is := h<<24 | uint64(m.PSN)
	at := &t.seen[m.From&1][m.PSN%repeats]
	again := *at == is
	*at = is
	return again
}
