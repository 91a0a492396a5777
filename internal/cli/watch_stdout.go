package cli

import (
	"io"

	"github.com/rs/zerolog"
)

// steady writes to an output that may fail, as a pipe whose reader has ended: that is told once, and what else is done with findings goes on.
type steady struct {
	w       io.Writer
	log     *zerolog.Logger
	failing bool
}

// Write writes b, or drops it.
func (s *steady) Write(b []byte) (int, error) {
	_, err := s.w.Write(b)
	if err != nil && !s.failing {
		s.log.Error().Msg(plain(err) + ": findings are not written there until this is mended")
	}
	s.failing = err != nil
	return len(b), nil
}
