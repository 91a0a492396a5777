package attach

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"ibwitness/fabricagent"
)

// recording is the frames of a run in a file, as they come. A nil one records nothing.
type recording struct {
	name  string
	f     *os.File
	w     *fabricagent.Writer
	drops []uint64
}

func record(name string) (*recording, error) {
	f, err := os.Create(name)
	if err != nil {
		return nil, fmt.Errorf("attach: frames cannot be recorded: %w: name a file that can be written", err)
	}
	return &recording{name: name, f: f, w: fabricagent.NewWriter(f, "ibwitness")}, nil
}

func (r *recording) addTap(t fabricagent.Tap) error {
	if r == nil {
		return nil
	}
	if t.Interface == "" {
		t.Interface = t.File
	}
	r.drops = append(r.drops, 0)
	_, err := r.w.AddTap(t)
	return r.failed(err)
}

func (r *recording) write(f *fabricagent.Frame) error {
	if r == nil {
		return nil
	}
	return r.failed(r.w.Write(f))
}

func (r *recording) lost(tap int, n uint64, at int64) error {
	if r == nil || n == 0 {
		return nil
	}
	r.drops[tap] += n
	return r.failed(r.w.Drops(uint16(tap), r.drops[tap], at))
}

func (r *recording) failed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("attach: %s: %w", r.name, err)
}

// close ends the file.
func (r *recording) close() error {
	if r == nil || r.f == nil {
		return nil
	}
	err := errors.Join(r.w.Flush(), r.f.Close())
	r.f = nil
	return r.failed(err)
}

// remove removes the file where only reports needed it.
func (r *recording) remove() error {
	if r == nil || !strings.HasSuffix(r.name, ".frames") {
		return nil
	}
	return errors.Join(r.close(), os.Remove(r.name))
}
