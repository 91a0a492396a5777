//go:build !linux

package realtime

import (
	"errors"
	"net"
)

var errNoPort = errors.New("realtime: an adapter on a network interface needs Linux")

// rawSocket exists on Linux only.
type rawSocket struct{}

func openRaw(*net.Interface) (*rawSocket, error) { return nil, errNoPort }

func (s *rawSocket) receive() ([]byte, error) { return nil, errNoPort }
func (s *rawSocket) send([]byte) bool         { return false }
func (s *rawSocket) close() error             { return nil }
