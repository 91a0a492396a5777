package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
)

// mend cuts off the last line of a file where it is torn, or ends it where it lacks only its end. Next is the number of the last line, or 0.
func mend(f *os.File) (found Opened, err error) {
	last, at, err := lastLine(f)
	if err != nil {
		return found, err
	}
	for len(last) > 0 {
		n, ok := number(last)
		whole := last[len(last)-1] == '\n'
		switch {
		case ok && whole:
			found.Next = n
			return found, nil
		case ok:
			found.Next, found.Closed = n, true
			_, err := f.Write([]byte{'\n'})
			return found, err
		case whole:
			return found, errors.New(f.Name() + " is no journal, or was damaged: its last line is no numbered object of JSON: give another file, or mend it")
		}
		found.Cut += int64(len(last))
		if err := f.Truncate(at); err != nil {
			return found, err
		}
		if last, at, err = lastLine(f); err != nil {
			return found, err
		}
	}
	return found, nil
}

// lastLine returns the last line of a file, perhaps without its end, and where it begins. It is empty where the file is.
func lastLine(f *os.File) (line []byte, at int64, err error) {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, 0, err
	}
	for window := int64(1 << 12); ; window *= 4 {
		at = max(size-window, 0)
		line = make([]byte, size-at)
		if _, err := f.ReadAt(line, at); err != nil && err != io.EOF {
			return nil, 0, err
		}
		if len(line) == 0 {
			return nil, 0, nil
		}
		if i := bytes.LastIndexByte(line[:len(line)-1], '\n'); i >= 0 || at == 0 {
			return line[i+1:], at + int64(i+1), nil
		}
	}
}

// number is that of a line.
func number(line []byte) (uint64, bool) {
	var k struct{ Seq uint64 }
	err := json.Unmarshal(line, &k)
	return k.Seq, err == nil && k.Seq > 0
}

// lastNumber returns the number of the last line of a file that was turned away; 0 where there is none.
func lastNumber(path string) (uint64, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	line, _, err := lastLine(f)
	if err != nil {
		return 0, err
	}
	n, _ := number(line)
	return n, nil
}
