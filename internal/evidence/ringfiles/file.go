package ringfiles

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"ibwitness/fabricagent"
)

// file is one file of the set. Each block is written at once, so that a program that is killed leaves whole ones.
type file struct {
	f      *os.File
	w      *fabricagent.Writer
	number uint64
	size   int64
	frames int
}

// Write writes a block, or takes back what it could write of it.
func (f *file) Write(b []byte) (int, error) {
	n, err := f.f.Write(b)
	if err != nil {
		return n, errors.Join(err, f.f.Truncate(f.size))
	}
	f.size += int64(n)
	return n, nil
}

// create begins the file with a number, or the next one that is free, whose first frame is first.
func create(o *Options, number uint64, first fabricagent.Frame) (_ *file, err error) {
	f := &file{number: number}
	for {
		f.f, err = os.OpenFile(name(o.Path, f.number, time.Unix(0, first.Time)), os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o640)
		if !errors.Is(err, os.ErrExist) {
			break
		}
		f.number++
	}
	if err != nil {
		return nil, fmt.Errorf("flight: %w", err)
	}
	if err := f.begin(o, first); err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

// begin begins what precedes the frames, the first of which is first.
func (f *file) begin(o *Options, first fabricagent.Frame) error {
	f.w = fabricagent.NewWriter(f, "ibwitness flight recorder")
	for _, t := range o.Taps() {
		tap, err := f.w.AddTap(t)
		// Most of what the interface has seen is not here. That is said first, so that nothing is proven by its absence.
		if err = errors.Join(err, f.w.Drops(tap, max(first.Number, 1), first.Time)); err != nil {
			return fmt.Errorf("flight: %w", err)
		}
	}
	if err := f.w.Flush(); err != nil {
		return fmt.Errorf("flight: %w", err)
	}
	return nil
}

// prune removes the files beyond those that are kept, the oldest first.
func prune(o *Options) error {
	list, err := existing(o.Path)
	if err != nil {
		return err
	}
	for i := range max(len(list)-o.Files, 0) {
		if err := os.Remove(list[i].path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("flight: an old file cannot be removed: %w", err)
		}
	}
	return nil
}

// frame writes one frame.
func (f *file) frame(k *fabricagent.Frame, comments []string) error {
	err := f.w.Write(k, comments...)
	if err == nil {
		err = f.w.Flush()
	}
	if err != nil {
		return fmt.Errorf("flight: %s: %w", f.f.Name(), err)
	}
	f.frames++
	return nil
}

// close ends the file, every block of which was written already. One without frames is removed: the disk may be full.
func (f *file) close() {
	if _ = f.f.Close(); f.frames == 0 {
		_ = os.Remove(f.f.Name())
	}
}

// split returns what precedes the number of a file, and what follows its time.
func split(path string) (base, extension string) {
	extension = filepath.Ext(path)
	return strings.TrimSuffix(path, extension), extension
}

const timeLayout = "20060102150405"

// name is the path of a file of the set.
func name(path string, number uint64, at time.Time) string {
	base, extension := split(path)
	return fmt.Sprintf("%s_%05d_%s%s", base, number, at.Format(timeLayout), extension)
}

type old struct {
	path   string
	number uint64
}

// existing returns the files of the set that there are, the oldest first.
func existing(path string) (list []old, err error) {
	base, extension := split(path)
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("flight: %w: name a file in a directory that exists", err)
	}
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), filepath.Base(base)+"_")
		if !ok || !strings.HasSuffix(rest, extension) {
			continue
		}
		digits, at, _ := strings.Cut(strings.TrimSuffix(rest, extension), "_")
		n, err := strconv.ParseUint(digits, 10, 64)
		if _, bad := time.Parse(timeLayout, at); err == nil && bad == nil {
			list = append(list, old{filepath.Join(filepath.Dir(path), e.Name()), n})
		}
	}
	slices.SortFunc(list, func(a, b old) int { return cmp.Compare(a.number, b.number) })
	return list, nil
}

// mend cuts off what is not whole at the end of a file.
func mend(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	i, err := f.Stat()
	if err != nil {
		return err
	}
	at := int64(0)
	var head [8]byte
	for at+int64(len(head)) <= i.Size() {
		if _, err := f.ReadAt(head[:], at); err != nil && err != io.EOF {
			return err
		}
		n := int64(binary.LittleEndian.Uint32(head[4:]))
		if n < 12 || at+n > i.Size() {
			break
		}
		at += n
	}
	if at == i.Size() {
		return nil
	}
	return f.Truncate(at)
}
