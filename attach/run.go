package attach

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/hcaagent/eventlog"
	"ibwitness/packet"
	"ibwitness/rule"
)

// Begin is the time that reports show for the beginning of a simulation: the time of day is that of the simulation.
var Begin = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// Errors of calls.
var (
	ErrEnded = errors.New("attach: the run has ended: begin another one")
	ErrTime  = errors.New("attach: time goes back")
)

// Run is one run: what a testbench has handed over, and what was found.
type Run struct {
	settings
	session *agent.Session
	taps    []tap
	numbers map[string]*uint64  // frames, together as in a recording; with Unix times by name of tap, as in captures
	hcas    []*eventlog.Decoder // nil: no line has come of it
	named   []bool              // an event has come of it
	lines   []int               // that its log has, or would have, after the one that says whose it is
	events  uint64              // that have come
	last    struct {
		at     int64
		device packet.Addr
	} // of them
	frame   fabricagent.Frame
	icrc    sealer
	now     int64 // of the newest call
	errors  int
	told    map[uint32]told // by number of the finding
	byRule  map[rule.ID]int // how many were told
	pending []Finding
	taken   int    // of pending
	bad     uint64 // frames that their sender gave up
	rec     *recording
	result  *agent.Result
	left    []Outstanding // when the run ended
}

// tap is a place where frames are seen.
type tap struct {
	TapConfig
	near         []packet.Addr
	seal, absent bool // it has no right ICRC yet, and not even its bytes
	number       *uint64
	seen         uint64 // frames
}

// Open begins a run with a configuration in JSON, which may be empty.
func Open(config []byte) (*Run, error) {
	c, err := parse(config)
	if err != nil {
		return nil, err
	}
	s, taps, err := settle(c)
	if err != nil {
		return nil, err
	}
	r := &Run{
		settings: s, session: agent.NewSession(agent.Options{Near: s.near, Profile: s.profile, Unordered: true, OneClock: !s.unix, Coverage: true}), hcas: make([]*eventlog.Decoder, len(s.devices)),
		named: make([]bool, len(s.devices)), lines: make([]int, len(s.devices)),
		numbers: map[string]*uint64{}, told: map[uint32]told{}, byRule: map[rule.ID]int{},
	}
	if !r.unix {
		r.now = Begin.UnixNano()
	}
	if r.rec, err = r.record(); err != nil {
		return nil, err
	}
	for _, t := range taps {
		if _, err := r.addTap(t); err != nil {
			return nil, errors.Join(err, r.rec.close(r.now))
		}
	}
	return r, nil
}

// AddTap adds a tap, described in JSON as an element of "taps" of the configuration, and returns its number.
func (r *Run) AddTap(config []byte) (int, error) {
	var c TapConfig
	if err := strict(config, &c); err != nil {
		return 0, fmt.Errorf("attach: tap: %w", err)
	}
	t, err := c.tap()
	if err != nil {
		return 0, err
	}
	for _, a := range t.near {
		if !slices.Contains(r.near, a) {
			return 0, fmt.Errorf("attach: tap %q is near %v, and no tap of the configuration was: name it there", t.Name, a)
		}
	}
	return r.addTap(t)
}

func (r *Run) addTap(t tap) (int, error) {
	if r.result != nil {
		return 0, ErrEnded
	}
	made := fabricagent.Tap{File: t.Name, Interface: t.Interface, Link: fabricagent.LinkType(t.Link), SnapLen: t.SnapLen, Speed: t.Speed}
	n, err := r.session.Tap(made)
	if err != nil {
		return 0, err
	}
	file := ""
	if r.unix {
		file = t.Name
	}
	if t.number = r.numbers[file]; t.number == nil {
		t.number = new(uint64)
		r.numbers[file] = t.number
	}
	r.taps = append(r.taps, t)
	return int(n), r.rec.addTap(made)
}

// Tap is the number of a tap by its name.
func (r *Run) Tap(name string) (int, error) {
	for i := range r.taps {
		if r.taps[i].Name == name {
			return i, nil
		}
	}
	return 0, fmt.Errorf("attach: no tap has the name %q: the configuration names %s", name, named(r.taps, func(t tap) string { return t.Name }))
}

// HCA is the number of an HCA by its name.
func (r *Run) HCA(name string) (int, error) {
	for i := range r.HCAs {
		if r.HCAs[i].Name == name {
			return i, nil
		}
	}
	return 0, fmt.Errorf("attach: no HCA has the name %q: the configuration names %s", name, named(r.HCAs, func(h HCAConfig) string { return h.Name }))
}

// named lists the names of what a configuration has, for a message.
func named[T any](list []T, name func(T) string) string {
	names := make([]string, len(list))
	for i := range list {
		names[i] = strconv.Quote(name(list[i]))
	}
	return cmp.Or(strings.Join(names, ", "), "none")
}

