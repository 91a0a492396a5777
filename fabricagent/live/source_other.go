//go:build !linux

package live

import (
	"errors"
	"io"

	"ibwitness/fabricagent"
)

// Source exists on Linux only.
type Source struct{}

// Open fails: there is no live capture here.
func Open(Options) (*Source, error) {
	return nil, errors.New("live: capturing from an interface needs Linux: capture with another program, and verify the file")
}

// Next returns io.EOF.
func (s *Source) Next() (*fabricagent.Batch, error) { return nil, io.EOF }

// Now returns 0.
func (s *Source) Now() int64 { return 0 }

// Taps returns nothing.
func (s *Source) Taps() []fabricagent.Tap { return nil }

// Stats returns nothing.
func (s *Source) Stats() []Stats { return nil }

// Progress knows no end.
func (s *Source) Progress() (done, total int64) { return 0, 0 }

// Stop does nothing.
func (s *Source) Stop() {}

// Close does nothing.
func (s *Source) Close() error { return nil }
