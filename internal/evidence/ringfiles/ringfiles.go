// Package ringfiles writes the packets around findings to a set of pcapng files of bounded size: a flight recorder. Each finding is the comment of its
// packet.
package ringfiles

import (
	"cmp"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"ibwitness/fabricagent"
	"ibwitness/internal/evidence/recorder"
	"ibwitness/internal/view/report"
	"ibwitness/packet"
	"ibwitness/rule"
)

// Options say what is written, and where.
type Options struct {
	Path     string // each file's is this one with a number and the time before its extension
	Size     int64  // bytes of a file, after which the next one is begun
	Files    int    // that are kept
	Packets  int    // of a connection around a finding
	Unproven bool   // also for findings that are not proven
	Events   bool   // also for legal events
	Most     int    // findings of one rule and accused endpoint in a minute; 0: all
	Settle   time.Duration
	Taps     func() []fabricagent.Tap
	Failed   func(error) // takes what keeps it from writing, once until it writes again
}

// Stats counts findings by what became of them.
type Stats struct {
	Written uint64 // with their packets
	Missing uint64 // their packets were no longer kept
	Limited uint64 // there were too many
	Failed  uint64 // the file could not be written
}

// mostAtOnce is how many findings are written at a tick.
const mostAtOnce = 256

// Writer writes the packets around findings. One goroutine calls its methods, but for Stats, which any may.
type Writer struct {
	Options
	kept    *recorder.Recorder
	pending []rule.Finding
	minute  int64
	seen    map[repeat]int
	file    *file
	next    uint64 // number of the next file
	numbers map[report.Place]uint64
	last    map[way]uint64 // the newest frame that was written of a connection, by its directions
	late    []string       // comments on frames that are in the file already, for the next one
	failing bool

	written, missing, limited, failed atomic.Uint64
}

type repeat struct {
	rule    rule.ID
	accused rule.Endpoint
}

// way is a direction of a connection.
type way struct {
	src, dst packet.Addr
	qpn      uint32
}

// New returns a writer of what kept has. The file that an earlier run has left last is mended where that was killed while it wrote.
func New(kept *recorder.Recorder, o Options) (*Writer, error) {
	w := &Writer{Options: o, kept: kept, seen: map[repeat]int{}}
	list, err := existing(o.Path)
	if err != nil {
		return nil, err
	}
	w.next = 1
	if n := len(list); n > 0 {
		w.next = list[n-1].number + 1
		if err := mend(list[n-1].path); err != nil {
			return nil, fmt.Errorf("flight: %w", err)
		}
	}
	return w, nil
}

// Stats returns the counters. It may be called from any goroutine.
func (w *Writer) Stats() Stats {
	return Stats{w.written.Load(), w.missing.Load(), w.limited.Load(), w.failed.Load()}
}

// Found takes findings. Tick writes them.
func (w *Writer) Found(list []rule.Finding) {
	for i := range list {
		f := &list[i]
		if f.Frame == 0 || f.Class == rule.Unproven && !w.Unproven || f.Class == rule.Event && !w.Events {
			continue
		}
		k := repeat{f.Rule, f.Accused}
		if w.seen[k]++; len(w.pending) >= mostAtOnce || w.Most > 0 && w.seen[k] > w.Most {
			w.limited.Add(1)
			continue
		}
		w.pending = append(w.pending, *f)
	}
}

// Tick writes what was found until now, in nanoseconds since the Unix epoch.
func (w *Writer) Tick(now int64) {
	if minute := now / int64(time.Minute); minute != w.minute {
		w.minute = minute
		clear(w.seen)
	}
	if len(w.pending) == 0 {
		return
	}
	err := w.write(now - int64(w.Settle))
	if err != nil {
		w.failed.Add(uint64(len(w.pending)))
		if w.file != nil && w.file.frames == 0 {
			w.close()
		}
	}
	if err != nil && !w.failing && w.Failed != nil {
		w.Failed(err)
	}
	w.failing = err != nil
	w.pending = w.pending[:0]
}

// Close ends the file.
func (w *Writer) Close() { w.close() }

func (w *Writer) close() {
	if w.file != nil {
		w.file.close()
		w.file = nil
	}
}

