package conform

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"time"

	"ibwitness/agent"
	"ibwitness/cq"
	"ibwitness/fabricagent"
	"ibwitness/fabricagent/sim"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier"
	"ibwitness/wqe"
)

// epoch is when a run begins, in nanoseconds since the Unix epoch: 2026-01-01 00:00 UTC.
const epoch = 1_767_225_600_000_000_000

// Windows in simulated time, nanoseconds.
const (
	ackWindow  = int64(10 * time.Millisecond) // run.window
	endWindow  = int64(time.Second)           // in which a request that has failed completes
	longWindow = int64(20 * time.Second)
)

// RunOptions steer the runs of tests.
type RunOptions struct {
	// Sample has a test of all pairs of ports take the corners and 200 pairs by chance: for switches of many ports.
	Sample bool
	// StartPSN, where not nil, is the first PSN of both ends of each connection; else it comes by chance from the id of the test.
	StartPSN *packet.PSN
	// Stop, where not nil, is asked now and then whether to end tests in real time: what they have not judged is inconclusive.
	Stop func() bool
}

// run is a test that runs.
type run struct {
	test     *Test
	opt      RunOptions
	result   *Result
	clock    *sim.Clock
	began    int64 // by the clock
	live     *line // of a device in real time; nil: time is simulated
	window   int64 // nanoseconds in which what must come at once has come, and what must not come would have
	jitter   int64 // nanoseconds by which the way of packets varies
	mtu      int   // of the network, bytes
	ways     ways
	net      network
	device   Device                // under test
	dev      *agent.Device         // the verbs of it, on the network
	sides    map[packet.Addr]*side // by its address
	session  *agent.Session
	cm       Communicator // of the device; nil: it has none
	commID   uint32       // newest communication ID of the tester
	commPSN  uint32       // of its QP1
	tester   *tester
	manager  *manager                   // of a test by subnet management packets
	mine     func(f *rule.Finding) bool // reports whether the tester is accused
	conns    []*conn
	sent     []sentLine
	memory   *region
	limits   qp.Limits        // of the device
	profile  verifier.Profile // of its CNPs
	sharedID uint64           // of the newest request of a shared receive queue
	handles  map[wqe.AH]wqe.AddressVector
	asyncs   []cq.Event // what the device has told of that no verb tells
	step     int
	judged   map[string]*judging
	begun    map[int]bool // the steps
	why      string       // why what is not judged is inconclusive, or not applicable
	lacking  bool         // it is not applicable
	problem  error        // of the test itself
	seed     uint64
}

// judging is a Judgement whose frames may not have a number yet.
type judging struct {
	Judgement
	frames []*packet.Packet
}

// sentLine is the line of the log that tells of a packet of the tester, which has a number only when it is at the tap.
type sentLine struct {
	line int
	p    *packet.Packet
}

// halted ends a test before its last step.
type halted struct{}

var ctx = context.Background() // nothing waits on simulated time

// Execute runs a test against a device of its own.
func Execute(t *Test, target *Target, opt RunOptions) *Result {
	r := &run{test: t, opt: opt, clock: sim.NewClock(epoch), began: epoch, window: ackWindow, mtu: 4096, ways: simulated, result: &Result{Test: t, Device: target.Name}, judged: map[string]*judging{}, begun: map[int]bool{}}
	if lacks := target.lacks(t); lacks != "" {
		r.result.Outcome = NotApplicable
		for _, a := range t.Assertions {
			r.result.Judgements = append(r.result.Judgements, Judgement{Assertion: a, Actual: lacks})
		}
		return r.result
	}
	h := fnv.New64a()
	h.Write([]byte(t.ID))
	r.seed = h.Sum64()
	r.body(target)
	r.conclude()
	return r.result
}

// body is initialisation and procedure.
func (r *run) body(target *Target) {
	defer func() {
		if left := recover(); left != nil {
			if _, ok := left.(halted); !ok {
				panic(left)
			}
		}
	}()
	for _, text := range r.test.Setup {
		r.result.Log = append(r.result.Log, Line{Head: true, Text: text})
	}
	switch {
	case target.Subnet != nil:
		r.linkSubnet(target)
	case r.test.Device.managed():
		r.link(target)
	case r.test.cabled:
		r.buildCabled(target)
	case target.Live != nil:
		defer r.hangUp()
		r.buildLive(target.Live)
	default:
		r.build(target)
	}
	r.test.run(r)
}

// at begins a step of the procedure.
func (r *run) at(step int) {
	r.step, r.begun[step] = step, true
	r.result.Log = append(r.result.Log, Line{Time: r.since(), Step: step, Head: true, Text: r.test.Procedure[step-1]})
}

// again goes on in a step that a loop takes several times: the log has its text once.
func (r *run) again(step int) {
	if r.step = step; !r.begun[step] {
		r.at(step)
	}
}

// note adds a line to the log.
func (r *run) note(format string, args ...any) {
	r.result.Log = append(r.result.Log, Line{Time: r.since(), Step: r.step, Text: fmt.Sprintf(format, args...)})
}

func (r *run) since() int64 { return r.now() - r.began }
func (r *run) now() int64   { return r.clock.Now() }

// present is when what the test does now is done: in real time the clock of the run is that of the newest thing that happened, which may be a while ago.
func (r *run) present() int64 {
	if r.live == nil {
		return r.now()
	}
	return max(r.now(), time.Now().UnixNano())
}

// must ends the test where the device refuses what the test cannot do without.
func (r *run) must(err error) {
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		r.inapplicable("the device does not support a verb: %v", err)
	case err != nil:
		r.halt("the device refuses a verb: %v", err)
	}
}

