package timing

import "slices"

// Rates is what clients of a server get over time, in parts of equal length: by client, and by part.
type Rates [][]float64

// Shared is that some clients of a server got less once others began, or more once others had ended, and the server gave as much in all.
type Shared struct {
	At      int   // the part in which that was
	From    int   // parts that are compared begin there
	To      int   // and end before that one
	Ended   bool  // others ended; else they began
	Others  []int // that began or ended
	Changed []int
}

const (
	sharedParts  = 4    // before, and after, at least
	sharedTimes  = 1.6  // times as much, or less
	sharedAlike  = 1.15 // times the rate of before or after is about as much
	sharedPart   = 10   // of all, one part in so many that others get at least
	sharedStray  = 8    // one part of the time in so many may be of the other kind
	sharedRemain = 20   // of what a client had, one part in so many that it still gets
)

// began is the first part in which a client got something.
func (r Rates) began(client int) int {
	for k, x := range r[client] {
		if x > 0 {
			return k
		}
	}
	return len(r[client])
}

// ended is the part after the last in which a client got something.
func (r Rates) ended(client int) int {
	for k := len(r[client]) - 1; k >= 0; k-- {
		if r[client][k] > 0 {
			return k + 1
		}
	}
	return 0
}

// Shared finds the first time at which that was so.
func (r Rates) Shared() (s Shared, ok bool) {
	if len(r) < 2 {
		return s, false
	}
	for at := sharedParts; at+sharedParts < len(r[0]); at++ {
		for _, ended := range []bool{false, true} {
			if s, ok = r.sharedAt(at, ended); ok {
				return s, true
			}
		}
	}
	return s, false
}

// sharedAt reports whether it was so when some began in a part, or ended in it.
func (r Rates) sharedAt(at int, ended bool) (s Shared, ok bool) {
	s = Shared{At: at, Ended: ended, To: len(r[0])}
	for c := range r {
		begins, ends := r.began(c), r.ended(c)-1
		if !ended && begins == at || ended && ends == at {
			s.Others = append(s.Others, c)
			continue
		}
		s.bound(begins, ends)
	}
	if len(s.Others) == 0 || at-s.From < sharedParts || s.To-at-1 < sharedParts {
		return s, false
	}
	before, after, theirs := 0.0, 0.0, 0.0
	for c := range r {
		was, is := r.Around(&s, c)
		before, after = before+was, after+is
		switch {
		case slices.Contains(s.Others, c):
			theirs += max(was, is)
		case was > 0 && is > 0 && r.steps(&s, c, was, is):
			s.Changed = append(s.Changed, c)
		}
	}
	return s, len(s.Changed) > 0 && theirs*sharedPart >= before && max(before, after) <= sharedAlike*min(before, after)
}

// bound has no client that begins or ends elsewhere do so in the parts that are compared.
func (s *Shared) bound(begins, ends int) {
	for _, k := range [...]int{begins, ends} {
		if k < s.At {
			s.From = max(s.From, k+1)
		} else if k > s.At {
			s.To = min(s.To, k)
		}
	}
}

// Around is what a client got in a part before and after that, in the mean.
func (r Rates) Around(s *Shared, client int) (before, after float64) {
	for k := s.From; k < s.To; k++ {
		switch x := r[client][k]; {
		case k < s.At:
			before += x / float64(s.At-s.From)
		case k > s.At:
			after += x / float64(s.To-s.At-1)
		}
	}
	return before, after
}

// steps reports whether what a client got became less or more at once, and remained so.
func (r Rates) steps(s *Shared, client int, before, after float64) bool {
	less, more := after, before
	if s.Ended {
		less, more = before, after
	}
	if less*sharedTimes > more || less*sharedRemain < more {
		return false
	}
	stray := [2]int{}
	for k := s.From; k < s.To; k++ {
		switch above := 2*r[client][k] > less+more; {
		case k < s.At && above == s.Ended:
			stray[0]++
		case k > s.At && above != s.Ended:
			stray[1]++
		}
	}
	return stray[0]*sharedStray <= s.At-s.From && stray[1]*sharedStray <= s.To-s.At-1
}
