package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"text/tabwriter"

	"ibwitness/conform"
	"ibwitness/fabricagent/sim"
	"ibwitness/hcaagent/cma"
	"ibwitness/internal/view/report"
	"ibwitness/packet"
	"ibwitness/subnet/sa"
	"ibwitness/subnet/sma"
)

type conformCommand struct {
	List    conformList    `cmd:"" help:"List the tests."`
	Run     conformRun     `cmd:"" help:"Run tests against a device."`
	Explain conformExplain `cmd:"" help:"Show tests as pages: procedure, assertions, decisions."`
}

// Help is below the commands in --help.
func (conformCommand) Help() string {
	return `A test sends packets at a device and judges what comes back. An adapter is driven through its verbs meanwhile; a switch or channel adapter is asked by subnet management packets. All rules judge the same packets and events. The devices are in software, on simulated time. docs/conform.md says how a test is judged.

Examples:

    ibwitness conform list
    ibwitness conform explain C09_130_01
    ibwitness conform run
    ibwitness conform run --fault early-retry C09_142
    ibwitness conform run --ports 36 --enhanced-port0 C14_024_08_04`
}

type conformList struct {
	Patterns []string `arg:"" name:"pattern" optional:"" complete:"test" help:"Tests: an id, the beginning of ids (X09_11), or with * for any text. Default: all."`
	Format   string   `enum:"text,json" default:"text" placeholder:"FORMAT" help:"Format: text, or json (one object a line). Default: ${default}."`
}

type conformExplain struct {
	IDs []string `arg:"" name:"id" complete:"test" help:"Tests: an id, the beginning of ids, or with * for any text."`
}

type conformRun struct {
	Patterns []string `arg:"" name:"pattern" optional:"" complete:"test" help:"Tests: an id, the beginning of ids (X09_11), or with * for any text. Default: all."`
	Skip     []string `sep:"," placeholder:"TEST" complete:"test" help:"Tests that are left out, as patterns."`
	Fault    string   `placeholder:"NAME" complete:"fault" help:"Give a device a fault, to see which tests fail: of an adapter one of those of simulate --faults, of a switch or channel adapter one of --faults. Only devices that can have it are there."`
	Faults   bool     `help:"List the faults that a switch or channel adapter can have."`
	Device   string   `enum:"all,adapter,switch,channel-adapter,router" default:"all" placeholder:"KIND" help:"Which device is there: adapter, switch, channel-adapter, router, or all. Tests of others are not applicable; those of any node take the switch where it is there. Default: ${default}."`
	Ports    uint8    `default:"4" placeholder:"N" help:"External ports of the switch, 1 to 254. Default: ${default}."`
	Enhanced bool     `name:"enhanced-port0" help:"Give the switch an enhanced port 0."`
	SLtoVL   bool     `name:"sltovl" help:"Give switch and channel adapter eight data lanes, SLtoVLMappingTable and VLArbitrationTable."`
	Optimize bool     `name:"optimized-sltovl" help:"With --sltovl, have one Set program many SLtoVLMappingTables of the switch."`
	Random   bool     `help:"Have the switch forward by a RandomForwardingTable, without a LinearForwardingTable."`
	Manager  bool     `help:"Have the master subnet manager run at switch and channel adapter."`
	Plain    bool     `help:"Give switch and channel adapter nothing that is optional: no LedInfo, multicast or partition enforcement."`
	Sample   bool     `help:"Of the pairs of ports of a switch, take the corners and 200 by chance, not all: for many ports."`
	Seed     *uint64  `placeholder:"N" help:"Seed of the order in which the tests run. Default: by chance."`
	Workers  int      `default:"0" placeholder:"N" help:"How many tests run at the same time; 0: one a core. Default: ${default}."`
	PSN      string   `name:"psn" placeholder:"N" help:"First PSN of each connection, decimal or 0x and hexadecimal. Default: by chance, the same for each run of a test."`
	All      bool     `help:"Show every assertion."`
	Log      bool     `help:"Show how each procedure went, with times."`
	Junit    string   `placeholder:"FILE" complete:"file" help:"Write a JUnit report too."`
	Pcapng   string   `placeholder:"DIR" complete:"file" help:"Write the packets of each test to DIR, which is made, as TEST.pcapng."`
	Format   string   `enum:"text,json" default:"text" placeholder:"FORMAT" help:"Format: text, or json (one object a line). Default: ${default}."`

	Scenario string `placeholder:"FILE" complete:"file" help:"With --dut, play a scenario of simulate against the adapter in place of tests, in real time; the verdict is that of the rules."`
	As       string `placeholder:"NAME" help:"With --scenario, the HCA in whose place the adapter is. Default: the last."`

	conformDUT `embed:""`
}

