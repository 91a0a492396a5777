package upper

// Keyed returns the memory that the one open command of an end which has named an address named there with another R_Key than rkey, and that
// R_Key; key 0: none has, several have, or one named the address with rkey. over is a command that is over and had named the address with rkey; nil:
// none is known.
func (t *Tracker) Keyed(from int, addr uint64, rkey uint32) (n Named, key uint32, over *Command) {
	from ^= t.turned
	several := false
	for k := range t.places {
		p := &t.places[(t.oldest+k)%len(t.places)] // the newest last
		c := t.ordered(p.of >> placeBits)
		if addr < p.addr || addr-p.addr >= uint64(p.length) || c == nil || int(c.From) != from {
			continue
		}
		switch {
		case c.state == ended && p.rkey == rkey:
			over = c
		case c.state != open:
		case p.rkey == rkey:
			return Named{}, 0, nil
		default:
			several = several || key != 0 && (n.Of != c || key != p.rkey)
			n, key = Named{p.addr, p.length, 1, c}, p.rkey
		}
	}
	if several {
		return Named{}, 0, nil
	}
	return n, key, over
}
