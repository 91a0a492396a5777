package incident

// underHoles has incidents in which larger packets vanish on the way from one host to another tell of what was lost on that way: of the same connections no other fault is known.
func underHoles(list []Incident) []Incident {
	merged := map[*Incident]bool{}
	for n := range list {
		i := &list[n]
		if i.hole.most == 0 || merged[i] {
			continue
		}
		for m := range list {
			o := &list[m]
			if o == i || merged[o] || o.hole.most != 0 || !o.losses() || o.sum == nil || !o.sum.on(i.hole.way) {
				continue
			}
			merged[o] = true
			i.lostInHole(o)
		}
	}
	return without(list, merged)
}

// on reports whether nearly all of a sum was lost on one way.
func (s *lossSum) on(w way) bool {
	if s.both || 8*s.against > s.before+s.after || len(s.others) != 1 {
		return false
	}
	from, to := s.host, s.others[0]
	if s.to {
		from, to = to, from
	}
	return w == way{from, to}
}

// lostInHole takes over what another incident tells of the cost of packets that vanish.
func (i *Incident) lostInHole(o *Incident) {
	for _, f := range o.Facts {
		if f.Label == "cost" || f.Label == "stalls" {
			i.fact(f.Label, f.Text)
		}
	}
	i.foundToo(o.Found)
	if o.Tap == i.Tap {
		i.show(o.Frames...)
	}
	i.Begin, i.End, i.Ongoing, i.Lost = min(i.Begin, o.Begin), max(i.End, o.End), i.Ongoing || o.Ongoing, max(i.Lost, o.Lost)
	i.Connections = max(i.Connections, o.Connections)
}
