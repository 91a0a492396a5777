package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/prometheus/exporter-toolkit/web"
	"github.com/rs/zerolog"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/fabricagent/live"
	"ibwitness/hcaagent"
	"ibwitness/hcaagent/eventlog"
	"ibwitness/internal/privilege"
	"ibwitness/internal/view/metrics"
	"ibwitness/internal/view/report"
	"ibwitness/internal/yamlfile"
	"ibwitness/rule"
)

type watchCommand struct {
	Config      configFile    `placeholder:"FILE" complete:"file" help:"Take flags that the command line does not give from this file: YAML, a line like repeats: 10 each. It is read again at SIGHUP."`
	Interface   []string      `short:"i" required:"" placeholder:"NAME" help:"Network interface to capture from. Repeatable: several are several taps."`
	Near        []address     `placeholder:"ADDRESS" help:"The interface is near this endpoint, as in check. Repeatable. Default: what happened beyond the interface is not known."`
	Listen      string        `default:"127.0.0.1:9846" placeholder:"ADDRESS" help:"Serve the page, Prometheus metrics at /metrics, and /healthz and /readyz, on this address; empty: nowhere. Default: ${default}."`
	WebConfig   string        `name:"web-config" placeholder:"FILE" complete:"file" help:"TLS and passwords for --listen: a web configuration file of Prometheus' exporter-toolkit."`
	Pprof       bool          `help:"Serve profiles of this program at /debug/pprof too."`
	Promiscuous bool          `help:"Capture frames for other machines too, as behind a mirror port."`
	Hardware    bool          `name:"hardware-time" help:"Take the time stamps of the interface's hardware."`
	Libpcap     bool          `help:"Open the interfaces by libpcap: RDMA devices that only it can open, as mlx5_0. Needs a program that was built with -tags libpcap."`
	Sockets     int           `default:"1" placeholder:"N" help:"Rings an interface, each for a share of the pairs of hosts. Default: ${default}."`
	Ring        int           `default:"64" placeholder:"MIB" help:"Memory of a ring, MiB. Default: ${default}."`
	Connections int           `default:"200000" placeholder:"N" help:"Connections that are followed; the longest idle ones beyond them are forgotten. Default: ${default}."`
	Memory      int           `default:"2048" placeholder:"MIB" help:"Memory of the program with its rings, MiB: where it gets short, connections are forgotten, the longest idle ones first. Default: ${default}."`
	Idle        time.Duration `default:"5m" placeholder:"TIME" help:"After this long without a packet a connection is forgotten. Default: ${default}."`
	Repeats     int           `reload:"" default:"10" placeholder:"N" help:"Findings of one rule and accused endpoint that are written in a minute; the others are counted. 0: all. Default: ${default}."`
	Events      bool          `reload:"" help:"Write legal events too: retransmissions, NAKs and the like."`
	Verbs       []string      `placeholder:"PATH" complete:"file" help:"Compare the packets with the verbs events of a device, JSON lines as in docs/events.md: a FIFO, or a Unix socket that is connected to. Repeatable: one for each device."`
	Workers     int           `placeholder:"N" help:"Cores to use. Default: all."`
	User        string        `placeholder:"NAME" help:"If started as root, become this user once the interfaces are open. All capabilities are given up in any case."`

	Page   pageFlags   `embed:""`
	Flight flightFlags `embed:""`
	Log    logFlags    `embed:""`
	Labels labelFlags  `embed:""`

	Profile profileFlags `embed:""`
}

// Help is below the flags' summary in --help.
func (watchCommand) Help() string {
	return `Captures RoCE traffic from network interfaces and verifies it while it runs, for weeks if need be. Other traffic stays in the kernel. Needs the capability CAP_NET_RAW.

Findings go to standard output as they are proven, some seconds after their packets: JSON lines with the keys of check --format json, or readable ones on a terminal. Metrics go to Prometheus, and a page on the same address shows the run.

What the kernel drops, since this program could not keep up, is counted, and proves nothing: the connections to which they may belong are learned again.

Examples:

    ibwitness watch -i eth0
    ibwitness watch -i eth0 -i eth1 --listen :9846 --web-config web.yaml
    ibwitness watch -i eth0 --write flight.pcapng
    ibwitness watch -i mirror0 --promiscuous | jq 'select(.class=="violation")'

Ctrl-C or SIGTERM ends it. SIGHUP has it read --config and --web-config again: --repeats, --events and --log-level change at once, the other flags with the next start. Exit status: 0 ended by that; 2 it could not go on.`
}

