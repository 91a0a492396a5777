package cli

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"

	"ibwitness/agent"
	"ibwitness/cq"
	"ibwitness/fabricagent/sim"
	"ibwitness/hcaagent/eventlog"
	"ibwitness/hcaagent/soft"
	"ibwitness/internal/scenario"
	"ibwitness/internal/view/report"
)

type simulateCommand struct {
	Scenario string  `arg:"" name:"scenario" optional:"" complete:"file" help:"Scenario file; examples/ has one for each situation."`
	Write    string  `placeholder:"FILE" complete:"file" help:"Write what the taps see as a pcapng."`
	Events   string  `placeholder:"FILE" complete:"file" help:"Write the verbs events of each adapter as JSON lines, to the file's name with the adapter's in it: out.jsonl becomes out.a.jsonl and out.b.jsonl."`
	Seed     *uint64 `placeholder:"N" help:"Another seed than that of the scenario."`
	Packets  uint64  `placeholder:"N" help:"End the run after so many packets sent, in place of what the scenario says; default: a million, and 16 for each one that its work takes."`
	Format   string  `enum:"${formats}" default:"text" placeholder:"FORMAT" help:"Format of the report: text, or json (one object a line). Default: ${default}."`
	WireOnly bool    `name:"wire-only" help:"Verify only the packets, as check does without --events."`
	Faults   bool    `help:"List the faults that an adapter can have, and the rule that each breaks."`
	All      bool    `help:"Show every finding, warning, connection and rule."`
	FailOn   string  `name:"fail-on" enum:"error,warning,incident,never" default:"error" placeholder:"WHAT" help:"What makes the exit status 1: error (violations of severity error), warning (warnings too), incident (incidents too, docs/incidents.md) or never. Default: ${default}."`

	Profile profileFlags `embed:""`

	Covered coverageFlags `embed:""`
}

// Help is below the flags' summary in --help.
func (simulateCommand) Help() string {
	return `Runs a scenario: adapters in software, the work that they are given, and a network that loses, duplicates, reorders, delays and corrupts packets as the scenario says. All of it happens at once, on virtual time, and is the same again for the same seed. What the scenario's taps see is verified as a capture would be.

An adapter may have a fault, so that it can be seen how that shows: --faults lists them. docs/simulate.md describes the format.

Examples:

    ibwitness simulate examples/lost-ack.yaml
    ibwitness simulate --write lost.pcapng examples/lost-ack.yaml
    ibwitness check lost.pcapng

Exit status: as that of check.`
}

// Run runs the scenario and reports.
func (c *simulateCommand) Run(s *session) error {
	switch {
	case c.Faults:
		return listFaults(s.stdout)
	case c.Scenario == "":
		return errors.New("cli: give a scenario file; examples/ has some")
	}
	failOn, err := report.ParseFailOn(c.FailOn)
	if err != nil {
		return err
	}
	profile, err := c.Profile.profile()
	if err != nil {
		return err
	}
	sink, err := report.New(c.Format, s.options(c.All))
	if err != nil {
		return err
	}
	sc, err := scenario.ReadFile(c.Scenario)
	if err != nil {
		return err
	}
	if err := c.distinct(sc); err != nil {
		return err
	}
	if c.Seed != nil {
		sc.Seed, sc.Link.Seed = *c.Seed, *c.Seed
	}
	if c.Packets > 0 {
		sc.Packets = c.Packets
	}
	out := &outputs{scenario: sc}
	opt, err := out.open(c.Write, c.Events)
	if err != nil {
		return errors.Join(err, out.close())
	}
	opt.Live = !c.WireOnly
	run, err := sc.Start(opt)
	if err != nil {
		return errors.Join(err, out.close())
	}
	ctx, stop := s.until(syscall.SIGHUP)
	defer stop()

	// One worker verifies faster than the run goes on, and leaves the other cores to the run.
	opts := agent.Options{Near: run.NearAddrs(), Profile: profile, Workers: 1, Coverage: c.Covered.Coverage != ""}
	if !c.WireOnly {
		opts.Events = run.Logs()
	}
	defer rarely()()
	ahead := run.Ahead()
	result, err := agent.Run(ctx, ahead, opts)
	_ = ahead.Close()
	done := &report.Run{Result: result, FailOn: failOn}
	done.Problems, done.Interrupted = problems(err)
	done.Problems = append(done.Problems, report.OtherLogs(done.Result)...)
	if err := run.Exceeded(); err != nil {
		done.Problems = append(done.Problems, report.Problem{Message: plain(err)})
	}
	if err := out.close(); err != nil {
		done.Problems = append(done.Problems, report.Problem{Message: plain(err)})
	}
	s.warn(done)
	s.tell(run)
	s.status = done.ExitStatus()
	return errors.Join(sink.Report(s.stdout, done), c.Covered.write(c.Scenario, done.Result))
}

