package upper

// What a command has its peer do first, where it names memory that has the data: fetch that by RDMA READ. One whose data nobody has asked for has not been begun there, whatever became of it.

// What a place is, in its lowest bits.
const (
	toFetch   = 1 << iota // the peer has to READ it
	lead                  // the first of its command that it has to
	asked                 // it did, at least some of it
	placeBits = iota
)

// unread reports whether memory is to be fetched, and no READ has asked for any of it.
func (p *place) unread() bool { return p.of&(toFetch|asked) == toFetch }

// Fetch adds memory with data of a command, all of which is named so: its peer has to READ it.
func (t *Tracker) Fetch(c *Command, addr uint64, rkey, length uint32) {
	if t.counts.Ended == 0 { // what the peer sends may not come here yet
		t.MemoryOf(c, addr, rkey, length)
		return
	}
	p := place{addr, rkey, length, c.order<<placeBits | toFetch}
	if c.fetch == 0 {
		p.of |= lead
	}
	c.fetch += uint64(length)
	t.memory(p)
}

// Read takes a READ request, by address, R_Key and length, which came at a time in a frame. It is of each command that has named the memory: several may send from one buffer.
func (t *Tracker) Read(addr uint64, rkey, length uint32, at int64, frame uint64) {
	t.moves(move{addr, at, frame, rkey, true})
	t.flow.adds(at, length)
	n, known := len(t.places), false
	for left, k := t.unread, n; k > 0 && (left > 0 || !known); k-- {
		p := &t.places[(t.oldest+k-1)%n] // the newest first, which is what is asked for as a rule
		unread := p.unread()
		if unread {
			left--
		}
		if p.rkey != rkey || addr < p.addr || addr-p.addr >= uint64(p.length) {
			continue
		}
		if known = true; !unread {
			continue
		}
		if p.of |= asked; p.of&lead != 0 {
			t.fetched++
			t.flow.begins(first{p.of >> placeBits, at, frame})
		}
		t.unread--
	}
	if !known {
		t.strange = t.counts.Begun
	}
}

// answered notes whether a command that did what it should was answered before any of its data was asked for: READs do not come to the tap then.
func (t *Tracker) answered(c *Command) {
	n := len(t.places)
	for left, k := t.unread, n; left > 0 && k > 0; k-- {
		p := &t.places[(t.oldest+k-1)%n]
		if !p.unread() {
			continue
		}
		if left--; p.of>>placeBits == c.order {
			t.hidden = t.hidden || t.Unfetched(c) > 0
			return
		}
	}
}

// Fetched is how many commands there were whose peer has fetched data of theirs.
func (t *Tracker) Fetched() uint64 { return t.fetched }

// Unfetched is how many bytes of data of a command its peer has to fetch, none of which it has asked for; 0: there are none, or it is not known.
func (t *Tracker) Unfetched(c *Command) uint64 {
	known := uint64(0)
	if t.hidden || c.order <= t.strange { // it may be what was asked for
		return 0
	}
	for i := range t.places {
		p := &t.places[i]
		if p.of>>placeBits != c.order || p.of&toFetch == 0 {
			continue
		}
		if !p.unread() {
			return 0
		}
		known += uint64(p.length)
	}
	if known != c.fetch { // the rest of it has made room for newer
		return 0
	}
	return known
}

// StatusOnly reports whether the answer to a command is hardly more than a status: its data goes to its peer, or it is one of SMB2 that has no
// other answer.
func (t *Tracker) StatusOnly(c *Command) bool {
	_, smb := t.decoder.(*smbDecoder)
	return c.fetch > 0 || smb && (c.Code == smb2Write || c.Code == smb2Flush)
}

// HasData reports whether the peer has asked for the data of a command, for some of each part of it: it has begun the command.
func (t *Tracker) HasData(c *Command) bool {
	known := uint64(0)
	for i := range t.places {
		p := &t.places[i]
		if p.of>>placeBits != c.order || p.of&toFetch == 0 {
			continue
		}
		if p.unread() || t.namedToo(p) {
			return false
		}
		known += uint64(p.length)
	}
	return known > 0 && known == c.fetch
}

// namedToo reports whether another command that may have been READ at the same time has named memory of a place, too.
func (t *Tracker) namedToo(p *place) bool {
	for i := range t.places {
		q := &t.places[i]
		if q.rkey != p.rkey || q.of&toFetch == 0 || q.of>>placeBits == p.of>>placeBits || q.addr >= p.addr+uint64(p.length) || p.addr >= q.addr+uint64(q.length) {
			continue
		}
		if c := t.ordered(q.of >> placeBits); c != nil && (c.state == open || q.of > p.of) {
			return true
		}
	}
	return false
}

// WaitFetched counts the commands that have not ended, whose data their peer has asked for.
func (t *Tracker) WaitFetched() (n int) {
	for i := range t.commands {
		if c := &t.commands[i]; c.state == open && !c.Waits && t.HasData(c) {
			n++
		}
	}
	return n
}

// WaitUnfetched counts the commands that have not ended, of whose data, which their peer has to fetch, it has asked for none.
func (t *Tracker) WaitUnfetched() (n int) {
	for i := range t.commands {
		if c := &t.commands[i]; c.state == open && !c.Waits && c.fetch > 0 && t.Unfetched(c) > 0 {
			n++
		}
	}
	return n
}
