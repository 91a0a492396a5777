//go:build !unix

package journal

import "os"

func lock(*os.File) error { return nil }
