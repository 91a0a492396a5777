package hcaagent

import "errors"

// ErrUnknown is what an agent answers when its truth does not reach that far: a passive capture knows no memory. Whoever asked
// must not judge what depends on the answer.
var ErrUnknown = errors.New("hcaagent: not known")

// UnknownError is an ErrUnknown that says what is not known.
type UnknownError struct{ What string }

func (e *UnknownError) Error() string { return "hcaagent: not known: " + e.What }

// Is makes errors.Is(err, ErrUnknown) hold.
func (e *UnknownError) Is(target error) bool { return target == ErrUnknown }

// ErrNotFound is what a control agent answers when the queue pair, queue or request does not exist.
var ErrNotFound = errors.New("hcaagent: no such object; create it first")

// ErrBusy is what a control agent answers when others still refer to the object.
var ErrBusy = errors.New("hcaagent: object in use; destroy what refers to it first")

// ErrFull is what a control agent answers when a queue holds no more.
var ErrFull = errors.New("hcaagent: queue full; poll completions first")

// AccessError says why a memory access is not valid (section 10.6).
type AccessError struct {
	Key    Key
	Reason string // which key, bound or permission forbids it
}

func (e *AccessError) Error() string { return "hcaagent: memory access: " + e.Reason }
