package scenario

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"ibwitness/cq"
	"ibwitness/fabricagent/sim"
	"ibwitness/hcaagent"
	"ibwitness/hcaagent/soft"
	"ibwitness/packet"
)

// Epoch is when a run begins, in nanoseconds since the Unix epoch: 2026-01-01 00:00 UTC.
const Epoch = 1_767_225_600_000_000_000

// Run is a scenario that runs: pull it through Source, or Step to the end.
type Run struct {
	*Scenario
	Clock  *sim.Clock
	Fabric *sim.Fabric
	// Source delivers what the taps see, and drives the run.
	Source *sim.Recorder

	log      func(hca string, e *cq.Event)
	keep     bool
	payload  int
	live     bool
	valid    bool
	adapter  func(soft.Options) (adapter, error)
	logs     map[string]*hcaagent.Log
	devices  map[string]*device
	qps      map[string]*queuePair
	srqs     map[string]*sharedQueue
	link     *sim.Link // where it is a native one
	began    int64     // by Clock
	player   *player   // of a real adapter; nil: all are in software, on simulated time
	problems []error
	strayed  map[string]int
	meter    meter
}

// Options are what a run is started with.
type Options struct {
	// Event, where not nil, is told of each verbs event of each HCA, by its name.
	Event func(hca string, e *cq.Event)
	// Sinks see what the taps see, beside Source.
	Sinks []sim.Sink
	// Keep has the run keep all events, for Logs.
	Keep bool
	// Live has Logs hand over the events as they come, and the run keep none.
	Live bool

	// Real, where not nil, is a real adapter in place of one of the scenario: all is in real time then.
	Real *Live

	valid   bool                                // work that is invalid does not reach the adapters
	adapter func(soft.Options) (adapter, error) // nil: soft.New
	payload int                                 // bytes of each message that are kept, where not keptPayload
}

// Start builds what the scenario describes and plans its work.
func (s *Scenario) Start(opt Options) (*Run, error) {
	r := &Run{
		Scenario: s, Clock: sim.NewClock(Epoch), log: opt.Event, keep: opt.Keep, payload: cmp.Or(opt.payload, keptPayload), live: opt.Live, valid: opt.valid, adapter: opt.adapter, logs: map[string]*hcaagent.Log{},
		devices: map[string]*device{}, qps: map[string]*queuePair{}, srqs: map[string]*sharedQueue{}, strayed: map[string]int{},
		meter: meter{most: s.limit(), last: map[kindSent]int{}}, began: Epoch,
	}
	if r.adapter == nil {
		r.adapter = softAdapter
	}
	if l := opt.Real; l != nil {
		if err := l.prepare(s); err != nil {
			return nil, err
		}
		r.player = &player{Live: l, r: r, told: make(chan cq.Event, mostTold)}
		r.adapter = r.player.place
		r.Clock.Run(time.Now().UnixNano())
	}
	if err := r.buildLink(); err != nil {
		return nil, fmt.Errorf("scenario: %w", err)
	}
	r.Source = sim.NewRecorder(s.File, r.Step)
	for _, sink := range append([]sim.Sink{r.Source}, opt.Sinks...) {
		if err := r.tap(sink); err != nil {
			return nil, fmt.Errorf("scenario: %w", err)
		}
	}
	for _, build := range []func() error{r.buildDevices, r.buildQueues, r.connect} {
		if err := build(); err != nil {
			return nil, err
		}
	}
	if r.player != nil {
		r.Clock.Run(time.Now().UnixNano())
		r.began = r.Clock.Now()
		r.player.last = r.began
	}
	if r.link != nil {
		r.link.Up()
		for _, b := range s.Bounces {
			r.bounce(b)
		}
	}
	for i := range s.Errors {
		r.plant(&s.Errors[i])
	}
	for i := range s.Work {
		r.plan(&s.Work[i])
	}
	return r, nil
}

// tap brings a sink to all taps.
func (r *Run) tap(sink sim.Sink) error {
	for _, name := range r.Taps {
		var err error
		if name == Middle {
			err = r.Fabric.TapMiddle(name, sink)
		} else {
			err = r.Fabric.TapEnd(r.port(r.HCA(name)), name, sink)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Logs returns what the consumers of all HCAs have done and been told so far, where they are kept, or will have where they are handed over.
func (r *Run) Logs() (list []*hcaagent.Log) {
	for _, h := range r.HCAs {
		list = append(list, r.logs[h.Name])
	}
	return list
}

// Finish brings the run to its end.
func (r *Run) Finish() {
	for r.Step() {
	}
}

// Step goes on to what happens next, and is false at the end.
func (r *Run) Step() bool {
	if r.player != nil {
		return !r.meter.over() && r.player.step()
	}
	next, ok := r.Clock.Next()
	return ok && next <= r.began+r.Until && !r.meter.over() && !r.rests() && r.Clock.Step()
}

// Unfinished reports whether something was left to happen after the limits of time and packets.
func (r *Run) Unfinished() bool {
	_, more := r.Clock.Next()
	return more && !r.rests()
}

// Problems returns what the devices refused.
func (r *Run) Problems() error { return errors.Join(r.problems...) }

// Strayed returns how many frames of an HCA show its fault, and on how many occasions it did what it should not.
func (r *Run) Strayed(hca string) (frames int, occasions uint64) {
	occasions = r.devices[hca].adapter.Shown()
	if r.link != nil {
		occasions += r.link.Shown(r.index(r.HCA(hca)))
	}
	return r.strayed[hca], occasions
}

// NearAddrs returns the addresses of the HCAs that the taps are near.
func (r *Run) NearAddrs() (list []packet.Addr) {
	for _, name := range r.Near {
		list = append(list, r.HCA(name).Addr)
	}
	return list
}

// wrong is an error that belongs to a line.
func (r *Run) wrong(line int, err error) error {
	if err == nil {
		return nil
	}
	return &LineError{Package: "scenario", File: r.File, Line: line, Message: err.Error()}
}

// refused notes that a device refused something, but not without end.
func (r *Run) refused(line int, err error) {
	if err != nil && len(r.problems) < 20 {
		r.problems = append(r.problems, r.wrong(line, err))
	}
}

var ctx = context.Background() // nothing waits on virtual time

// Limit returns the time after which the run ends.
func (r *Run) Limit() time.Duration { return time.Duration(r.Until) }