// Help is below the flags' summary in --help.
func (conformRun) Help() string {
	return `Each test runs against a device of its own, so that the result does not depend on the order or on what runs at the same time. An assertion passes, fails, is inconclusive (and why) or not applicable; a test is as the worst of them. That a rule is broken by the device fails the test too.

Examples:

    ibwitness conform run
    ibwitness conform run --all --log C09_130_01
    ibwitness conform run --fault rnr-forever 'X09_11*'
    ibwitness conform run --fault sltovl-answers C14
    ibwitness conform run --device switch --ports 254 --sample
    ibwitness conform run --junit conform.xml --pcapng conform
    ibwitness conform run --dut 10.0.0.7:4700 --secret FILE -i eth1
    ibwitness conform run --dut ibsim:lab C15 X15

With --dut the tests of adapters on Ethernet run against a real one, one after the other and in real time; packets go to no addresses but its own and those of --to. docs/dut.md says how to serve it. With --dut ibsim:NAME the tests of subnet administration run against a real subnet manager, which comes to a fabric of three nodes by the protocol of ibsim.

Exit status: 0 all pass or are not applicable; 1 one fails; 2 none fails and one is inconclusive, a test was wrong itself, or bad usage.`
}

// selected returns the tests that patterns name, each once, in the order of the catalogue.
func selected(patterns []string) ([]*conform.Test, error) {
	if len(patterns) == 0 {
		return conform.Tests(), nil
	}
	wanted := map[*conform.Test]bool{}
	for _, p := range patterns {
		found := conform.Match(p)
		if len(found) == 0 {
			return nil, fmt.Errorf("cli: there is no test %q: `ibwitness conform list` without a pattern lists all", p)
		}
		for _, t := range found {
			wanted[t] = true
		}
	}
	return slices.DeleteFunc(conform.Tests(), func(t *conform.Test) bool { return !wanted[t] }), nil
}

// Run lists.
func (c *conformList) Run(s *session) error {
	tests, err := selected(c.Patterns)
	if err != nil {
		return err
	}
	if c.Format == "json" {
		return report.ConformListJSON(s.stdout, tests)
	}
	return report.ConformList(s.stdout, tests, s.options(false))
}

// Run explains.
func (c *conformExplain) Run(s *session) error {
	tests, err := selected(c.IDs)
	if err != nil {
		return err
	}
	return report.ConformExplain(s.stdout, tests, s.options(false))
}

