// Package privilege gives up what a process may do, once it has opened what it needs it for.
package privilege

import "fmt"

// Error says what could not be given up.
type Error struct {
	Doing string
	Err   error
}

func (e *Error) Error() string { return fmt.Sprintf("privilege: cannot %s: %v", e.Doing, e.Err) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
