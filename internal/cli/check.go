package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/hcaagent"
	"ibwitness/hcaagent/eventlog"
	"ibwitness/internal/view/report"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/verifier"
)

type checkCommand struct {
	Files      []string  `arg:"" name:"file" complete:"file" help:"Captures: pcap, pcapng or ERF, also compressed with gzip or zstd; - is standard input. Several files are several taps of one run."`
	Near       []address `placeholder:"ADDRESS" help:"The tap is near this endpoint (IP address, GID or lid:NUMBER): what it shows leaving there was sent, what it shows arriving did arrive. Repeatable. Default: the tap position is unknown."`
	Events     []string  `placeholder:"LOG" sep:"none" complete:"file" help:"Verbs events of an endpoint, JSON lines (docs/events.md): work requests and completions are compared with the packets. Repeatable, one an endpoint."`
	Waive      []string  `placeholder:"WAIVERS" sep:"none" complete:"file" help:"Violations that are no errors, and why (docs/verdicts.md): JSON, a list or the waive of a configuration (docs/attach.md). They are shown as waived, and do not fail the run. Repeatable. Default: what recordings of attached runs say."`
	Errors     []string  `placeholder:"FILE" sep:"none" complete:"file" help:"What a program or kernel printed when it failed (NCCL, UCX, libfabric, SPDK, dmesg): each line that names a queue pair, an address or a status is put beside the connection and what happened on it. Repeatable."`
	Simulation bool      `help:"Captures and event logs are of one simulation: one clock stamps events, and frames at their last byte, and timers are those of hardware. Default: if the captures, as recorded by an attached run (docs/attach.md), or all event logs (docs/events.md) say so."`
	Format     string    `enum:"${formats}" default:"text" placeholder:"FORMAT" help:"Format of the report: text, json (one object a line), or for CI junit or sarif. Default: ${default}."`
	All        bool      `help:"Show every finding, warning, connection and rule."`
	FailOn     string    `name:"fail-on" enum:"error,warning,incident,never" default:"error" placeholder:"WHAT" help:"What makes the exit status 1: error (violations of severity error), warning (warnings too), incident (incidents too, docs/incidents.md) or never. Default: ${default}."`
	Annotate   string    `placeholder:"OUT.pcapng" complete:"file" help:"Copy the captures to this pcapng, with each finding as a comment of its packet, for Wireshark; with --all events too. Not from standard input."`
	HTML       string    `name:"html" placeholder:"OUT.html" complete:"file" help:"Write the report as a page too: one file that needs nothing else, with findings, ladders of packets, connections and rules."`
	Trace      string    `placeholder:"OUT.json" complete:"file" help:"Write a trace for ui.perfetto.dev too: the messages of each queue pair, how long they waited, what was sent over time, findings, and what happened."`
	Messages   int       `name:"trace-messages" default:"200000" placeholder:"N" help:"How many messages a trace has, the first ones. Default: ${default}."`
	Web        bool      `help:"Show the report as a page in the browser too, until Ctrl-C."`
	Listen     string    `default:"127.0.0.1:0" placeholder:"ADDRESS" help:"Where --web serves the page. Default: a free port of this machine, only for this machine."`
	Latency    bool      `help:"Measure how long acknowledgements and retransmissions take at the tap."`
	Workers    int       `placeholder:"N" help:"Cores to use. Default: all. The result does not depend on it."`
	Memory     int       `placeholder:"MIB" help:"Memory of the program, MiB. Where it gets short, the connections that were idle longest are given up, and findings like many others; the report says so. Default: half of the machine's."`
	Quiet      bool      `short:"q" help:"Show no progress."`

	Profile profileFlags `embed:""`

	Covered coverageFlags `embed:""`
}

