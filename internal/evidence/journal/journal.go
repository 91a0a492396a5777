// Package journal keeps lines of JSON in a file that outlives the program, whatever becomes of it: whole lines are appended, a line that was torn is
// mended when the file is opened again, and each has a number, so that a reader sees what is missing.
package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
)

// Options say how large the journal may grow.
type Options struct {
	Size   int64       // bytes of a file, after which it is named FILE.1, the one before FILE.2, and so on
	Files  int         // that are kept beside the one that is being written
	Failed func(error) // takes what keeps it from writing, once until it writes again
}

// Opened says what was found in the file.
type Opened struct {
	Next   uint64 // the number of the first line that is to come
	Cut    int64  // bytes of a torn line that were cut off
	Closed bool   // the last line lacked only its end, and has it now
}

// Stats are counters since the journal was opened.
type Stats struct {
	Lines uint64 // written
	Lost  uint64 // for which there was no room while the file could not be written
}

// mostWaiting is how many bytes wait while the file cannot be written.
const mostWaiting = 4 << 20

// Log is a journal. One goroutine writes; Stats may be called from any.
type Log struct {
	Options
	path    string
	f       *os.File
	size    int64
	next    uint64
	waiting []byte
	lines   uint64 // that wait
	failing bool

	written, lost atomic.Uint64
	dirty         atomic.Bool
	wake          chan struct{}
	syncing       sync.WaitGroup
	mu            sync.Mutex // of f while it is synced or replaced
}

// Open opens a journal, or begins it, and mends its last line. Nobody else may write it meanwhile.
func Open(path string, o Options) (*Log, Opened, error) {
	l := &Log{Options: o, path: path, wake: make(chan struct{}, 1)}
	found, err := l.open()
	if err != nil {
		return nil, found, fmt.Errorf("journal: %w", err)
	}
	l.next = found.Next
	l.syncing.Go(l.sync)
	return l, found, nil
}

// open opens the file and mends it.
func (l *Log) open() (found Opened, err error) {
	f, err := os.OpenFile(l.path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o640)
	if err != nil {
		return found, err
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	if err := lock(f); err != nil {
		return found, fmt.Errorf("%s is being written by another program: give each a journal of its own: %w", l.path, err)
	}
	if found, err = mend(f); err != nil {
		return found, err
	}
	for k := 1; found.Next == 0 && k <= max(l.Files, 1); k++ { // it was turned away just before
		if found.Next, err = lastNumber(l.turned(k)); err != nil {
			return found, err
		}
	}
	found.Next++
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size, err = f.Seek(0, io.SeekEnd); err == nil {
		l.f = f
	}
	return found, err
}

// turned is the path of a file that was turned away k times.
func (l *Log) turned(k int) string { return l.path + "." + strconv.Itoa(k) }

// Write takes a line, a JSON object with its end, and numbers it: its first key becomes "seq". Flush writes it, or a later line for
// which there is no room.
func (l *Log) Write(line []byte) (int, error) {
	if len(line) < 3 || line[0] != '{' || line[len(line)-1] != '\n' {
		return 0, fmt.Errorf("journal: %q is no line of JSON", line)
	}
	if len(l.waiting)+len(line) > mostWaiting && !l.failing {
		l.Flush()
	}
	n := l.next
	l.next++
	if len(l.waiting)+len(line) > mostWaiting {
		l.lost.Add(1)
		return len(line), nil
	}
	l.waiting = append(l.waiting, `{"seq":`...)
	l.waiting = strconv.AppendUint(l.waiting, n, 10)
	if line[1] != '}' {
		l.waiting = append(l.waiting, ',')
	}
	l.waiting = append(l.waiting, line[1:]...)
	l.lines++
	return len(line), nil
}

// Flush gives the kernel what waits: it is in the file even if the program is killed then.
func (l *Log) Flush() {
	if len(l.waiting) == 0 {
		return
	}
	var err error
	if l.size >= l.Size && l.Size > 0 {
		err = l.turn() // where that is not possible now, the file grows
	}
	err = errors.Join(err, l.flush())
	if err != nil && !l.failing && l.Failed != nil {
		l.Failed(fmt.Errorf("journal: %w", err))
	}
	l.failing = err != nil
}

func (l *Log) flush() error {
	n, err := l.f.Write(l.waiting)
	if err != nil {
		if n > 0 { // whole lines or none: what is left waits
			err = errors.Join(err, l.f.Truncate(l.size))
		}
		return err
	}
	l.size += int64(n)
	l.written.Add(l.lines)
	l.waiting, l.lines = l.waiting[:0], 0
	l.dirty.Store(true)
	return nil
}

// turn turns the file away and begins a new one. Nothing is renamed before the new one is there.
func (l *Log) turn() error {
	fresh := l.path + ".new"
	f, err := os.OpenFile(fresh, os.O_RDWR|os.O_CREATE|os.O_TRUNC|os.O_APPEND, 0o640)
	if err != nil {
		return err
	}
	if err := errors.Join(lock(f), l.f.Sync(), l.rename(fresh)); err != nil {
		return errors.Join(err, f.Close(), os.Remove(fresh))
	}
	l.mu.Lock()
	old := l.f
	l.f, l.size = f, 0
	l.mu.Unlock()
	return old.Close()
}

// rename gives each file the name of the one before it, and the fresh one that of the journal.
func (l *Log) rename(fresh string) error {
	for k := max(l.Files, 1); k > 1; k-- {
		if err := os.Rename(l.turned(k-1), l.turned(k)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	if err := os.Rename(l.path, l.turned(1)); err != nil && !errors.Is(err, os.ErrNotExist) { // somebody may have removed it
		return err
	}
	if err := os.Rename(fresh, l.path); err != nil {
		return errors.Join(err, os.Rename(l.turned(1), l.path))
	}
	return nil
}

// Sync has the disk take what was written, soon.
func (l *Log) Sync() {
	if l.dirty.CompareAndSwap(true, false) {
		select {
		case l.wake <- struct{}{}:
		default: // the disk is still busy; what was written since is taken with the next one
			l.dirty.Store(true)
		}
	}
}

// sync waits for the disk, so that nobody else must.
func (l *Log) sync() {
	for range l.wake {
		l.mu.Lock()
		f := l.f
		l.mu.Unlock()
		_ = f.Sync() // one that was turned away and closed was synced
	}
}

// Stats returns the counters.
func (l *Log) Stats() Stats { return Stats{l.written.Load(), l.lost.Load()} }

// Close writes what waits, has the disk take it, and closes the file.
func (l *Log) Close() error {
	l.Flush()
	close(l.wake)
	l.syncing.Wait()
	return errors.Join(l.f.Sync(), l.f.Close())
}
