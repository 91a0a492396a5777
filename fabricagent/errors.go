package fabricagent

import (
	"errors"
	"fmt"
)

// ErrKind is what is wrong with an input. It is an error itself, so that errors.Is(err, CutShort) finds it in a
// FileError and in several joined ones.
type ErrKind uint8

// The kinds.
const (
	NotFound        ErrKind = iota + 1
	Unreadable              // no permission, a directory, an I/O error
	Empty                   // zero bytes
	NotACapture             // neither pcap nor pcapng nor ERF
	UnknownLinkType         // a capture, but of nothing that can carry RDMA, or in a framing that is not supported
	CutShort                // ends inside its last record: a warning, since everything before was delivered
	Garbage                 // turns into garbage before its end; everything before was delivered
	Decompression           // the compressed data is corrupt; everything before was delivered
)

var kindNames = [...]string{
	"no error", "not found", "unreadable", "empty", "not a capture", "unknown link type", "cut short", "garbage",
	"decompression failed",
}

// Error returns the kind's name in lower case.
func (k ErrKind) Error() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("error kind %d", uint8(k))
}

// FileError says what is wrong with one input.
type FileError struct {
	Path   string // as given by the user; "-" is standard input
	Offset int64  // byte where the trouble begins, after decompression: the start of the bad or incomplete record
	Frame  uint64 // 1-based number of the bad or incomplete frame; 0 where the trouble is not in a frame
	Kind   ErrKind
	Err    error // the cause
}

func (e *FileError) Error() string {
	name := e.Path
	if name == stdin {
		name = "standard input"
	}
	where := fmt.Sprintf("at byte %d", e.Offset)
	if e.Frame != 0 {
		where += fmt.Sprintf(", frame %d", e.Frame)
	}
	s := "fabricagent: " + name + ": "
	switch e.Kind {
	case NotFound:
		return s + "no such file: check the path"
	case Unreadable:
		return s + fmt.Sprintf("cannot be read %s: %v: check the file, its permissions and its disk", where, e.Err)
	case Empty:
		return s + "the file is empty: capture again, or wait until the capturing program has written something"
	case CutShort:
		return s + fmt.Sprintf("cut short %s: %v: everything before is used; if more is expected, copy the file again or stop "+
			"the capturing program before", where, e.Err)
	case Garbage:
		return s + fmt.Sprintf("garbage %s: %v: everything before is used; copy the file again, or capture again", where, e.Err)
	case Decompression:
		return s + fmt.Sprintf("cannot be decompressed %s: %v: everything before is used; copy the file again, or "+
			"decompress it yourself", where, e.Err)
	}
	return s + e.Err.Error()
}

// Unwrap returns the cause.
func (e *FileError) Unwrap() error { return e.Err }

// Is reports whether target is the error's ErrKind.
func (e *FileError) Is(target error) bool {
	k, ok := target.(ErrKind)
	return ok && k == e.Kind
}

// FileErrors takes apart what Open and Source.Next return: every FileError in err, in the order of the inputs.
func FileErrors(err error) []*FileError {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		var out []*FileError
		for _, e := range many.Unwrap() {
			out = append(out, FileErrors(e)...)
		}
		return out
	}
	var fe *FileError
	if errors.As(err, &fe) {
		return []*FileError{fe}
	}
	return nil
}
