package fabricagent

import (
	"errors"
	"io"
)

// single is the source of one input: what its reader delivers is passed on as it is.
type single struct {
	in   *input
	taps *tapList
	errs []error // by input, with what Open found
	done bool
}

func (s *single) Next() (*Batch, error) {
	if !s.done {
		l := newLot()
		if err := s.in.reader.fill(l); err != nil {
			s.done = true
			if err != io.EOF {
				s.errs[s.in.order] = err
			}
		}
		if len(l.Frames) > 0 {
			return &l.Batch, nil
		}
		l.Release()
	}
	return nil, finalError(&s.errs)
}

// finalError is what Next returns when there are no more frames: all errors once, then io.EOF.
func finalError(errs *[]error) error {
	err := joined(*errs)
	*errs = nil
	if err == nil {
		err = io.EOF
	}
	return err
}

func (s *single) Taps() []Tap { return s.taps.list() }

func (s *single) Progress() (done, total int64) { return progress([]*input{s.in}) }

func (s *single) Close() error {
	s.done, s.errs = true, nil
	return closeAll([]*input{s.in})
}

func progress(inputs []*input) (done, total int64) {
	known := true
	for _, in := range inputs {
		done += in.count.n.Load()
		total += in.total
		known = known && in.total > 0
	}
	if !known {
		total = 0
	}
	return done, total
}

func closeAll(inputs []*input) error {
	var errs []error
	for _, in := range inputs {
		errs = append(errs, in.close())
	}
	return errors.Join(errs...)
}
