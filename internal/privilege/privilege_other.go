//go:build !linux

package privilege

import "errors"

// Drop can do nothing here.
func Drop(name string) error {
	if name != "" {
		return &Error{"become user " + name, errors.New("that needs Linux")}
	}
	return nil
}
