// Package cli is the command line of ibwitness: grammar, logging, progress and exit status.
package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"ibwitness/internal/view/report"
)

// grammar is the command line; kong fills it in, and the completion scripts are generated from it.
type grammar struct {
	Check      checkCommand      `cmd:"" help:"Verify captures: who broke which rule, where, with the proof."`
	Watch      watchCommand      `cmd:"" help:"Verify live traffic: findings as they come, metrics for Prometheus."`
	Simulate   simulateCommand   `cmd:"" help:"Run a scenario on simulated adapters, and verify what they send."`
	Conform    conformCommand    `cmd:"" help:"Test a device: send packets at it, and judge what comes back."`
	Exercise   exerciseCommand   `cmd:"" help:"Send what a script says, right or wrong packets, and verify it."`
	Dut        dutCommand        `cmd:"" help:"Serve a device to a tester on another machine."`
	Record     recordCommand     `cmd:"" help:"Run a program, and log the verbs that it calls."`
	Diff       diffCommand       `cmd:"" help:"Compare two captures: what is new, and what is slower."`
	Coverage   coverageCommand   `cmd:"" help:"What runs have covered together, and what is missing."`
	Rules      rulesCommand      `cmd:"" help:"List the rules that are verified, or explain some of them."`
	Extcap     extcapCommand     `cmd:"" help:"Capture for Wireshark, which calls it."`
	Completion completionCommand `cmd:"" help:"Print the completion script of a shell."`
	Version    versionCommand    `cmd:"" help:"Print the version."`

	LogLevel    string           `name:"log-level" reload:"" enum:"trace,debug,info,warn,error" default:"info" placeholder:"LEVEL" help:"How much to log on standard error: trace, debug, info, warn or error. Default: ${default}."`
	Color       string           `enum:"auto,always,never" default:"auto" placeholder:"WHEN" help:"When to use colour: auto (on a terminal, unless NO_COLOR is set), always or never. Default: ${default}."`
	NoColor     bool             `name:"no-color" help:"The same as --color=never."`
	VersionFlag kong.VersionFlag `name:"version" help:"Print the version and exit."`
}

const about = `Verifies InfiniBand and RoCE traffic against the rules of the InfiniBand Architecture, and says who broke which rule, where, with the frames that prove it.

Examples:

    ibwitness check trace.pcapng                # verify a capture
    ibwitness check --near 10.0.0.1 trace.pcap  # taken there: proves more
    ibwitness check left.pcap right.pcap        # two taps of one run
    tcpdump -i mlx5_0 -w - | ibwitness check -  # from a pipe, until Ctrl-C
    ibwitness check --format json trace.pcap    # one JSON object a line
    ibwitness watch -i eth0                     # live traffic, for Prometheus
    ibwitness simulate examples/lost-ack.yaml   # simulate traffic
    ibwitness rules RC-RSP-003                  # what does this rule say?

Exit status: 0 nothing violated, 1 violations found, 2 could not judge (unreadable input, no InfiniBand or RoCE packet in it, bad usage).`

// exited carries the status with which kong wants to leave, after --help and --version.
type exited int

// Main runs the command and returns its exit status.
func Main(args []string, stdout, stderr *os.File) (status int) {
	// Without this a closed pipe kills the process, and `ibwitness check … | head` loses its exit status.
	signal.Ignore(syscall.SIGPIPE)
	defer func() {
		if left := recover(); left != nil {
			code, ok := left.(exited)
			if !ok {
				panic(left)
			}
			status = int(code)
		}
	}()
	var g grammar
	parser, err := newParser(&g, stdout, stderr)
	if err != nil {
		panic(err) // the grammar itself is wrong
	}
	ctx, err := parser.Parse(asExtcap(args))
	switch {
	case errors.Is(err, syscall.EPIPE):
		return 0 // the reader of --help has seen enough
	case err != nil:
		return usage(stderr, err)
	}
	s := newSession(&g, stdout, stderr)
	s.args, s.ctx = args, ctx
	err = ctx.Run(s)
	switch {
	case err == nil:
		return s.status
	case errors.Is(err, syscall.EPIPE):
		return s.status // the reader has seen enough
	}
	s.log.Error().Msg(plain(err))
	return report.ExitUnjudged
}

func newParser(g *grammar, stdout, stderr io.Writer) (*kong.Kong, error) {
	return kong.New(g,
		kong.Name("ibwitness"),
		kong.Description(about),
		kong.Vars{"version": versionLine(), "formats": strings.Join(report.Formats(), ",")},
		kong.Writers(stdout, stderr),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
		kong.Exit(func(code int) { panic(exited(code)) }),
	)
}

// usage says what is wrong with the command line, and where help is.
func usage(w io.Writer, err error) int {
	command := "ibwitness"
	var parse *kong.ParseError
	if errors.As(err, &parse) {
		if node := parse.Context.Selected(); node != nil {
			command = node.FullPath()
		}
	}
	fmt.Fprintf(w, "ibwitness: %v\nRun \"%s --help\" for help.\n", err, command)
	return report.ExitUnjudged
}

// plain drops the name of the package from an error, which helps developers and not users.
func plain(err error) string {
	lines := strings.Split(err.Error(), "\n") // of several errors that were joined
	for _, prefix := range []string{"fabricagent: ", "agent: ", "conform: ", "exercise: ", "report: ", "cli: ", "scenario: ", "live: ", "metrics: ", "flight: ", "record: ", "eventlog: ", "journal: ", "privilege: ", "extcap: ", "remote: ", "verbs: ", "realtime: "} {
		for i := range lines {
			lines[i] = strings.TrimPrefix(lines[i], prefix)
		}
	}
	return strings.Join(lines, "\n")
}
