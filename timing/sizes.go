package timing

import "math/bits"

// Sizes counts messages by their bytes: Counts[0] those without any, Counts[i] those with up to 2^(i-1) and more than a half of that.
type Sizes struct {
	Least, Most uint32
	Counts      [34]uint32
}

// UpTo is the most bytes of a message that Counts[i] counts.
func UpTo(i int) uint64 {
	if i == 0 {
		return 0
	}
	return 1 << (i - 1)
}

func (s *Sizes) add(n uint32) {
	if s.none() || n < s.Least {
		s.Least = n
	}
	s.Most = max(s.Most, n)
	k := 0
	if n > 0 {
		k = bits.Len32(n-1) + 1
	}
	s.Counts[k]++
}

// none reports whether none was counted.
func (s *Sizes) none() bool { return s.Counts == [34]uint32{} }

func (s *Sizes) merge(o *Sizes) {
	if o.none() {
		return
	}
	if s.none() || o.Least < s.Least {
		s.Least = o.Least
	}
	s.Most = max(s.Most, o.Most)
	for i, n := range o.Counts {
		s.Counts[i] += n
	}
}