// distinct reports what would be overwritten.
func (c *simulateCommand) distinct(sc *scenario.Scenario) error {
	files := append(reads("the scenario", c.Scenario), writes("--write", c.Write)...)
	files = append(files, writes("--coverage", c.Covered.Coverage)...)
	for _, h := range sc.HCAs {
		if c.Events != "" {
			files = append(files, writes("--events", eventsOf(c.Events, h.Name))...)
		}
	}
	return distinct(files)
}

// eventsOf names the file for the verbs events of an adapter.
func eventsOf(path, adapter string) string {
	ext := filepath.Ext(path)
	return strings.TrimSuffix(path, ext) + "." + adapter + ext
}

// listFaults writes the table of faults.
func listFaults(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "fault\tof a\trule\tand with it\twhat the adapter does")
	for _, name := range soft.FaultNames() {
		f, end := soft.Faults[name], "requester"
		if f.Responder {
			end = "responder"
		}
		also := strings.Join(slices.Sorted(maps.Keys(f.Also)), " ")
		fmt.Fprintf(t, "%s\t%v %s\t%s\t%s\t%s\n", name, f.Service, end, cmp.Or(f.Rule, "—"), also, f.Text)
	}
	for _, name := range sim.LinkFaultNames() {
		f := sim.LinkFaults[name]
		also := strings.Join(slices.Sorted(maps.Keys(f.Also)), " ")
		fmt.Fprintf(t, "%s\tport of a native link\t%s\t%s\t%s\n", name, f.Rule, also, f.Text)
	}
	return t.Flush()
}

// tell logs what a user should know of a run beside the verdict.
func (s *session) tell(run *scenario.Run) {
	if err := run.Problems(); err != nil {
		for _, line := range strings.Split(err.Error(), "\n") {
			s.log.Warn().Msg("refused: " + strings.TrimPrefix(line, "scenario: "))
		}
	}
	if run.Unfinished() && run.Exceeded() == nil {
		s.log.Warn().Msgf("ended after %v of virtual time with more to come; give the scenario a later until:", run.Limit())
	}
	for _, h := range run.HCAs {
		if h.Fault == "" {
			continue
		}
		switch frames, occasions := run.Strayed(h.Name); {
		case frames > 0:
			s.log.Info().Msgf("%s has the fault %s; frames that show it: %d", h.Name, h.Fault, frames)
		case occasions > 0:
			s.log.Info().Msgf("%s has the fault %s; how often: %d", h.Name, h.Fault, occasions)
		default:
			s.log.Warn().Msgf("%s has the fault %s, which no frame of it shows", h.Name, h.Fault)
		}
	}
	if n := run.Fabric.Astray; n > 0 {
		s.log.Warn().Msgf("%d frames were sent to addresses that nobody has", n)
	}
}

// outputs are the files that a run is kept in.
type outputs struct {
	scenario *scenario.Scenario
	capture  *sim.File
	logs     map[string]*eventlog.Writer
	files    []*os.File
	buffers  []*bufio.Writer
	err      error
}

// open creates the files; what is empty is not wanted.
func (o *outputs) open(capture, events string) (opt scenario.Options, err error) {
	if capture != "" {
		f, err := o.create(capture)
		if err != nil {
			return opt, err
		}
		o.capture = sim.NewFile(f)
		opt.Sinks = append(opt.Sinks, o.capture)
	}
	if events == "" {
		return opt, nil
	}
	o.logs = map[string]*eventlog.Writer{}
	for _, h := range o.scenario.HCAs {
		f, err := o.create(eventsOf(events, h.Name))
		if err != nil {
			return opt, err
		}
		b := bufio.NewWriter(f)
		o.buffers = append(o.buffers, b)
		if o.logs[h.Name], err = eventlog.NewWriter(b, h.Addr, o.scenario.Exact()); err != nil {
			return opt, fmt.Errorf("cli: %w", err)
		}
	}
	opt.Event = func(hca string, e *cq.Event) {
		if err := o.logs[hca].Write(e); err != nil && o.err == nil {
			o.err = err
		}
	}
	return opt, nil
}

func (o *outputs) create(path string) (*os.File, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("cli: %w: give a file that can be written", err)
	}
	o.files = append(o.files, f)
	return f, nil
}

// close completes the files.
func (o *outputs) close() error {
	errs := []error{o.err}
	if o.capture != nil {
		errs = append(errs, o.capture.Close())
	}
	for _, l := range o.logs {
		errs = append(errs, l.End())
	}
	for _, b := range o.buffers {
		errs = append(errs, b.Flush())
	}
	for _, f := range o.files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}