// write writes the packets around what is pending, but those that are not yet settled: other findings may be about them.
func (w *Writer) write(settled int64) error {
	if w.file == nil {
		w.numbers, w.last, w.late = map[report.Place]uint64{}, map[way]uint64{}, nil
	}
	list, told := w.gather(settled)
	if w.file == nil && len(list) == 0 {
		return nil
	}
	if err := w.begin(list); err != nil {
		return err
	}
	before := uint64(len(w.numbers))
	for i := range list {
		w.numbers[place(&list[i])] = before + uint64(i) + 1
	}
	comments := report.Comments(told, true, func(p report.Place) uint64 { return w.numbers[p] })
	w.comeLate(told, comments, before)
	if err := w.frames(list, comments); err != nil {
		return err
	}
	w.written.Add(uint64(len(told)))
	if w.file.size >= w.Size {
		w.close()
	}
	return nil
}

// begin begins a file where there is none, or again the one that could not be written.
func (w *Writer) begin(list []fabricagent.Frame) error {
	if w.file != nil {
		if w.failing && len(list) > 0 { // a writer that has failed writes nothing more
			return w.file.begin(&w.Options, list[0])
		}
		return nil
	}
	f, err := create(&w.Options, w.next, list[0])
	if err != nil {
		return err
	}
	w.file, w.next = f, f.number+1
	return nil
}

// comeLate keeps for the next frame what findings say of the frames that are in the file already, which are those up to number before.
func (w *Writer) comeLate(told []rule.Finding, comments map[report.Place][]string, before uint64) {
	for i := range told {
		p := report.Place{Tap: told[i].Tap, Frame: told[i].Frame}
		if n := w.numbers[p]; n <= before && len(w.late) < mostAtOnce {
			for _, c := range comments[p] {
				w.late = append(w.late, fmt.Sprintf("of frame %d: %s", n, c))
			}
			delete(comments, p)
		}
	}
}

// frames writes frames with their comments, the first with those that are late.
func (w *Writer) frames(list []fabricagent.Frame, comments map[report.Place][]string) error {
	for i := range list {
		texts := append(comments[place(&list[i])], w.late...)
		w.late = nil
		if err := w.file.frame(&list[i], texts); err != nil {
			for k := range list[i:] {
				delete(w.numbers, place(&list[i+k]))
			}
			return err
		}
		if w.file.frames == 1 { // not before: the disk may be full
			if err := prune(&w.Options); err != nil {
				return err
			}
		}
	}
	return nil
}

// gather returns the frames that are to be written, in the order in which they came, and the findings whose packets are in the file then.
//
// A file is read in its order: of a connection no frame is written after a later one.
func (w *Writer) gather(settled int64) (list []fabricagent.Frame, told []rule.Finding) {
	taken := map[report.Place]bool{}
	newest := map[way]uint64{}
	for i := range w.pending {
		f := &w.pending[i]
		own := report.Place{Tap: f.Tap, Frame: f.Frame}
		if w.numbers[own] > 0 || taken[own] {
			told = append(told, *f)
			continue
		}
		around := w.kept.Around(f, w.Packets)
		around = slices.DeleteFunc(around, func(k fabricagent.Frame) bool { return k.Time >= settled && k.Number > f.Frame })
		after := uint64(0)
		ways := waysOf(around)
		for _, d := range ways {
			after = max(after, w.last[d])
		}
		there := false
		for k := range around {
			p := place(&around[k])
			if around[k].Number > after && w.numbers[p] == 0 && !taken[p] {
				taken[p] = true
				list = append(list, around[k])
			}
			there = there || p == own && taken[p]
		}
		if !there {
			w.missing.Add(1)
			continue
		}
		told = append(told, *f)
		for _, d := range ways {
			newest[d] = max(newest[d], around[len(around)-1].Number)
		}
	}
	for d, n := range newest {
		w.last[d] = max(w.last[d], n)
	}
	slices.SortFunc(list, func(a, b fabricagent.Frame) int {
		return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.Tap, b.Tap))
	})
	return list, told
}

func place(f *fabricagent.Frame) report.Place { return report.Place{Tap: f.Tap, Frame: f.Number} }

// waysOf are the directions of frames.
func waysOf(list []fabricagent.Frame) (ways []way) {
	var p packet.Packet
	for i := range list {
		if fabricagent.Decode(&list[i], &p).IsRDMA() {
			if d := (way{p.Src, p.Dst, p.DestQP}); !slices.Contains(ways, d) {
				ways = append(ways, d)
			}
		}
	}
	return ways
}
