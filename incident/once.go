package incident

import "slices"

// onceEach has no incident say twice what fits, or what to look at.
func onceEach(list []Incident) {
	for n := range list {
		i := &list[n]
		i.FitsWith, i.Next = once(i.FitsWith), once(i.Next)
	}
}

// once is a list without what is in it before.
func once(list []string) []string {
	for n := 0; n < len(list); n++ {
		if slices.Contains(list[:n], list[n]) {
			list = slices.Delete(slices.Clone(list), n, n+1)
			n--
		}
	}
	return list
}
