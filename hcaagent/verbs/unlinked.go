//go:build !verbs || !cgo || !linux

package verbs

import (
	"errors"

	"ibwitness/cq"
	"ibwitness/hcaagent/remote"
)

// ErrUnlinked says that this program is built without libibverbs.
var ErrUnlinked = errors.New("verbs: this program is built without libibverbs: build one that has it by make verbs, which needs libibverbs-dev")

// List fails.
func List() ([]string, error) { return nil, ErrUnlinked }

// Open fails.
func Open(string, func(*cq.Event)) (remote.Device, error) { return nil, ErrUnlinked }
