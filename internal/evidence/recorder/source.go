package recorder

import "ibwitness/fabricagent"

// Source returns a source that delivers what src does, and keeps it.
func (r *Recorder) Source(src fabricagent.Source) fabricagent.Source {
	s := &source{src, r}
	if c, ok := src.(clock); ok {
		return &clocked{s, c}
	}
	return s
}

type source struct {
	fabricagent.Source
	r *Recorder
}

func (s *source) Next() (*fabricagent.Batch, error) {
	b, err := s.Source.Next()
	if b != nil {
		s.r.Add(b.Frames)
	}
	return b, err
}

// clock is agent.Clock.
type clock interface{ Now() int64 }

type clocked struct {
	*source
	clock
}