// Run runs tests and reports.
func (c *conformRun) Run(s *session) error {
	if c.Faults {
		return listNodeFaults(s.stdout)
	}
	if c.Ports == 0 {
		return errors.New("cli: --ports 0: give 1 to 254")
	}
	if err := c.check(); err != nil {
		return err
	}
	if c.Pcapng != "" { // before the tests run, so that a wrong name is told at once
		if err := os.MkdirAll(c.Pcapng, 0o755); err != nil {
			return fmt.Errorf("cli: --pcapng: %w: give a folder that can be written", err)
		}
	}
	switch {
	case c.Scenario != "" && c.isManager():
		return errors.New("cli: --scenario is of adapters, and --dut names a subnet manager: leave one out")
	case c.Scenario != "":
		return c.play(s)
	case c.As != "":
		return errors.New("cli: --as names the HCA of a scenario: give --scenario FILE too")
	}
	tests, err := selected(c.Patterns)
	if err != nil {
		return err
	}
	if len(c.Skip) > 0 {
		skipped, err := selected(c.Skip)
		if err != nil {
			return err
		}
		tests = slices.DeleteFunc(tests, func(t *conform.Test) bool { return slices.Contains(skipped, t) })
	}
	opt := conform.Options{RunOptions: conform.RunOptions{Sample: c.Sample}, Seed: rand.Uint64N(1e6), Workers: c.Workers}
	if c.Seed != nil {
		opt.Seed = *c.Seed
	}
	switch {
	case c.Workers < 0:
		return fmt.Errorf("cli: --workers %d: give 0 for all cores, or a number of them", c.Workers)
	case c.Workers == 0:
		opt.Workers = runtime.GOMAXPROCS(0)
	}
	if c.PSN != "" {
		n, err := strconv.ParseUint(c.PSN, 0, 24)
		if err != nil {
			return fmt.Errorf("cli: --psn %s: give a number of 24 bits, such as 0xfffff0", c.PSN)
		}
		psn := packet.PSN(n)
		opt.StartPSN = &psn
	}
	ctx, stop := s.until(syscall.SIGHUP)
	defer stop()
	target, closed, err := c.deviceUnderTest(ctx, s)
	if err != nil {
		return err
	}
	if c.DUT != "" {
		opt.Workers, opt.Stop = 1, func() bool { return ctx.Err() != nil }
		if len(c.Patterns) == 0 {
			tests = c.ofDevice(tests)
		}
		done, clear := testsProgress(s, len(tests))
		opt.Done = done
		defer clear()
	}
	var errs []error
	if done := opt.Done; c.Pcapng != "" { // as each test ends: a run may not come to its end
		opt.Done = func(r *conform.Result) {
			if done != nil {
				done(r)
			}
			errs = append(errs, written("--pcapng", filepath.Join(c.Pcapng, r.Test.ID+".pcapng"), r.WriteCapture))
		}
	}
	results := conform.ExecuteAll(tests, target, opt)
	s.status = conform.Status(results)
	errs = append(errs, closed())
	if c.Junit != "" {
		errs = append(errs, written("--junit", c.Junit, func(w io.Writer) error { return report.ConformJUnit(w, results, target.Name) }))
	}
	if c.Format == "json" {
		errs = append(errs, report.ConformJSON(s.stdout, results))
	} else {
		errs = append(errs, report.ConformRun(s.stdout, results, report.ConformOptions{Options: s.options(c.All), Log: c.Log, Seed: opt.Seed, Device: target.Name}))
	}
	return errors.Join(errs...)
}

// deviceUnderTest is the device, and what is closed in the end.
func (c *conformRun) deviceUnderTest(ctx context.Context, s *session) (*conform.Target, func() error, error) {
	if c.DUT != "" {
		if c.Fault != "" {
			return nil, nil, errors.New("cli: --fault is of devices in software, and --dut names a real one: leave one out")
		}
		if c.isManager() {
			return c.serve(ctx, s)
		}
		d, err := c.connect(ctx)
		if err != nil {
			return nil, nil, err
		}
		return d.target(), d.close, nil
	}
	t, err := c.software().Target()
	return t, func() error { return nil }, err
}

// software is which devices are there.
func (c *conformRun) software() conform.Software {
	w := conform.Software{Fault: c.Fault, Ports: c.Ports, EnhancedPort0: c.Enhanced, SLtoVL: c.SLtoVL, Optimized: c.Optimize, Random: c.Random, Manager: c.Manager, Plain: c.Plain}
	for _, k := range []conform.Kind{conform.Adapter, conform.Switch, conform.ChannelAdapter} {
		if c.Device == k.String() {
			w.Kinds = []conform.Kind{k}
		}
	}
	if c.Device == "router" {
		w.Kinds, w.Router = []conform.Kind{conform.ChannelAdapter}, true
	}
	return w
}

// listNodeFaults writes the table of the faults of switches, channel adapters, links, communication managers and subnet administration.
func listNodeFaults(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "fault\twhat the node does")
	for _, f := range sma.Faults() {
		fmt.Fprintf(t, "%s\t%s\n", f.Name, f.Text)
	}
	fmt.Fprintln(t, "\nfault\twhat the port of a native link does")
	for _, name := range slices.Sorted(maps.Keys(sim.LinkFaults)) {
		fmt.Fprintf(t, "%s\t%s\n", name, sim.LinkFaults[name].Text)
	}
	fmt.Fprintln(t, "\nfault\twhat the communication manager of an adapter does")
	for _, f := range cma.Faults() {
		fmt.Fprintf(t, "%s\t%s\n", f.Name, f.Text)
	}
	fmt.Fprintln(t, "\nfault\twith --manager, what subnet administration does")
	for _, f := range sa.Faults() {
		fmt.Fprintf(t, "%s\t%s\n", f.Name, f.Text)
	}
	return t.Flush()
}

// written writes a file that a flag names.
func written(flag, path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("cli: %s: %w: give a file that can be written", flag, err)
	}
	return errors.Join(write(f), f.Close())
}