// Help is below the flags' summary in --help.
func (checkCommand) Help() string {
	return `Reads captures of InfiniBand, RoCEv1 or RoCEv2 traffic and verifies each packet: what it should have been, what it was, who is to blame.

A violation is proven. What the capture does not prove (packets that it missed, a connection joined in mid-stream, a tap in the middle of the network) is shown as not proven and does not fail the run. Retransmissions, NAKs and the like are legal: they are counted as events.

If the capture was taken at one of the endpoints, say so with --near: a packet that is missing there was not sent, and that can be proven.

Examples:

    ibwitness check trace.pcapng
    ibwitness check --near 10.0.0.1 --near fe80::1 trace.pcap.gz
    ibwitness check --profile adaptive-retransmission,cnp-per-ip=4us trace.pcap
    ibwitness check trace.pcap --events client.jsonl --events server.jsonl
    ibwitness check --format json trace.pcap | jq 'select(.class=="violation")'
    ibwitness check --fail-on warning nightly-*.pcap
    ibwitness check --html report.html trace.pcap

Exit status: 0 nothing violated; 1 violations of severity error (see --fail-on); 2 could not judge: unreadable input, no InfiniBand or RoCE packet in it, bad usage, interrupted. A file that was cut in its last record is judged up to there, and exits as what was judged.`
}

// address is an endpoint address on the command line.
type address packet.Addr

// UnmarshalText reads what packet.ParseAddr reads.
func (a *address) UnmarshalText(text []byte) error {
	addr, err := packet.ParseAddr(string(text))
	if err != nil {
		return fmt.Errorf("%q is no address: give an IP address, a GID or lid:NUMBER", text)
	}
	*a = address(addr)
	return nil
}

// endpoints are the addresses that a flag gives.
func endpoints(list []address) (addrs []packet.Addr) {
	for _, a := range list {
		addrs = append(addrs, packet.Addr(a))
	}
	return addrs
}

// Run verifies the files and reports.
func (c *checkCommand) Run(s *session) error {
	failOn, err := report.ParseFailOn(c.FailOn)
	if err != nil {
		return err
	}
	if err := c.check(); err != nil {
		return err
	}
	short, err := c.short()
	if err != nil {
		return err
	}
	if _, err := c.Profile.profile(); err != nil {
		return err
	}
	waive, err := c.waivers()
	if err != nil {
		return err
	}
	said, err := c.errorLogs()
	if err != nil {
		return err
	}
	shown := s.options(c.All)
	timed := c.times() || c.Memory == 0 && quick(c.Files)
	shown.Untimed, shown.Paces = !timed, timed && !c.times()
	sink, err := report.New(c.Format, shown)
	if err != nil {
		return err
	}
	ctx, stop := s.until(syscall.SIGHUP)
	defer stop()

	reading, restore := interruptible(ctx, c.Files)
	defer restore()

	run := &report.Run{Result: &agent.Result{}, FailOn: failOn, Errors: said}
	src, err := open(reading, c.Files)
	run.Problems, run.Interrupted = problems(err)
	if src == nil {
		return c.unjudged(s, sink, run)
	}
	defer src.Close()

	opt := agent.Options{Workers: c.Workers, Latencies: c.Latency, Timing: timed, Messages: c.kept(), Coverage: c.Covered.Coverage != "", Short: short}
	if len(c.Events) > 0 {
		defer rarely()()
	}
	if opt.Events, err = c.logs(ctx); err != nil {
		if ctx.Err() != nil {
			run.Interrupted = true
			return c.unjudged(s, sink, run)
		}
		return err
	}
	recorded, err := c.recorded(s, src, &opt)
	if err == nil && len(c.Waive) == 0 {
		waive, err = rule.NewWaivers(recorded.Waive)
	}
	if err != nil {
		return err
	}
	c.verify(reading, s, src, opt, run)
	run.Result.Waive(waive)
	run.Interrupted = run.Interrupted || ctx.Err() != nil
	return c.tell(ctx, s, sink, run)
}

