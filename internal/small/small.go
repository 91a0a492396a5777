// Package small reads files that people write. One that has no end, or is something else by mistake, must not fill the memory.
package small

import (
	"fmt"
	"io"
	"os"
)

// ReadFile reads a file of up to most bytes. The error names the file.
func ReadFile(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(b)) > most {
		return nil, fmt.Errorf("%s: longer than %d KiB: give another file", path, most>>10)
	}
	return b, nil
}
