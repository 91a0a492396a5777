//go:build !unix

package cli

import "context"

// interruptible is for systems whose pipes can be polled.
func interruptible(ctx context.Context, _ []string) (reading context.Context, restore func()) {
	return ctx, func() {}
}
