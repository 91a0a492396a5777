package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"ibwitness/cq"
	"ibwitness/hcaagent/eventlog"
	"ibwitness/hcaagent/record"
)

type recordCommand struct {
	To        string   `short:"o" default:"record." placeholder:"PREFIX" help:"What the names of logs begin with; DEVICE.PID.jsonl follows. Default: ${default}."`
	Live      string   `placeholder:"PATH" complete:"file" help:"Write the log of the first device into this FIFO or Unix socket, for ibwitness watch --verbs, in place of files."`
	Checksums bool     `help:"Write the CRC-32 of the data of each SEND and WRITE, so that it is compared with the packets."`
	Library   string   `type:"path" placeholder:"FILE" help:"The library that records. Default: libibwitness_record.so beside this program, or in ../lib/ibwitness."`
	Program   []string `arg:"" passthrough:"" help:"The program to run, with its arguments; -- before it ends the flags of ibwitness."`
}

// Help is below the flags' summary in --help.
func (recordCommand) Help() string {
	return `Runs a program, and writes an event log of each RDMA device that it opens: which queue pairs it has, what it posts, which completions it takes. With it check compares the packets with the work requests, and the completions with the packets. The program must not be linked statically against libibverbs. Its exit status is that of this command.

Examples:

    ibwitness record -- ib_send_bw -d rxe0 10.0.0.1
    ibwitness check --events record.rxe0.4711.jsonl trace.pcap
    ibwitness record --checksums -o /tmp/run. -- ./server --port 7
    mkfifo /tmp/verbs; ibwitness watch -i eth0 --verbs /tmp/verbs &
    ibwitness record --live /tmp/verbs -- ./server`
}

// Run runs the program.
func (c *recordCommand) Run(s *session) error {
	program := c.Program
	if len(program) > 0 && program[0] == "--" {
		program = program[1:]
	}
	if len(program) == 0 {
		return errors.New("cli: no program to run: name it after --")
	}
	o := record.Options{Library: c.Library, Prefix: c.To, Live: c.Live, Checksums: c.Checksums}
	if o.Library == "" {
		var err error
		if o.Library, err = record.Library(); err != nil {
			return err
		}
	} else if _, err := os.Stat(o.Library); err != nil {
		return fmt.Errorf("cli: --library: %w", err)
	}
	run, err := o.Command(program[0], program[1:]...)
	if err != nil {
		return err
	}
	run.Stdin, run.Stdout, run.Stderr = os.Stdin, s.stdout, s.stderr
	begin := time.Now().Add(-10 * time.Millisecond) // file systems have a coarser clock
	if s.status, err = follow(run); err != nil {
		return err
	}
	return c.summary(s, &o, begin)
}

// follow runs a program and returns its exit status, as a shell does. Signals are for the program: those of a terminal come to it anyway, and a SIGTERM is passed on.
func follow(run *exec.Cmd) (int, error) {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	if err := run.Start(); err != nil {
		return 0, fmt.Errorf("cli: cannot run it: %w", err)
	}
	done := make(chan struct{})
	go func() {
		for {
			select {
			case got := <-signals:
				if got == syscall.SIGTERM || got == syscall.SIGHUP {
					_ = run.Process.Signal(got)
				}
			case <-done:
				return
			}
		}
	}()
	err := run.Wait()
	close(done)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return 0, fmt.Errorf("cli: %w", err)
	}
	if how, ok := run.ProcessState.Sys().(syscall.WaitStatus); ok && how.Signaled() {
		return 128 + int(how.Signal()), nil
	}
	return run.ProcessState.ExitCode(), nil
}

// summary says which logs there are, and what is in them.
func (c *recordCommand) summary(s *session, o *record.Options, begin time.Time) error {
	if o.Live != "" {
		return nil
	}
	logs, err := o.Logs()
	if err != nil {
		return err
	}
	table, found := tabwriter.NewWriter(s.stderr, 0, 0, 2, ' ', 0), 0
	for _, name := range logs {
		if info, err := os.Stat(name); err != nil || info.ModTime().Before(begin) {
			continue // of an earlier run
		}
		found++
		log, err := eventlog.ReadFile(name)
		if err != nil {
			return fmt.Errorf("cli: the log cannot be read again: %w", err)
		}
		pairs, posts, done := 0, 0, 0
		for i := range log.Events {
			switch log.Events[i].Kind {
			case cq.EvCreateQP:
				pairs++
			case cq.EvPostSend, cq.EvPostReceive:
				posts++
			case cq.EvCompletion:
				done++
			}
		}
		fmt.Fprintf(table, "%s\t%s\t%d queue pairs\t%d requests\t%d completions\n", name, strings.TrimPrefix(log.Addr.String(), "::ffff:"), pairs, posts, done)
	}
	if found == 0 {
		s.log.Warn().Msg("nothing is recorded: the program has opened no device with libibverbs, or made no queue pair. One that is linked statically, or runs with rights of its own (setuid), cannot be")
		return nil
	}
	return table.Flush()
}
