package qp

import "errors"

// ErrUnknown is what an agent answers when its truth does not reach that far: a passive capture knows no memory. Whoever asked
// must not judge what depends on the answer.
var ErrUnknown = errors.New("qp: not known")

// UnknownError is an ErrUnknown that says what is not known.
type UnknownError struct{ What string }

func (e *UnknownError) Error() string { return "qp: not known: " + e.What }

// Is makes errors.Is(err, ErrUnknown) hold.
func (e *UnknownError) Is(target error) bool { return target == ErrUnknown }
