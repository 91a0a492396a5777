package fabricagent

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync/atomic"
)

// stdin is the name of standard input.
const stdin = "-"

// manyFiles is from how many files on each has smaller buffers.
const manyFiles = 9

// Open opens capture files: pcap, pcapng or ERF, also gzip or zstd compressed; "-" is standard input. Several files are
// several taps of one run, merged by time.
//
// An input that cannot be used does not keep the others from being read: Open fails, with a *FileError or several joined
// ones, only where none can be used. Otherwise Source.Next returns what is wrong after all frames.
func Open(paths []string) (Source, error) {
	if len(paths) == 0 {
		return nil, errors.New("fabricagent: no input: give capture files, or - for standard input")
	}
	o := opener{chunk: blockSize}
	if len(paths) >= manyFiles {
		o.chunk = smallBlockSize
	}
	for _, path := range paths {
		o.open(path)
	}
	return o.source()
}

// OpenReader reads one capture from r, under the name that errors and taps shall show. It closes nothing.
func OpenReader(name string, r io.Reader) (Source, error) {
	o := opener{chunk: blockSize}
	o.add(newInput(name, r, o.chunk))
	return o.source()
}

// reader parses one format.
type reader interface {
	// fill appends frames to a lot that has room, until it is full. At the end of the input it returns io.EOF or a
	// *FileError; frames that it appended before are good.
	fill(l *lot) error
}

// input is one file while it is read.
type input struct {
	*stream
	path     string
	total    int64 // bytes of the file, 0 where not known
	order    int   // among the inputs of the run
	count    *counter
	taps     *tapList
	reader   reader
	number   uint64    // of the last frame
	known    bool      // a frame or interface of a supported link type was seen
	strange  string    // what else was seen
	packed   bool      // compressed
	recorded *Recorded // what it says of the run that it is of; nil: nothing
	garbled  error     // why that cannot be understood
	closers  []func() error
}

// counter counts the bytes that were read from a file.
type counter struct {
	r   io.Reader
	n   atomic.Int64
	err error // what kept it from being read further
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	if err != nil && err != io.EOF {
		c.err = err
	}
	return n, err
}

func newInput(path string, r io.Reader, chunk int) *input {
	c := &counter{r: r}
	return &input{path: path, count: c, stream: newStream(c, chunk)}
}

// opener collects the inputs of one run.
type opener struct {
	chunk  int // the size of their blocks
	taps   tapList
	inputs []*input
	errs   []error // by input, nil where there is none
	stdin  bool
}

func (o *opener) open(path string) {
	file, err := o.file(path)
	if err != nil {
		o.errs = append(o.errs, err)
		return
	}
	in := newInput(path, file, o.chunk)
	if path != stdin {
		in.closers = append(in.closers, file.Close)
	}
	if st, err := file.Stat(); err == nil && st.Mode().IsRegular() {
		in.total = st.Size()
	}
	o.add(in)
}

func (o *opener) file(path string) (*os.File, error) {
	if path == stdin {
		if o.stdin {
			return nil, &FileError{Path: path, Kind: Unreadable, Err: errors.New("it was given twice")}
		}
		o.stdin = true
		return os.Stdin, nil
	}
	file, err := os.Open(path)
	if err == nil {
		return file, nil
	}
	kind := Unreadable
	if errors.Is(err, fs.ErrNotExist) {
		kind = NotFound
	}
	return nil, &FileError{Path: path, Kind: kind, Err: bare(err)}
}

// bare drops the operation and the path from an error, which the FileError names itself.
func bare(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

func (o *opener) add(in *input) {
	in.taps = &o.taps
	in.order = len(o.errs)
	err := in.recognise()
	o.errs = append(o.errs, err)
	if err != nil {
		in.close()
		return
	}
	o.inputs = append(o.inputs, in)
}

func (o *opener) source() (Source, error) {
	switch {
	case len(o.inputs) == 0:
		return nil, joined(o.errs)
	case len(o.inputs) == 1:
		return &single{in: o.inputs[0], taps: &o.taps, errs: o.errs}, nil
	}
	return newMerged(o.inputs, &o.taps, o.errs), nil
}

// joined is errors.Join that leaves a single error as it is.
func joined(errs []error) error {
	var only error
	for _, err := range errs {
		switch {
		case err == nil:
		case only == nil:
			only = err
		default:
			return errors.Join(errs...)
		}
	}
	return only
}

// recognise finds out by content what the input is, and sets its reader.
func (in *input) recognise() error {
	if err := in.decompress(); err != nil {
		return err
	}
	if !in.need(4) && in.err != io.EOF {
		return in.ended(0, "its first bytes")
	}
	if in.w == in.r {
		return in.fail(Empty, 0, io.ErrUnexpectedEOF)
	}
	var err error
	head := in.buf[in.r:in.w]
	if len(head) >= 4 {
		switch magic, _ := pcapMagic(head); {
		case magic != 0:
			in.reader, err = newPcapReader(in)
			return err
		case binary.BigEndian.Uint32(head) == blockSection:
			in.reader, err = newPcapngReader(in)
			return err
		}
	}
	// Neither ERF nor a mistake has a magic: look at more.
	whole := !in.need(smallBlockSize / 2)
	if in.err != nil && in.err != io.EOF {
		return in.ended(0, "its first bytes")
	}
	head = in.buf[in.r:in.w]
	if looksLikeERF(head, whole) {
		in.reader, err = newERFReader(in)
		return err
	}
	return in.notACapture(head[:min(len(head), 1024)])
}

// fail is an error at the current offset.
func (in *input) fail(kind ErrKind, frame uint64, err error) error {
	return &FileError{Path: in.path, Offset: in.offset(), Frame: frame, Kind: kind, Err: err}
}

func (in *input) garbage(frame uint64, err error) error { return in.fail(Garbage, frame, err) }

func (in *input) unknownLink(what string) error {
	return in.fail(UnknownLinkType, 0, fmt.Errorf("a capture of %s, which is not supported: give one of %s", what, supportedLinks()))
}

// ended is the error for an input that ended, or could not be read further, inside something.
func (in *input) ended(frame uint64, what string) error {
	switch {
	case in.err == io.EOF:
		return in.fail(CutShort, frame, fmt.Errorf("it ends inside %s: %w", what, io.ErrUnexpectedEOF))
	case in.packed && in.count.err == nil:
		e := in.unpackError(in.err).(*FileError)
		e.Frame = frame
		return e
	}
	return in.fail(Unreadable, frame, bare(in.err))
}

// finish is the end of an input at the end of a record.
func (in *input) finish() error {
	if !in.known && in.strange != "" {
		return in.unknownLink(in.strange)
	}
	return io.EOF
}

func (in *input) close() error {
	var errs []error
	for i := len(in.closers) - 1; i >= 0; i-- {
		if err := in.closers[i](); err != nil {
			errs = append(errs, err)
		}
	}
	in.closers = nil
	in.stream.close()
	return errors.Join(errs...)
}
