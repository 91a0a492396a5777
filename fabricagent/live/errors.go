package live

import "fmt"

// OpenError says why an interface cannot be opened, and what to do.
type OpenError struct {
	Interface string
	Doing     string
	Advice    string
	Err       error
}

func (e *OpenError) Error() string {
	s := fmt.Sprintf("live: %s: %s: %v", e.Interface, e.Doing, e.Err)
	if e.Advice != "" {
		s += ": " + e.Advice
	}
	return s
}

// Unwrap returns the cause.
func (e *OpenError) Unwrap() error { return e.Err }

// GoneError says that an interface no longer exists. Everything that it delivered was judged.
type GoneError struct{ Interface string }

func (e *GoneError) Error() string {
	return fmt.Sprintf("live: %s is gone, and no other interface is left: create it and start again", e.Interface)
}
