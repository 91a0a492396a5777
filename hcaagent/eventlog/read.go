package eventlog

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"ibwitness/hcaagent"
	"ibwitness/packet"
)

// maxLine is how long a line may be, in bytes.
const maxLine = 1 << 20

// Error says which line of a log is wrong and what to do.
type Error struct {
	Name string // of the log
	Line int    // from 1 on
	Err  error
}

func (e *Error) Error() string {
	return fmt.Sprintf("eventlog: %s, line %d: %v", e.Name, e.Line, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// ReadFile reads the log in a file.
func ReadFile(name string) (*hcaagent.Log, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("eventlog: %w", err)
	}
	defer f.Close()
	return Read(name, f)
}

// Read reads a log. Errors have name. A log that breaks off in its last line is read up to there, and Cut says so; any other line
// that is wrong is an *Error.
func Read(name string, r io.Reader) (*hcaagent.Log, error) {
	log := &hcaagent.Log{Name: name}
	in := bufio.NewReaderSize(r, 1<<16)
	for n := 1; ; n++ {
		text, err := readLine(in)
		if err != nil && err != io.EOF {
			return nil, &Error{name, n, err}
		}
		last := err == io.EOF
		if len(bytes.TrimSpace(text)) > 0 {
			if err := log1(log, n, text); err != nil {
				if _, eof := in.Peek(1); (last || eof == io.EOF) && !json.Valid(text) {
					log.Cut = true
					break
				}
				return nil, &Error{name, n, err}
			}
		}
		if last {
			break
		}
	}
	for i := range log.Events {
		e := &log.Events[i]
		e.QP.Addr = log.Addr
		if e.Completion != nil {
			e.Completion.QP.Addr = log.Addr
		}
	}
	return log, nil
}

// readLine reads a line with or, at the end, without its newline.
func readLine(in *bufio.Reader) (text []byte, err error) {
	for {
		part, err := in.ReadSlice('\n')
		text = append(text, part...)
		if len(text) > maxLine {
			return nil, fmt.Errorf("longer than %d bytes: give one event a line", maxLine)
		}
		if err != bufio.ErrBufferFull {
			return text, err
		}
	}
}

// log1 adds the event of a line to a log.
func log1(log *hcaagent.Log, n int, text []byte) error {
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return plainJSON(err)
	}
	if l.Ev == "" {
		return errors.New(`no "ev": it names the event, see docs/events.md`)
	}
	if (l.Ev == "exchange" || l.Ev == "start" || l.Ev == "device") && l.GID != nil {
		a, err := address(*l.GID)
		if err != nil {
			return err
		}
		if !log.Addr.IsZero() && log.Addr != a {
			return fmt.Errorf(`"gid" is %v, and was %v before: give the events of each endpoint in a log of its own`, a, log.Addr)
		}
		log.Addr = a
	}
	if l.Clock != nil {
		switch *l.Clock {
		case "capture":
			log.Exact = true
		case "host":
		default:
			return fmt.Errorf(`"clock" is %q: give "capture" if the events have the clock of the packets, else "host"`, *l.Clock)
		}
	}
	if remarks[l.Ev] || l.Ev == "device" && !l.limits() {
		return nil
	}
	if _, ok := kinds[l.Ev]; !ok {
		return fmt.Errorf(`unknown event %q: docs/events.md lists them`, l.Ev)
	}
	e, err := l.event()
	if err != nil {
		return fmt.Errorf("%s: %w", l.Ev, err)
	}
	e.Line = n
	log.Events = append(log.Events, e)
	return nil
}

// plainJSON says what is wrong with a line in the words of the format.
func plainJSON(err error) error {
	var typ *json.UnmarshalTypeError
	if errors.As(err, &typ) {
		return fmt.Errorf("%q does not fit: it is a JSON %s, and a %s is wanted", typ.Field, typ.Value, typ.Type)
	}
	return fmt.Errorf("no JSON object (%w): mend or remove the line", err)
}

func address(s string) (packet.Addr, error) {
	a, err := packet.ParseAddr(s)
	if err != nil {
		return a, fmt.Errorf("%q is no address: give an IP address, a GID or lid:NUMBER", s)
	}
	return a, nil
}

// missing is the error of a field that an event needs.
func missing(field string) error { return fmt.Errorf("no %q: add it", field) }