// halt ends the test: what is not judged is inconclusive, and this is why.
func (r *run) halt(format string, args ...any) {
	r.why = fmt.Sprintf(format, args...)
	r.note("the test ends here: %s", r.why)
	panic(halted{})
}

// inapplicable ends the test: the device is not one that it is for, and this is why.
func (r *run) inapplicable(format string, args ...any) {
	r.lacking = true
	r.halt(format, args...)
}

// remark notes what a reader of the report must know, though it fails nothing.
func (r *run) remark(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	r.note("%s", text)
	r.result.Remarks = append(r.result.Remarks, text)
}

// record keeps a frame of the tap, of which the time, the link and the data are given, has the rules judge it, and returns its number.
func (r *run) record(f *fabricagent.Frame) uint64 {
	f.Number = uint64(len(r.result.Frames) + 1)
	r.result.Frames = append(r.result.Frames, *f)
	if _, err := r.session.Frame(f); err != nil {
		r.problem = err
	}
	return f.Number
}

// theirs notes that a frame is of the tester.
func (r *run) theirs(number uint64) {
	if r.manager != nil {
		r.manager.sent[number] = true
	}
	if r.tester != nil {
		r.tester.sent[number] = true
	}
}

// check judges an assertion; it may be judged several times, and the worst counts. It returns ok.
func (r *run) check(id string, ok bool, expected, actual string, frames ...*packet.Packet) bool {
	o := Pass
	if !ok {
		o = Fail
	}
	r.judge(id, o, expected, actual, frames)
	return ok
}

// skip has an assertion be not applicable to the device, unless it is judged.
func (r *run) skip(id, why string) {
	r.judge(id, NotApplicable, "", why, nil)
}

// open has an assertion be inconclusive, unless it has failed.
func (r *run) open(id, why string, frames ...*packet.Packet) {
	r.judge(id, Inconclusive, "", why, frames)
}

func (r *run) judge(id string, o Outcome, expected, actual string, frames []*packet.Packet) {
	a := r.test.Assertion(id)
	if a == nil {
		r.problem = fmt.Errorf("conform: %s judges %s, which it does not have", r.test.ID, id)
		return
	}
	j := r.judged[id]
	if j == nil {
		j = &judging{Judgement: Judgement{Assertion: *a}}
		r.judged[id] = j
	}
	j.Times++
	text := actual
	if o == Fail {
		text = fmt.Sprintf("expected %s, actual %s", expected, actual)
	}
	r.note("%s  %v: %s", id, o, text)
	if j.Times == 1 || o > j.Outcome || o == Pass && j.Outcome == Pass {
		j.Outcome, j.Expected, j.Actual, j.frames = o, expected, actual, frames
	}
}

// until lets simulated time go on until done, or a time has come. The consumer of the device polls without pause.
func (r *run) until(t int64, done func() bool) bool {
	r.poll() // what a verb has completed before it returned
	for {
		if done() {
			return true
		}
		if !r.advance(t) {
			return done()
		}
		r.poll()
	}
}

// advance lets time go on to the next that happens. It is false where nothing does until a time, which has come then.
func (r *run) advance(t int64) bool {
	switch {
	case r.live != nil:
		return r.live.advance(t)
	case r.manager != nil && r.manager.subnet != nil:
		return r.manager.hears(t)
	}
	if next, ok := r.clock.Next(); !ok || next > t {
		r.clock.Run(t)
		return false
	}
	r.clock.Step()
	return true
}

// soon is when what must come at once has come.
func (r *run) soon() int64 { return r.present() + r.window }

// settle lets the time pass in which what must not come would have.
func (r *run) settle() { r.until(r.soon(), func() bool { return false }) }

// wait lets simulated time go on for so many nanoseconds.
func (r *run) wait(d int64) { r.until(r.now()+d, func() bool { return false }) }

// poll takes the completions of all connections.
func (r *run) poll() {
	if r.live != nil {
		r.live.poll()
		return
	}
	for _, c := range r.conns {
		for r.pollOf(c, 8) == 8 {
		}
	}
}

// pollOf takes up to most completions of a connection, and returns how many.
func (r *run) pollOf(c *conn, most int) int {
	into := make([]cq.Completion, most)
	n, err := c.dev.Poll(ctx, c.cq, into)
	r.must(err)
	for _, x := range into[:n] {
		c.completions = append(c.completions, completion{x, r.now()})
		r.note("the device completes %s", completed(&x))
	}
	return n
}

func completed(x *cq.Completion) string {
	s := fmt.Sprintf("request %d: %v", x.ID, x.Status)
	if x.Status == cq.Success {
		s += fmt.Sprintf(", %v, %d bytes", x.Op, x.ByteLen)
	}
	return s
}

// hears takes an event of the device that no verb tells of.
func (r *run) hears(e *cq.Event) {
	r.asyncs = append(r.asyncs, *e)
	if e.Kind == cq.EvAsync {
		r.note("the device tells of event %d, queue pair %#x", e.Async, e.QP.QPN)
	}
	r.teller(e).Tell(e)
}

// event takes a verbs event of the device.
func (r *run) event(e *cq.Event) {
	if _, err := r.session.Event(e); err != nil {
		r.problem = err
	}
}

// region is a region of the device, with its keys.
type region struct {
	pd         wqe.PD
	va         uint64
	lkey, rkey uint32
	next       uint64 // offset of what is not given out
}

// remoteRoom is how many bytes at the end of the region are for the tester's requests.
const remoteRoom = 32 * pmtu

// room returns the offset of n bytes for a request of the device. In the end it gives out the first again.
func (m *region) room(n int) (offset uint64) {
	if m.next+uint64(n) > regionSize-remoteRoom {
		m.next = 0
	}
	offset = m.next
	m.next += uint64(n+63) &^ 63
	return offset
}
