package timing

const (
	slowedTimes = 1.6  // times as long as before do answers take at least
	slowedLoad  = 1.25 // times as many requests wait at a time at most
	slowedNear  = 1    // parts from which on a client that begins or ends there may have caused it
)

// Slowed finds from which part on answers to each client of a server took longer, where none began or ended then and no more requests waited.
// took is how long all those took in all, by client and by part.
func (r Rates) Slowed(took Rates) (s Shared, ok bool) {
	if len(r) < 2 {
		return s, false
	}
	most := 0.0
	for at := sharedParts; at+sharedParts < len(r[0]); at++ {
		if k, times := r.slowedAt(took, at); times > most {
			s, most = k, times
		}
	}
	return s, most > 0
}

// slowedAt is how many times as long answers took from a part on, to the client for which that is least; 0: it was not so.
func (r Rates) slowedAt(took Rates, at int) (s Shared, least float64) {
	s = Shared{At: at, To: len(r[0])}
	for c := range r {
		begins, ends := r.began(c), r.ended(c)-1
		if begins > slowedNear && near(begins, at) || ends < len(r[c])-1-slowedNear && near(ends, at) {
			return s, 0
		}
		s.bound(begins, ends)
	}
	if at-s.From < sharedParts || s.To-at-1 < sharedParts {
		return s, 0
	}
	for c := range r {
		if r.began(c) > at || r.ended(c) <= at {
			continue // it is not there
		}
		before, after := r.Around(&s, c)
		wait, then := took.Around(&s, c)
		if before == 0 || after == 0 || then > slowedLoad*wait {
			return s, 0
		}
		wait, then = wait/before, then/after
		if then < slowedTimes*wait || !r.slower(took, &s, c, (wait+then)/2) {
			return s, 0
		}
		if times := then / wait; least == 0 || times < least {
			least = times
		}
		s.Changed = append(s.Changed, c)
	}
	if len(s.Changed) < 2 {
		return s, 0
	}
	return s, least
}

func near(a, b int) bool { return a-b <= slowedNear && b-a <= slowedNear }

// slower reports whether answers to a client took less than a time in the parts before, and more in those after.
func (r Rates) slower(took Rates, s *Shared, client int, middle float64) bool {
	var parts, stray [2]int
	for k := s.From; k < s.To; k++ {
		if n := r[client][k]; k != s.At && n > 0 {
			side := 0
			if k > s.At {
				side = 1
			}
			if parts[side]++; took[client][k] > n*middle != (k > s.At) {
				stray[side]++
			}
		}
	}
	return parts[0] >= sharedParts && parts[1] >= sharedParts && stray[0]*sharedStray <= parts[0] && stray[1]*sharedStray <= parts[1]
}