// check says what is wrong with the flags.
func (c *checkCommand) check() error {
	if c.Workers < 0 || c.Workers > agent.MaxWorkers {
		return fmt.Errorf("cli: --workers %d: give 0 for all cores, or how many, at most %d", c.Workers, agent.MaxWorkers)
	}
	if c.Messages < 1 {
		return fmt.Errorf("cli: --trace-messages %d: give how many messages the trace may have, at least 1", c.Messages)
	}
	return errors.Join(c.annotatable(), c.distinct())
}

// logs opens the logs of verbs events. It may wait for a pipe, until the context ends.
func (c *checkCommand) logs(ctx context.Context) (list []*hcaagent.Log, err error) {
	for _, name := range c.Events {
		l, err := await(ctx, func() (*hcaagent.Log, error) { return eventlog.Open(name) })
		if err := cmp.Or(ctx.Err(), err); err != nil {
			return nil, err
		}
		list = append(list, l)
	}
	return list, nil
}

// verify runs the agent, and notes in run what it found and what was wrong with the input.
func (c *checkCommand) verify(ctx context.Context, s *session, src fabricagent.Source, opt agent.Options, run *report.Run) {
	bar := newProgress(s, src, c.Quiet)
	opt.Progress = bar.update
	result, err := agent.Run(ctx, src, opt)
	bar.clear()
	if result != nil {
		run.Result = result
	}
	found, interrupted := problems(err)
	run.Problems = append(run.Problems, found...)
	run.Problems = append(run.Problems, ofLogs(opt.Events)...)
	run.Problems = append(run.Problems, report.OtherLogs(run.Result)...)
	run.Interrupted = run.Interrupted || interrupted
}

// tell reports a run, in all ways that the flags ask for.
func (c *checkCommand) tell(ctx context.Context, s *session, sink report.Sink, run *report.Run) error {
	// On a terminal the text report says the same a line further down.
	if c.Format != "text" || !s.outTerminal || !s.errTerminal {
		s.warn(run)
	}
	s.warnNear(c.Near, run.Result)
	s.status = run.ExitStatus()
	err := sink.Report(s.stdout, run)
	if ctx.Err() != nil {
		return err
	}
	if c.Annotate != "" {
		err = errors.Join(err, c.annotate(run.Result))
	}
	err = errors.Join(err, c.writeTrace(s, run), c.Covered.write(c.Files[0], run.Result))
	return errors.Join(err, c.page(ctx, s, run))
}

// recorded fills in what the flags, or else the captures and logs themselves, say of how they were taken, and returns what captures say.
func (c *checkCommand) recorded(s *session, src fabricagent.Source, opt *agent.Options) (run fabricagent.Recorded, err error) {
	if rec, ok := src.(fabricagent.Recording); ok {
		if run, ok = rec.Recorded(); run.Garbled != nil {
			s.log.Warn().Msgf("%s: what the recording says of its run cannot be understood, and is ignored (%v): say with --simulation, --near, --profile and --waive how it was recorded",
				strings.Join(c.Files, ", "), run.Garbled)
		}
		if ok && !c.Quiet {
			s.log.Info().Msgf("%s: recorded in a run with %v", strings.Join(c.Files, ", "), &run)
		}
	}
	logsSay := len(opt.Events) > 0
	for _, l := range opt.Events {
		logsSay = logsSay && l.Simulation
	}
	opt.OneClock = c.Simulation || run.Simulation || logsSay
	opt.Near = run.Near
	if len(c.Near) > 0 {
		opt.Near = endpoints(c.Near)
	}
	words := c.Profile.Profile
	if len(words) == 0 {
		words = run.Profile
	}
	if opt.OneClock {
		words = append([]string{"hardware-timers"}, words...)
		for _, l := range opt.Events {
			l.Exact = true
			if l.Addr.IsZero() {
				return run, fmt.Errorf(`cli: --events %s does not say which endpoint it is of, which it must in a simulation: give its "gid" in the first line`, l.Name)
			}
		}
	}
	opt.Profile, err = verifier.ParseProfile(words...)
	return run, err
}

