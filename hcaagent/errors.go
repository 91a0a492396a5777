package hcaagent

import (
	"errors"

	"ibwitness/wqe"
)

// ErrNotFound is what a control agent answers when the queue pair, queue or request does not exist.
var ErrNotFound = errors.New("hcaagent: no such object; create it first")

// ErrBusy is what a control agent answers when others still refer to the object.
var ErrBusy = errors.New("hcaagent: object in use; destroy what refers to it first")

// ErrFull is what a control agent answers when a queue holds no more.
var ErrFull = errors.New("hcaagent: queue full; poll completions first")

// AccessError says why a memory access is not valid (section 10.6).
type AccessError struct {
	Key    wqe.Key
	Reason string // which key, bound or permission forbids it
}

func (e *AccessError) Error() string { return "hcaagent: memory access: " + e.Reason }
