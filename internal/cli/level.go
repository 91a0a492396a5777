package cli

import (
	"sync/atomic"

	"github.com/rs/zerolog"
)

// level is how much is logged. It may change at any time.
type level struct{ atomic.Int32 }

func (l *level) set(name string) {
	n, err := zerolog.ParseLevel(name)
	if err != nil {
		n = zerolog.InfoLevel
	}
	l.Store(int32(n))
}

// Run drops what is not to be logged.
func (l *level) Run(e *zerolog.Event, n zerolog.Level, _ string) {
	if n != zerolog.NoLevel && n < zerolog.Level(l.Load()) {
		e.Discard()
	}
}
