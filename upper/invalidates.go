package upper

// mostForeign is how many answers are kept that invalidate an R_Key which another command had named: the newest.
const mostForeign = 8

// foreign is an answer that invalidates an R_Key which another command than that it answers had named.
type foreign struct {
	by    Command // which it answers
	rkey  uint32
	frame uint64 // of the answer
	at    int64  // when that came, nanoseconds since the Unix epoch
	tap   uint16
}

// invalidates notes which command the message at hand answers, where that invalidates the R_Key that another one had named last. As a rule it is its own,
// which is among the newest that were named.
func (t *Tracker) invalidates(c *Command) {
	m, n := t.message, len(t.places)
	for k := n; k > 0; k-- {
		p := &t.places[(t.oldest+k-1)%n]
		if p.rkey != m.InvRKey {
			continue
		}
		if p.of>>placeBits != c.order {
			if len(t.foreign) == mostForeign {
				copy(t.foreign, t.foreign[1:])
				t.foreign = t.foreign[:mostForeign-1]
			}
			t.foreign = append(t.foreign, foreign{*c, m.InvRKey, m.Frame, m.Time, m.Tap})
		}
		return
	}
}

// ForeignInvalidated returns in which frame of a tap, before another one, the newest answer came that invalidates an R_Key which another command than that
// it answers had named, and when; 0: none that is known did.
func (t *Tracker) ForeignInvalidated(tap uint16, before uint64, rkey uint32) (frame uint64, at int64) {
	for k := range t.foreign {
		if f := &t.foreign[k]; f.tap == tap && f.frame < before && f.rkey == rkey {
			frame, at = f.frame, f.at
		}
	}
	return frame, at
}

// InvalidatedBy returns the command that was answered with the SEND with Invalidate of a frame, which names an R_Key; nil: it is not known.
func (t *Tracker) InvalidatedBy(tap uint16, frame uint64, rkey uint32) *Command {
	for k := range t.foreign {
		if f := &t.foreign[k]; f.tap == tap && f.frame == frame && f.rkey == rkey {
			return &f.by
		}
	}
	s := &t.times
	for n := min(s.Count, mostRecent-uint64(s.undone)); n > 0; n-- {
		if a := &s.recent[(s.Count-n)%mostRecent]; a.tap == tap && a.frame == frame {
			return t.ordered(a.order)
		}
	}
	return nil
}
