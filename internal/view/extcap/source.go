package extcap

import "ibwitness/fabricagent"

// Live is a source that knows how late it is.
type Live interface {
	fabricagent.Source
	Now() int64
}

// Source is a source whose frames a writer takes too.
type Source struct {
	Live
	Writer *Writer
}

// Next returns the next batch.
func (s *Source) Next() (*fabricagent.Batch, error) {
	b, err := s.Live.Next()
	if b != nil {
		s.Writer.Add(b.Frames)
	}
	return b, err
}
