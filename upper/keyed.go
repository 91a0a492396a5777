package upper

// Use is a request of the peer that uses memory.
type Use struct {
	Addr        uint64
	RKey        uint32
	Invalidates uint32 // the R_Key that the SEND with Invalidate after it names; 0: none does
	Frame       uint64 // that the request is in
	Tap         uint16
}

// Keyed returns the memory that the one command of an end which was open when the peer used it, and has named its address, named there with another
// R_Key, and that R_Key; key 0: none has, several have, or one named the address with that of the request. over is a command that was over and had
// named the address with it; nil: none is known.
func (t *Tracker) Keyed(from int, u Use) (n Named, key uint32, over *Command) {
	from ^= t.turned
	several := false
	for k := range t.places {
		p := &t.places[(t.oldest+k)%len(t.places)] // the newest last
		c := t.ordered(p.of >> placeBits)
		if u.Addr < p.addr || u.Addr-p.addr >= uint64(p.length) || c == nil || int(c.From) != from || c.Tap == u.Tap && c.Frame > u.Frame {
			continue
		}
		switch was := t.wasOpen(c, p.rkey, &u); {
		case !was && p.rkey == u.RKey:
			over = c
		case !was:
		case p.rkey == u.RKey:
			return Named{}, 0, nil
		default:
			several = several || key != 0 && (n.Of != c && n.Of.state == open || key != p.rkey)
			n, key = Named{p.addr, p.length, 1, c}, p.rkey
		}
	}
	if several {
		return Named{}, 0, nil
	}
	return n, key, over
}

// wasOpen reports whether a command, which has named memory with an R_Key, was open when it was used: it is, or was answered after that.
func (t *Tracker) wasOpen(c *Command, rkey uint32, u *Use) bool {
	switch {
	case c.state == open:
		return true
	case c.Tap != u.Tap:
		return false
	}
	return rkey == u.Invalidates && u.Invalidates != 0 || t.AnsweredIn(c) > u.Frame
}