// short limits the memory of the process, and returns what tells when it gets short; nil: never.
func (c *checkCommand) short() (func() bool, error) {
	size := c.Memory
	if err := sized("--memory", size); err != nil {
		return nil, err
	}
	if size == 0 {
		size = int(half())
	}
	const least = (programSize + leastHeap) >> 20 * 8 / 7
	switch heap := int64(size)<<20/8*7 - programSize; { // the collector cannot keep up with a file that is read from memory
	case c.Memory == 0 && heap < leastHeap: // too small a machine for a limit to be of use, or not known
		return nil, nil
	case heap < leastHeap:
		return nil, fmt.Errorf("cli: --memory %d is not enough for the program: give it %d at least", c.Memory, least)
	default:
		return newMemory(heap).short, nil
	}
}

// distinct reports what would be overwritten.
func (c *checkCommand) distinct() error {
	return distinct(reads("the capture", c.Files...), reads("--events", c.Events...), reads("--waive", c.Waive...), reads("--errors", c.Errors...), writes("--annotate", c.Annotate), writes("--html", c.HTML), writes("--trace", c.Trace),
		writes("--coverage", c.Covered.Coverage))
}

// unjudged reports a run that has judged nothing.
func (c *checkCommand) unjudged(s *session, sink report.Sink, run *report.Run) error {
	s.warn(run)
	s.status = report.ExitUnjudged
	if c.Format == "text" {
		return nil // the log has said it all
	}
	return sink.Report(s.stdout, run)
}

// open opens the inputs. It may wait for standard input, and a user who interrupts that wants to be heard.
func open(ctx context.Context, files []string) (fabricagent.Source, error) {
	return await(ctx, func() (fabricagent.Source, error) { return fabricagent.Open(files) })
}

// await returns what f does, or the error of the context where that ends before: f may wait for a pipe that nobody writes to.
func await[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		v, err := f()
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// problems sorts what went wrong into what the user is told.
func problems(err error) (list []report.Problem, interrupted bool) {
	if err == nil {
		return nil, false
	}
	if errors.Is(err, context.Canceled) {
		interrupted = true
	}
	for _, fe := range fabricagent.FileErrors(err) {
		if errors.Is(fe, os.ErrDeadlineExceeded) {
			interrupted = true // by interruptible
			continue
		}
		list = append(list, report.Problem{Message: plain(fe), Kept: fe.Kind == fabricagent.CutShort})
	}
	if len(list) == 0 && !interrupted {
		list = append(list, report.Problem{Message: plain(err)})
	}
	return list, interrupted
}

// warn logs what was wrong with the input.
func (s *session) warn(run *report.Run) {
	for _, p := range run.Problems {
		if p.Kept {
			s.log.Warn().Msg(p.Message)
		} else {
			s.log.Error().Msg(p.Message)
		}
	}
	if run.Interrupted {
		s.log.Warn().Msg("interrupted")
	}
}

// warnNear tells the user of a --near that names nobody.
func (s *session) warnNear(near []address, r *agent.Result) {
	if len(r.Connections) == 0 {
		return
	}
	for _, a := range near {
		seen := false
		for i := range r.Connections {
			for _, e := range r.Connections[i].Ends {
				seen = seen || e.Addr == packet.Addr(a)
			}
		}
		if !seen {
			s.log.Warn().Msgf("--near %v: no connection has this endpoint; the report's table of connections names those that there are",
				packet.Addr(a))
		}
	}
}

// ofLogs are what is wrong with logs of verbs events, as far as they were read.
func ofLogs(logs []*hcaagent.Log) (list []report.Problem) {
	for _, l := range logs {
		if l.Cut {
			list = append(list, report.Problem{Message: l.Name + ": the log breaks off in its last line; read up to there", Kept: true})
		}
		if l.Err == nil {
			continue
		}
		if err := l.Err(); err != nil {
			list = append(list, report.Problem{Message: plain(err)})
		}
	}
	return list
}
