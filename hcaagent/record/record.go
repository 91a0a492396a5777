// Package record runs a program so that the verbs it calls of libibverbs are written to event logs, as docs/events.md describes them. A library that the
// loader puts before libibverbs does it: c/ has its source, `make record` builds it.
//
// Others may import it: its API is kept stable.
package record

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// LibraryName is the file name of the library.
const LibraryName = "libibwitness_record.so"

// Options say how a program is recorded.
type Options struct {
	Library   string // path of the library
	Prefix    string // path that the name of each log begins with; DEVICE.PID.jsonl follows
	Live      string // not empty: the FIFO, or the Unix socket to connect to, that takes the log of the first device of the program, in place of files
	Checksums bool   // posts of SENDs and WRITEs have the CRC-32 of their data, which the program must be able to read
}

// Library finds the library beside the program that runs, or in lib/ibwitness beside its folder.
func Library() (string, error) {
	own, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("record: %w", err)
	}
	if own, err = filepath.EvalSymlinks(own); err != nil {
		return "", fmt.Errorf("record: %w", err)
	}
	dir := filepath.Dir(own)
	for _, path := range []string{filepath.Join(dir, LibraryName), filepath.Join(dir, "..", "lib", "ibwitness", LibraryName)} {
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("record: %s is neither in %s nor in ../lib/ibwitness: build it with `make record`, or name it with --library", LibraryName, dir)
}

// Command is the program with its arguments, to be run recorded. Its environment is that of this process, with the library before others that the loader is to load first.
func (o *Options) Command(program string, args ...string) (*exec.Cmd, error) {
	library, err := filepath.Abs(o.Library)
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	if strings.ContainsAny(library, " :") {
		return nil, fmt.Errorf("record: %s: the loader takes no library whose path has a space or a colon: move it", library)
	}
	target := "live:"
	if o.Live != "" {
		path, err := filepath.Abs(o.Live)
		if err != nil {
			return nil, fmt.Errorf("record: %w", err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
			return nil, fmt.Errorf("record: %s is neither a FIFO nor a socket: make one with mkfifo", o.Live)
		}
		target += path
	} else {
		if target, err = filepath.Abs(o.Prefix + "x"); err != nil { // the program may change its folder
			return nil, fmt.Errorf("record: %w", err)
		}
		target = strings.TrimSuffix(target, "x")
		if _, err := os.Stat(filepath.Dir(target + "x")); err != nil {
			return nil, fmt.Errorf("record: logs cannot be written there: %w", err)
		}
	}
	c := exec.Command(program, args...)
	c.Env = append(os.Environ(), "LD_PRELOAD="+strings.TrimSuffix(library+":"+os.Getenv("LD_PRELOAD"), ":"), "IBWITNESS_RECORD="+target)
	if o.Checksums {
		c.Env = append(c.Env, "IBWITNESS_RECORD_CRC=1")
	}
	return c, nil
}

// Logs are the logs of that prefix, in the order of their names.
func (o *Options) Logs() ([]string, error) {
	if o.Live != "" {
		return nil, nil
	}
	dir := filepath.Dir(o.Prefix + "x")
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	var logs []string
	for _, f := range files {
		path := filepath.Join(dir, f.Name())
		if strings.HasPrefix(path, filepath.Clean(o.Prefix)) && strings.HasSuffix(path, ".jsonl") {
			logs = append(logs, path)
		}
	}
	return logs, nil
}