// Frame verifies a frame that a tap saw, and returns how many errors it has shown. The data is not kept. wire is its length where it was cut; 0: that of data.
func (r *Run) Frame(tap int, way packet.Way, at uint64, data []byte, wire int) (int, error) {
	now, err := r.at(tap, at)
	if err != nil {
		return 0, err
	}
	t := &r.taps[tap]
	if wire < len(data) {
		wire = len(data)
	}
	if wire > 1<<30 {
		return 0, fmt.Errorf("attach: tap %q: a frame of %d bytes: the longest that any link has are some thousands", t.Name, wire)
	}
	*t.number++
	t.seen++
	f := &r.frame
	*f = fabricagent.Frame{Time: now, Number: *t.number, Tap: uint16(tap), Link: fabricagent.LinkType(t.Link), Way: way, Len: uint32(wire), Data: data}
	if t.seal {
		r.icrc.seal(f, t.absent)
	}
	lost := r.rec.write(f)
	list, err := r.session.Frame(f)
	if lost != nil {
		err = errors.Join(err, lost) // it is judged all the same
	}
	if len(list) == 0 {
		return 0, err // as nearly always
	}
	return r.take(list), err
}

// at checks tap and time of a call, and returns the time for the engine.
func (r *Run) at(tap int, at uint64) (int64, error) {
	if r.result != nil {
		return 0, ErrEnded
	}
	if uint(tap) >= uint(len(r.taps)) {
		return 0, fmt.Errorf("attach: there is no tap %d: there are %d, from 0 on", tap, len(r.taps))
	}
	return r.time(at)
}

// time is a time of the caller for the engine.
func (r *Run) time(at uint64) (int64, error) {
	if r.unix {
		r.now = max(r.now, int64(at))
		return int64(at), nil
	}
	now := beginning + int64(at/1000)
	if now < r.now {
		return 0, fmt.Errorf("%w: %d ps is before %d ps, that of the call before: hand over frames at their end, in the order of time", ErrTime, at, r.stamp(r.now))
	}
	r.now = now
	return now, nil
}

var beginning = Begin.UnixNano()

// stamp is a time of the engine for the caller.
func (r *Run) stamp(ns int64) uint64 {
	switch {
	case r.unix:
		return uint64(ns)
	case ns < beginning:
		return 0
	}
	return uint64(ns-beginning) * 1000
}

// Bad says that a tap saw a frame that its sender gave up: it is not judged.
func (r *Run) Bad(tap int, at uint64) error {
	_, err := r.at(tap, at)
	if err == nil {
		r.bad++
	}
	return err
}

// Lost says that the monitor of a tap missed n frames.
func (r *Run) Lost(tap int, n uint64) (int, error) {
	if _, err := r.at(tap, r.stamp(r.now)); err != nil {
		return 0, err
	}
	list, err := r.session.Lost(uint16(tap), n)
	return r.take(list), errors.Join(err, r.rec.lost(tap, n, r.now))
}

// Advance says that nothing comes before a time.
func (r *Run) Advance(at uint64) (int, error) {
	if r.result != nil {
		return 0, ErrEnded
	}
	now, err := r.time(at)
	if err != nil {
		return 0, err
	}
	list, err := r.session.Advance(max(now, r.now))
	return r.take(list), err
}

// Reset says that the device at a tap was reset.
func (r *Run) Reset(tap int, at uint64) (int, error) {
	now, err := r.at(tap, at)
	if err != nil {
		return 0, err
	}
	t := &r.taps[tap]
	if len(t.near) == 0 {
		return 0, fmt.Errorf(`attach: tap %q is near nobody, so that no device can be reset there: give its addresses as "near"`, t.Name)
	}
	list, err := r.session.Advance(max(now, r.now))
	n := r.take(list)
	for _, a := range t.near {
		if err != nil {
			break
		}
		list, err = r.reset(a)
		n += r.take(list)
	}
	return n, err
}

// Covered is how often a rule was exercised and violated until now.
func (r *Run) Covered(id string) (exercised, violated uint64, err error) {
	n, ok := rule.Lookup(id)
	if !ok {
		return 0, 0, fmt.Errorf("attach: there is no rule %q: ibwitness rules lists them", id)
	}
	var c rule.Count
	if r.result != nil {
		c = r.result.Cover[n]
	} else {
		c = r.session.Cover(n)
	}
	return c.Exercised, c.Violated, nil
}

// Errors is how many errors were found until now.
func (r *Run) Errors() int { return r.errors }

// End ends the run at a time, judges what is still open, and writes the reports of the configuration. It returns the errors of the whole run. With Unix times, 0 ends it with
// the newest frame, as a capture does.
func (r *Run) End(at uint64) (int, error) {
	if r.result != nil {
		return r.errors, ErrEnded
	}
	now, err := r.time(at)
	if err == nil && !(r.unix && at == 0) {
		var list []rule.Change
		list, err = r.session.Advance(max(now, r.now))
		r.take(list)
	}
	r.left = r.Outstanding()
	result, list, ended := r.session.End()
	r.take(list)
	r.result = result
	result.Waive(r.waivers)
	if r.bad > 0 {
		result.NotJudged = append(result.NotJudged, agent.Note{Reason: "frames that their sender gave up", Count: r.bad})
	}
	return r.errors, errors.Join(err, ended, r.rec.close(r.now), r.reports())
}

// Close ends a run that was not ended, and gives up what it holds.
func (r *Run) Close() error {
	var err error
	if r.result == nil {
		_, err = r.End(r.stamp(r.now))
	}
	return errors.Join(err, r.rec.remove())
}

// Now is the time of the newest call, as the caller gave it.
func (r *Run) Now() uint64 { return r.stamp(r.now) }
