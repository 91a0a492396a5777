//go:build !linux

package live

import "errors"

// Sender exists on Linux only.
type Sender struct{}

// OpenSender fails: frames cannot be sent here.
func OpenSender(SendOptions) (*Sender, error) {
	return nil, errors.New("live: sending on an interface needs Linux")
}

// Send does nothing.
func (s *Sender) Send([]byte) error { return nil }

// Close does nothing.
func (s *Sender) Close() error { return nil }
