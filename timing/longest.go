package timing

import "time"

// Took is how long something took, in which frame it was over, and when, in nanoseconds since the Unix epoch.
type Took struct {
	Time  time.Duration
	Frame uint64
	At    int64
}

// Longest are the longest of some times, the longest first; those beyond are 0.
type Longest [4]Took

func (l *Longest) add(k Took) {
	for i := range l {
		if k.Time > l[i].Time {
			k, l[i] = l[i], k
		}
	}
}

func (l *Longest) merge(o *Longest) {
	for _, k := range o {
		l.add(k)
	}
}
