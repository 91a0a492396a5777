package upper

import (
	"cmp"
	"slices"
)

// keyBits is how many of the last bits of an R_Key its owner chooses each time that it registers a region; those before are the index of that.
const keyBits = 8

// Renewed returns the newest memory that a command of an end has named with another R_Key of the same region, after all that was named with
// rkey, and that R_Key; 0: none is known, or several are, or it was named before, too, so that they may be of several regions. held says that a
// command which is over had named address addr with rkey.
func (t *Tracker) Renewed(from int, addr uint64, rkey uint32) (n Named, key uint32, held bool) {
	from ^= t.turned
	before, several := []uint32(nil), false
	for k := range t.places {
		p := &t.places[(t.oldest+k)%len(t.places)] // the newest last
		if p.rkey>>keyBits != rkey>>keyBits {
			continue
		}
		c := t.ordered(p.of >> placeBits)
		if p.rkey == rkey {
			if key != 0 {
				before = append(before, key)
			}
			n, key, several = Named{}, 0, false
			held = addr >= p.addr && addr-p.addr < uint64(p.length) && (c == nil || c.state == ended)
			continue
		}
		several = several || key != 0 && key != p.rkey || c == nil || int(c.From) != from || slices.Contains(before, p.rkey)
		n, key = Named{p.addr, p.length, 1, c}, p.rkey
	}
	if several {
		return Named{}, 0, false
	}
	return n, key, held
}

// Waiting returns the commands that have not ended, but for those that wait for something to happen, the first first: up to most of them.
func (t *Tracker) Waiting(most int) (list []*Command) {
	for i := range t.commands {
		if c := &t.commands[i]; c.state == open && !c.Waits {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b *Command) int { return cmp.Compare(a.order, b.order) })
	return list[:min(len(list), most)]
}
