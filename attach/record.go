package attach

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"ibwitness/cq"
	"ibwitness/fabricagent"
	"ibwitness/hcaagent/eventlog"
	"ibwitness/packet"
)

// recording is the frames of a run in a file, as they come, and the verbs events of each device in a log beside it: check judges them as the run did. A nil one records nothing.
type recording struct {
	name       string
	f          *os.File
	w          *fabricagent.Writer
	drops      []uint64
	events     string // what the names of the logs begin with; empty: no events are recorded
	simulation bool
	logs       map[packet.Addr]*savedLog
}

// savedLog is the events of a device in a file.
type savedLog struct {
	name string
	f    *os.File
	b    *bufio.Writer
	w    *eventlog.Writer
}

// record begins the recording that the configuration asks for: its own, or else one beside the report that needs it.
func (r *Run) record() (*recording, error) {
	rec := &recording{name: r.Record, events: r.Record, simulation: !r.unix, logs: map[packet.Addr]*savedLog{}}
	for _, format := range []string{"pcapng", "html"} {
		if name := r.Config.Reports[format]; name != "" && rec.name == "" {
			if rec.name = name + ".frames"; format == "pcapng" {
				rec.events = name
			}
		}
	}
	if rec.name == "" {
		return nil, nil
	}
	var err error
	if rec.f, err = os.Create(rec.name); err != nil {
		return nil, fmt.Errorf("attach: frames cannot be recorded: %w: name a file that can be written", err)
	}
	rec.w = fabricagent.NewRecording(rec.f, "ibwitness", &fabricagent.Recorded{Simulation: !r.unix, Near: r.near, Profile: r.words, Waive: r.Waive})
	if rec.events == "" {
		return rec, nil
	}
	rec.events = strings.TrimSuffix(rec.events, filepath.Ext(rec.events))
	for _, a := range r.near {
		if err := rec.outdate(a); err != nil {
			return nil, errors.Join(err, rec.close(r.now))
		}
	}
	for i, a := range r.devices {
		name := r.HCAs[i].Name
		if name == "" {
			name = a.String()
		}
		if err := rec.addLog(name, a); err != nil {
			return nil, errors.Join(err, rec.close(r.now))
		}
	}
	return rec, nil
}

// log is the file of the log of a device.
func (r *recording) log(device string) string {
	return r.events + "." + strings.NewReplacer("/", "_", ":", "_").Replace(device) + ".jsonl"
}

// outdate has the log of a device that was reset in an earlier run of this name tell of nothing: what is recorded now takes the place of that run. Anything else that has its name stays.
func (r *recording) outdate(device packet.Addr) error {
	name := r.log(device.String())
	text, err := os.ReadFile(name)
	if err != nil || !r.simulation { // by the clock of captures a log that tells of nothing shows that nothing was posted
		return nil
	}
	first, rest, _ := bytes.Cut(text, []byte("\n"))
	var head struct{ Ev, GID string }
	if json.Unmarshal(first, &head) != nil || head.Ev != "device" || head.GID != device.String() || len(rest) == 0 {
		return nil
	}
	if err := os.WriteFile(name, append(first, '\n'), 0o666); err != nil {
		return fmt.Errorf("attach: the log %s of an earlier run cannot be overwritten: %w: remove it, or record under another name", name, err)
	}
	return nil
}

func (r *recording) addLog(name string, device packet.Addr) (err error) {
	l := &savedLog{name: r.log(name)}
	for _, other := range r.logs {
		if other.name == l.name {
			return fmt.Errorf(`attach: "hcas": the events of two would be recorded in %s: give each a name of its own`, l.name)
		}
	}
	if l.f, err = os.Create(l.name); err != nil {
		return fmt.Errorf("attach: events cannot be recorded: %w: name a file that can be written", err)
	}
	r.logs[device] = l
	l.b = bufio.NewWriterSize(l.f, 1<<16)
	l.w, err = eventlog.NewRecording(l.b, device, r.simulation)
	return l.failed(err)
}

func (l *savedLog) failed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("attach: %s: %w", l.name, err)
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

// event records an event of a device. One that is no HCA of the configuration has a log as soon as it was reset.
func (r *recording) event(device packet.Addr, e *cq.Event) error {
	if r == nil || r.events == "" {
		return nil
	}
	if r.logs[device] == nil {
		if err := r.addLog(device.String(), device); err != nil {
			return err
		}
	}
	l := r.logs[device]
	return l.failed(l.w.Write(e))
}

func (r *recording) failed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("attach: %s: %w", r.name, err)
}

// close ends the files, at the time when the run ended.
func (r *recording) close(end int64) error {
	if r == nil || r.f == nil {
		return nil
	}
	var err error
	if len(r.drops) > 0 {
		err = r.w.End(end)
	}
	err = r.failed(errors.Join(err, r.w.Flush(), r.f.Close()))
	r.f = nil
	for _, l := range r.logs {
		var flushed error
		if l.b != nil {
			flushed = l.b.Flush()
		}
		err = errors.Join(err, l.failed(errors.Join(flushed, l.f.Close())))
	}
	return err
}

// remove removes the file where only reports needed it.
func (r *recording) remove() error {
	if r == nil || !strings.HasSuffix(r.name, ".frames") {
		return nil
	}
	return errors.Join(r.close(0), os.Remove(r.name))
}
