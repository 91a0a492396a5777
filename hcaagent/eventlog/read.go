package eventlog

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"

	"ibwitness/cq"
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

// ReadFile reads the log in a file, all of it.
func ReadFile(name string) (*hcaagent.Log, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("eventlog: %w", err)
	}
	defer f.Close()
	return Read(name, f)
}

// Read reads a log, all of it. Errors have name. A log that breaks off in its last line is read up to there, and Cut says so; any other line
// that is wrong is an *Error.
func Read(name string, r io.Reader) (*hcaagent.Log, error) {
	in := newReader(name, r)
	for in.err == nil {
		in.next()
	}
	if in.err != io.EOF {
		return nil, in.err
	}
	in.address(in.log.Events)
	return &in.log, nil
}

// Open opens the log in a file, to be read as its events are asked for: see Follow. It is closed at its end.
func Open(name string) (*hcaagent.Log, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("eventlog: %w", err)
	}
	return Follow(name, f)
}

// mostHeader is within how many events a log says which endpoint it is of.
const mostHeader = 4096

// Follow reads a log up to the line that names its endpoint, or 4096 events. More of the Log reads the rest, and Err returns the first error of a line in it, an *Error, after
// all events before that line have been returned. Follow, or More at the end, closes r where r is an io.Closer.
func Follow(name string, r io.Reader) (*hcaagent.Log, error) {
	in := newReader(name, r)
	for in.err == nil && in.log.Addr.IsZero() && len(in.log.Events) < mostHeader {
		in.next()
	}
	in.begun = true
	if len(in.log.Events) == 0 && in.err != nil && in.err != io.EOF {
		return nil, in.err
	}
	first := in.log.Events
	in.log.Events = nil
	in.address(first)
	in.log.Events, in.log.More, in.log.Again, in.log.Err = first, in.more, in.again, in.failed
	return &in.log, nil
}

// reader is a log that is being read.
type reader struct {
	log   hcaagent.Log
	in    *bufio.Reader
	close io.Closer
	n     int   // of the newest line
	err   error // io.EOF at the end
	begun bool  // events were handed over
	list  []*cq.Event
	room  []cq.Event  // for further ones
	spare []*cq.Event // that were handed out, and are nobody's any more
	apart bool        // events are added to list
	scan  *scanner
	long  []byte // a line that does not fit into the buffer
	made  made
	timed bool // lines come at the time now, whatever they say
	now   int64
}

func newReader(name string, r io.Reader) *reader {
	in := &reader{log: hcaagent.Log{Name: name}, in: bufio.NewReaderSize(r, 1<<16), scan: newScanner()}
	in.close, _ = r.(io.Closer)
	return in
}

// next reads a line.
func (r *reader) next() {
	r.n++
	text, err := r.readLine()
	if err != nil && err != io.EOF {
		r.err = &Error{r.log.Name, r.n, err}
		return
	}
	last := err == io.EOF
	if len(text) > 0 && text[0] == '{' || len(bytes.TrimSpace(text)) > 0 {
		addr, exact, simulation := r.log.Addr, r.log.Exact, r.log.Simulation
		err := r.take(text)
		if err == nil && r.begun && (addr != r.log.Addr || exact != r.log.Exact || simulation != r.log.Simulation) {
			r.log.Addr, r.log.Exact, r.log.Simulation = addr, exact, simulation
			err = errors.New(`"gid" and "clock" come too late: give them in the first line`)
		}
		if err != nil {
			r.broken(text, last, err)
			return
		}
	}
	if last {
		r.err = io.EOF
	}
}

// broken ends the log at a line that is wrong. Where that is the last one, and no JSON, the log breaks off in it.
func (r *reader) broken(text []byte, last bool, err error) {
	valid := json.Valid(text) // Peek overwrites the text
	if _, eof := r.in.Peek(1); (last || eof == io.EOF) && !valid {
		r.log.Cut, r.err = true, io.EOF
		return
	}
	r.err = &Error{r.log.Name, r.n, err}
}

// address fills in which device events are of.
func (r *reader) address(events []cq.Event) {
	for i := range events {
		r.addressOf(&events[i])
	}
}

func (r *reader) addressOf(e *cq.Event) {
	e.QP.Addr = r.log.Addr
	if e.Completion != nil {
		e.Completion.QP.Addr = r.log.Addr
	}
}

// add adds an event to those that were read, without anything in it.
func (r *reader) add() *cq.Event {
	if !r.apart {
		n := len(r.log.Events)
		r.log.Events = slices.Grow(r.log.Events, 1)[:n+1] // what is beyond is zero
		return &r.log.Events[n]
	}
	var e *cq.Event
	if n := len(r.spare) - 1; n >= 0 {
		e, r.spare = r.spare[n], r.spare[:n]
		*e = cq.Event{}
	} else {
		if len(r.room) == 0 {
			r.room = make([]cq.Event, roomEvents)
		}
		e, r.room = &r.room[0], r.room[1:]
	}
	r.list = append(r.list, e)
	return e
}

