package upper

// AnsweredIn is the frame in which a command was answered that was answered last, or with an answer that was not delivered; 0: another one was.
func (t *Tracker) AnsweredIn(c *Command) uint64 {
	if c.state == open {
		return t.undelivered(c)
	}
	if c.state != ended || c.ID != t.borne {
		return 0
	}
	for i := range t.commands {
		if k := &t.commands[i]; k.state == ended && k.ID == c.ID && k.From == c.From && k.order > c.order {
			return 0 // that one was
		}
	}
	return t.times.Answer
}

// Named is memory that a command has named.
type Named struct {
	Addr   uint64
	Length uint32 // bytes
	Parts  int    // in how many the command has named memory
	Of     *Command
}

// Named returns the memory that a command of an end has named with an R_Key, of several the newest that has an address, or else the only one. false: none is known, or what comes after it was
// named, too.
func (t *Tracker) Named(from int, addr uint64, rkey uint32) (n Named, known bool) {
	from ^= t.turned
	has, others := false, 0
	for k := range t.places {
		p := &t.places[(t.oldest+k)%len(t.places)] // the newest last
		if p.rkey != rkey {
			continue
		}
		c := t.ordered(p.of >> placeBits)
		if c == nil || int(c.From) != from {
			continue
		}
		holds := addr >= p.addr && addr-p.addr < uint64(p.length)
		if others++; holds || !has {
			has = has || holds
			n = Named{p.addr, p.length, 0, c}
		}
	}
	if !has && others != 1 {
		return Named{}, false
	}
	for k := range t.places {
		p, end := &t.places[k], n.Addr+uint64(n.Length)
		if p.of>>placeBits == n.Of.order {
			n.Parts++
		}
		if p.rkey == rkey && p.addr <= end && end-p.addr < uint64(p.length) {
			return Named{}, false // it goes on there
		}
	}
	return n, true
}
