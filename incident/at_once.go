package incident

// stoppedAtOnce says of interruptions that have no host in common, and overlap, that there may be one reason for all.
func stoppedAtOnce(list []Incident) {
	var all []*Incident
	for n := range list {
		if i := &list[n]; i.Kind == Interrupted && i.gone == goneFor {
			all = append(all, i)
		}
	}
	for len(all) > 0 {
		n := begunTogether(all, true)
		if some := all[:n]; n > 1 && overlap(some) {
			for _, i := range some {
				i.FitsWith = append([]string{"a switch, link or route that all of this takes: what other hosts sent to others was not answered at the same time either, see there"}, i.FitsWith...)
			}
		}
		all = all[n:]
	}
}
