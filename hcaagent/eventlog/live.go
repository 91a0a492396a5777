package eventlog

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"sync"
	"time"

	"ibwitness/cq"
	"ibwitness/hcaagent"
)

// Live is the log of a device that is at work: the lines of a FIFO, of a Unix socket that is connected to, or of what else path names, as they are written. While
// nothing is there that can be opened, and when its writer has gone, the next one is waited for; each begins with who it is ("gid"), as a file does. What is wrong
// with a line ends the log. tell, from another goroutine, is told of that, and once of each thing that is waited for. The log is read in the background
// until ctx ends.
func Live(ctx context.Context, path string, tell func(err error, ends bool)) *hcaagent.Log {
	l := &liveLog{name: path, tell: tell}
	log := &hcaagent.Log{Name: path, More: l.more}
	go l.follow(ctx, path)
	return log
}

// liveLog is the events of a live log that have not been asked for.
type liveLog struct {
	name       string
	tell       func(err error, ends bool)
	waits      string // for what, as it was told
	mu         sync.Mutex
	fresh, old []*cq.Event
}

// mostFresh is how many events wait at most: their writer waits then.
const mostFresh = 1 << 16

func (l *liveLog) more() []*cq.Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.old)
	l.fresh, l.old = l.old[:0], l.fresh
	return l.old
}

// reopen is how soon a writer is looked for again.
const reopen = 200 * time.Millisecond

// follow reads from one writer after the other.
func (l *liveLog) follow(ctx context.Context, path string) {
	for ctx.Err() == nil {
		in, err := connect(path)
		if err == nil {
			stop := context.AfterFunc(ctx, func() { in.Close() })
			l.waits = ""
			err = l.read(ctx, in)
			stop()
			in.Close()
		}
		var wrong *Error
		switch {
		case err == nil || ctx.Err() != nil:
		case errors.Is(err, errors.ErrUnsupported), errors.As(err, &wrong) && !errors.Is(err, errCut):
			l.tell(err, true)
			return
		case l.waits != err.Error():
			l.waits = err.Error()
			l.tell(err, false)
		}
		select {
		case <-ctx.Done():
		case <-time.After(reopen):
		}
	}
}

// connect opens what a path names. Opening a FIFO waits for its writer.
func connect(path string) (io.ReadCloser, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Mode()&fs.ModeSocket != 0 {
		return net.Dial("unix", path)
	}
	return os.Open(path)
}

// errCut says that a writer has gone before its line was whole.
var errCut = errors.New("the writer has gone in the middle of it: that line is lost")

// read takes what one writer writes. It returns an *Error where a line is wrong.
func (l *liveLog) read(ctx context.Context, in io.Reader) error {
	r := newReader(l.name, in)
	for r.err == nil {
		r.next()
		if list := r.log.Events; len(list) > 0 {
			if r.log.Addr.IsZero() && len(list) < mostHeader && r.err == nil {
				continue
			}
			r.log.Events, r.begun = nil, true
			r.address(list)
			l.add(ctx, list)
		}
	}
	switch {
	case r.log.Cut:
		return &Error{l.name, r.n, errCut}
	case r.err == io.EOF:
		return nil
	}
	return r.err
}

// add has events wait until they are asked for.
func (l *liveLog) add(ctx context.Context, list []cq.Event) {
	for {
		l.mu.Lock()
		if len(l.fresh) < mostFresh || ctx.Err() != nil {
			for i := range list {
				l.fresh = append(l.fresh, &list[i])
			}
			l.mu.Unlock()
			return
		}
		l.mu.Unlock()
		time.Sleep(time.Millisecond)
	}
}
