//go:build !unix

package cli

import "context"

// interruptible is for systems whose pipes can be polled.
func interruptible(context.Context, []string) func() { return func() {} }