// remove takes back the newest event that was added.
func (r *reader) remove() {
	if !r.apart {
		n := len(r.log.Events) - 1
		r.log.Events[n], r.log.Events = cq.Event{}, r.log.Events[:n]
		return
	}
	n := len(r.list) - 1
	r.spare, r.list = append(r.spare, r.list[n]), r.list[:n]
}

// again takes back events that were handed out.
func (r *reader) again(e *cq.Event) {
	if len(r.spare) < mostSpare {
		r.spare = append(r.spare, e)
	}
}

// roomEvents is for how many events room is made at once: they fill 8 KiB, with little left.
const roomEvents = 35

// mostSpare is how many events are kept to be used again.
const mostSpare = 4096

// portion is how many events are read at once.
const portion = 64

// more reads further events.
func (r *reader) more() []*cq.Event {
	if r.err != nil {
		return nil
	}
	r.list, r.apart = r.list[:0], true
	for r.err == nil && len(r.list) < portion {
		r.next()
	}
	for _, e := range r.list {
		r.addressOf(e)
	}
	if r.err != nil {
		r.log.Over = true
		if r.close != nil {
			r.close.Close()
			r.close = nil
		}
	}
	return r.list
}

// failed is what was wrong with the log.
func (r *reader) failed() error {
	if r.err == io.EOF {
		return nil
	}
	return r.err
}

// readLine reads a line with or, at the end, without its newline. It is valid until the next one is read.
func (r *reader) readLine() (text []byte, err error) {
	for r.long = r.long[:0]; ; {
		part, err := r.in.ReadSlice('\n')
		if err != bufio.ErrBufferFull && len(r.long) == 0 {
			return part, err
		}
		r.long = append(r.long, part...)
		if len(r.long) > maxLine {
			return nil, fmt.Errorf("longer than %d bytes: give one event a line", maxLine)
		}
		if err != bufio.ErrBufferFull {
			return r.long, err
		}
	}
}

// take adds the event of a line to the log.
func (r *reader) take(text []byte) error {
	l, log := &r.scan.record, &r.log
	if !r.scan.scan(text) {
		if err := r.unusual(text); err != nil {
			return err
		}
	}
	if r.timed {
		l.put(kT, uint64(r.now))
	}
	ev := l.word(kEv)
	if ev.text == "" {
		return errors.New(`no "ev": it names the event, see docs/events.md`)
	}
	if l.has(kGID) && ev.tells {
		if err := r.endpoint(l.str(kGID)); err != nil {
			return err
		}
	}
	if l.has(kClock) {
		if err := r.clock(l.str(kClock)); err != nil {
			return err
		}
	}
	if ev.remark || ev.device && !l.limits() {
		log.Complete = log.Complete || ev.text == "end"
		return nil
	}
	if !ev.isEvent {
		return fmt.Errorf(`unknown event %q: docs/events.md lists them`, ev.text)
	}
	e := r.add()
	e.Line, e.Kind = r.n, ev.kind
	if err := l.event(e, &r.made); err != nil {
		r.remove()
		return fmt.Errorf("%s: %w", ev.text, err)
	}
	return nil
}

// unusual reads a line that is not written as nearly all are.
func (r *reader) unusual(text []byte) error {
	var x line
	if err := json.Unmarshal(text, &x); err != nil {
		return plainJSON(err)
	}
	r.scan.fill(&x)
	return nil
}

// endpoint takes which endpoint the log is of.
func (r *reader) endpoint(gid string) error {
	a, err := address(gid)
	if err != nil {
		return err
	}
	if log := &r.log; !log.Addr.IsZero() && log.Addr != a {
		return fmt.Errorf(`"gid" is %v, and was %v before: give the events of each endpoint in a log of its own`, a, log.Addr)
	}
	r.log.Addr = a
	return nil
}

// clock takes which clock has stamped the events.
func (r *reader) clock(c string) error {
	switch c {
	case "simulation":
		r.log.Exact, r.log.Simulation = true, true
	case "capture":
		r.log.Exact = true
	case "host":
	default:
		return fmt.Errorf(`"clock" is %q: give "simulation" or "capture" if the events have the clock of the packets, else "host"`, c)
	}
	return nil
}

// plainJSON says what is wrong with a line in the words of the format.
func plainJSON(err error) error {
	var typ *json.UnmarshalTypeError
	if errors.As(err, &typ) {
		return fmt.Errorf("%q is a JSON %s: give %s", typ.Field, typ.Value, wanted(typ.Type))
	}
	return fmt.Errorf("no JSON object (%w): mend or remove the line", err)
}

// wanted says what JSON a field of a type is read from.
func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string"
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uint:
		return fmt.Sprintf("a whole number from 0 to %d", uint64(1)<<t.Bits()-1)
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Int:
		return "a whole number"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Pointer:
		return wanted(t.Elem())
	default:
		return "an object"
	}
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