// late is how much the verification may lag for the program to be called ready.
const late = 10 * time.Second

// distinct reports what would be overwritten.
func (c *watchCommand) distinct() error {
	return distinct(reads("--verbs", c.Verbs...), reads("--config", string(c.Config)), reads("--web-config", c.WebConfig), writes("--log", c.Log.Log), writes("--write", c.Flight.Write))
}

// Run captures and verifies until it is interrupted.
func (c *watchCommand) Run(s *session) error {
	if err := errors.Join(c.check(), c.distinct()); err != nil {
		return err
	}
	profile, err := c.Profile.profile()
	if err != nil {
		return err
	}
	ctx, stop := s.until()
	defer stop()

	src, err := c.open()
	if err != nil {
		return err
	}
	defer src.Close()
	context.AfterFunc(ctx, src.Stop)

	collector := metrics.New(src.Stats)
	collector.Label(c.Labels.labels())
	kept := c.Flight.recorder()
	page := c.page(kept)
	defer page.close()
	failed, closeServer, err := c.serve(s, collector, src, page)
	if err != nil {
		return err
	}
	defer closeServer()
	if err := drop(c.User); err != nil {
		return err
	}

	told := report.StreamOptions{Terminal: s.outTerminal, Color: s.color, Most: c.Repeats, Events: c.Events}
	stream := report.NewStream(&steady{w: s.stdout, log: &s.log}, told)
	sinks := []sink{stream}
	happened := []incidentSink{collector, stream}
	fresh := &settings{streams: []*report.Stream{stream}}
	log, err := c.Log.open(s, told, c.Interface)
	if err != nil {
		return err
	}
	if log != nil {
		defer log.Close()
		sinks = []sink{log, stream} // what others see is kept
		happened = []incidentSink{collector, log, stream}
		fresh.streams = append(fresh.streams, log.Stream)
		collector.Log(log.log.Stats)
	}
	watch := &agent.Watch{Idle: c.Idle, Most: c.Connections, Found: collector.Found, More: collector.More, Status: collector.Status}
	var frames fabricagent.Source = src
	writer, err := c.Flight.flight(s, kept, c.Repeats, src.Taps)
	if err != nil {
		return err
	}
	if writer != nil {
		defer writer.Close()
		sinks = append(sinks, writer)
		collector.Flight(writer.Stats)
	}
	reload := newReloader(s, collector.Reloaded, stop)
	reload.apply = func(g *grammar) { fresh.next.Store(&g.Watch) }
	defer reload.listen()()
	opt := agent.Options{Workers: c.Workers, Watch: watch, Profile: profile, Near: endpoints(c.Near), Events: c.verbs(ctx, s), Short: newMemory(c.heap()).short}
	sinks = append(sinks, onTick(fresh.takeOver), onTick(newWatchdog().alive), onTick(newLinks(s, src.Stats).look))
	tell(opt.Watch, sinks...)
	if page != nil {
		page.watch(opt.Watch)
		happened = append(happened, page.model)
	}
	tellIncidents(opt.Watch, happened...)
	if page != nil || writer != nil {
		frames = c.Flight.keep(src, kept, watch)
	}
	s.log.Info().Strs("interfaces", c.Interface).Msg("watching")
	notify(nowReady)
	result, err := agent.Run(ctx, frames, opt)
	notify(nowStopping)
	stream.Flush()
	ended(s, src.Stats(), result)
	select {
	case err := <-failed:
		return fmt.Errorf("cli: the metrics can no longer be served: %w", err)
	default:
	}
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// verbs are the verbs events of the devices, as they come.
func (c *watchCommand) verbs(ctx context.Context, s *session) (logs []*hcaagent.Log) {
	for _, path := range c.Verbs {
		logs = append(logs, eventlog.Live(ctx, path, func(err error, ends bool) {
			if !ends {
				s.log.Warn().Err(err).Str("path", path).Msg("no verbs events come from here now: the next writer is waited for")
				return
			}
			s.log.Error().Err(err).Str("path", path).Msg("no more verbs events are read from here; the packets are verified without them")
		}))
	}
	return logs
}

// serve serves metrics and the page, until close is called. Where that fails later, the capture ends, and failed says why.
func (c *watchCommand) serve(s *session, collector *metrics.Collector, src live.Capture, page *livePage) (failed chan error, closeServer func(), err error) {
	failed = make(chan error, 1)
	if c.Listen == "" {
		return failed, func() {}, nil
	}
	log := slog.New(zerolog.NewSlogHandler(s.log))
	server, err := metrics.Listen(collector, metrics.ServerOptions{
		Address: c.Listen, Config: c.WebConfig, Profile: c.Pprof, Log: log,
		Ready: func() error { return ready(collector, src.Stats()) }, Page: page.served(),
	})
	if err != nil {
		return nil, nil, err
	}
	go func() {
		if err := server.Serve(log); err != nil {
			failed <- err
			src.Stop()
		}
	}()
	s.log.Info().Str("address", server.Address()).Msg("page and metrics are served")
	return failed, func() { _ = server.Close() }, nil
}

// ended logs what a run amounts to.
func ended(s *session, interfaces []live.Stats, r *agent.Result) {
	var lost, frames uint64
	for _, i := range interfaces {
		lost, frames = lost+i.Dropped, frames+i.Frames
	}
	s.log.Info().Uint64("frames", frames).Uint64("rdma", r.RDMA).Uint64("dropped", lost).
		Uint64("violations", violated(r, rule.Error)).Uint64("warnings", violated(r, rule.Warning)).Msg("ended")
}

// drop gives up privileges.
var drop = privilege.Drop

// mostSockets is how many rings the kernel shares the frames of an interface out to.
const mostSockets = 1 << 16

// check says what is wrong with the flags.
func (c *watchCommand) check() error {
	if err := c.interfaces(); err != nil {
		return err
	}
	for _, size := range []struct {
		flag string
		mib  int
	}{{"--memory", c.Memory}, {"--ring", c.Ring}, {"--recorder", c.Flight.Recorder}, {"--write-size", c.Flight.WriteSize}, {"--log-size", c.Log.LogSize}} {
		if err := sized(size.flag, size.mib); err != nil {
			return err
		}
	}
	if c.Sockets > mostSockets {
		return fmt.Errorf("cli: --sockets %d: give %d at most", c.Sockets, mostSockets)
	}
	if c.Workers < 0 || c.Workers > agent.MaxWorkers || c.Sockets < 1 || c.Ring < 2 || c.Connections < 1 || c.Idle <= 0 || c.Repeats < 0 {
		return errors.New("cli: --workers, --sockets, --ring, --connections, --idle and --repeats must be positive, --ring at least 2")
	}
	if err := web.Validate(c.WebConfig); err != nil {
		if raw, unread := os.ReadFile(c.WebConfig); unread == nil {
			err = yamlfile.Explain(raw, err)
		}
		return fmt.Errorf("cli: --web-config %s: %w", c.WebConfig, err)
	}
	if least := leastHeap + int64(c.Flight.Recorder)<<20; c.heap() < least {
		return fmt.Errorf("cli: --memory %d is not enough for the rings and the program: give it %d at least", c.Memory, int64(c.Memory)+(least-c.heap()+1<<20-1)>>20)
	}
	return errors.Join(c.Flight.check(), c.Log.check(), c.Labels.check())
}

// interfaces says what is wrong with the names of interfaces.
func (c *watchCommand) interfaces() error {
	if len(c.Interface) == 0 {
		return errors.New("cli: --interface names none: ip -br link lists the interfaces")
	}
	for i, name := range c.Interface {
		if slices.Contains(c.Interface[:i], name) {
			return fmt.Errorf("cli: --interface %s is given twice: remove one, as every frame would be seen twice", name)
		}
	}
	return nil
}

// violated counts the violations of rules of a severity.
func violated(r *agent.Result, severity rule.Severity) (n uint64) {
	for _, id := range rule.Rules() {
		if id.Row().Severity == severity {
			n += r.Cover[id].Violated
		}
	}
	return n
}

// ready says what keeps the program from verifying.
func ready(c *metrics.Collector, interfaces []live.Stats) error {
	down := 0
	for _, i := range interfaces {
		if i.Gone {
			return fmt.Errorf("interface %s is gone", i.Interface)
		}
		if i.Down {
			down++
		}
	}
	switch lag := c.Lag(); {
	case down == len(interfaces):
		return errors.New("no interface is up")
	case lag > late:
		return fmt.Errorf("verification lags by %v", lag.Round(time.Second))
	}
	return nil
}
