package cli

import (
	"fmt"
	"os"
	"os/signal"
	"reflect"
	"sync/atomic"
	"syscall"

	"github.com/alecthomas/kong"

	"ibwitness/internal/view/report"
	"ibwitness/rule"
)

// reloader reads the command line and its configuration file again when the process gets SIGHUP. What can change while the command runs is marked
// in the grammar, with the tag reload.
type reloader struct {
	s      *session
	values map[string]any // of all flags, as they are in force
	apply  func(*grammar) // takes over what may change; from the goroutine of the reloader
	told   func(bool)     // takes whether it went well
	ended  func()         // ends the command
	again  []func() error // what else is done: files that are opened again
}

func newReloader(s *session, told func(bool), ended func()) *reloader {
	r := &reloader{s: s, values: map[string]any{}, told: told, ended: ended}
	each(s.ctx, func(f *kong.Flag) { r.values[f.Name] = f.Target.Interface() })
	return r
}

// each calls f with each flag that a command line may set.
func each(ctx *kong.Context, f func(*kong.Flag)) {
	for _, p := range ctx.Path {
		for _, flag := range p.Flags {
			f(flag)
		}
	}
}

// listen waits for SIGHUP until stop is called. Where the terminal is gone, that ends the command, as SIGTERM does.
func (r *reloader) listen() (stop func()) {
	signals, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(signals, syscall.SIGHUP)
	go func() {
		defer close(done)
		for range signals {
			if r.s.outTerminal || r.s.errTerminal {
				r.ended()
				continue
			}
			notify(nowReloading)
			r.told(r.reload() == nil)
			notify(nowReady)
		}
	}()
	return func() {
		signal.Stop(signals)
		close(signals)
		<-done
	}
}

// reload takes over what has changed. Where anything is wrong, nothing changes.
func (r *reloader) reload() error {
	log := &r.s.log
	var g grammar
	parser, err := newParser(&g, r.s.stdout, r.s.stderr)
	if err != nil {
		return err
	}
	ctx, err := parser.Parse(r.s.args)
	if err == nil {
		err = g.Watch.check()
	}
	if err != nil {
		log.Error().Err(err).Msg("the configuration is refused: the one from before stays in force")
		return err
	}
	changed := 0
	each(ctx, func(f *kong.Flag) {
		old, now := r.values[f.Name], f.Target.Interface()
		if reflect.DeepEqual(old, now) {
			return
		}
		if !f.Tag.Has("reload") {
			log.Warn().Str("flag", f.Name).Str("in_force", fmt.Sprint(old)).Str("configured", fmt.Sprint(now)).Msg("this changes only when the program is restarted")
			return
		}
		changed++
		r.values[f.Name] = now
		log.Info().Str("flag", f.Name).Str("before", fmt.Sprint(old)).Str("now", fmt.Sprint(now)).Msg("changed")
	})
	r.s.level.set(g.LogLevel)
	r.apply(&g)
	for _, f := range r.again {
		if err := f(); err != nil {
			log.Error().Err(err).Msg("not everything could be taken over")
			return err
		}
	}
	log.Info().Int("changed", changed).Msg("the configuration was read again")
	return nil
}

// settings are flags of watch that streams of findings are to take over.
type settings struct {
	next    atomic.Pointer[watchCommand]
	streams []*report.Stream
}

func (n *settings) takeOver(int64) {
	if c := n.next.Swap(nil); c != nil {
		for _, s := range n.streams {
			s.Set(c.Repeats, c.Events)
		}
	}
}

// onTick is a sink that findings do not concern.
type onTick func(now int64)

// Found does nothing.
func (onTick) Found([]rule.Finding) {}

// Tick calls the function.
func (f onTick) Tick(now int64) { f(now) }
