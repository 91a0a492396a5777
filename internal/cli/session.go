package cli

import (
	"os"
	"time"

	"github.com/alecthomas/kong"
	"github.com/rs/zerolog"
	"golang.org/x/term"

	"ibwitness/internal/view/report"
)

// session is what the commands share: where they write, and how.
type session struct {
	stdout, stderr *os.File
	log            zerolog.Logger
	level          *level
	color          bool
	width          int // columns of standard output; 0 where it is no terminal
	outTerminal    bool
	errTerminal    bool
	args           []string // the command line, and what it says
	ctx            *kong.Context
	status         int // exit status, if the command returns no error
}

func newSession(g *grammar, stdout, stderr *os.File) *session {
	s := &session{
		stdout: stdout, stderr: stderr,
		outTerminal: term.IsTerminal(int(stdout.Fd())), errTerminal: term.IsTerminal(int(stderr.Fd())),
	}
	if s.outTerminal {
		s.width, _, _ = term.GetSize(int(stdout.Fd()))
	}
	plain := os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb"
	s.color = g.Color == "always" || g.Color == "auto" && s.outTerminal && !plain
	if g.NoColor {
		s.color = false
	}
	s.level = new(level)
	s.level.set(g.LogLevel)
	s.log = zerolog.New(stderr)
	if s.errTerminal {
		s.log = zerolog.New(zerolog.ConsoleWriter{
			Out: stderr, TimeFormat: time.TimeOnly, NoColor: g.NoColor || g.Color == "never" || plain && g.Color == "auto",
		})
	}
	s.log = s.log.Hook(s.level).With().Timestamp().Logger()
	return s
}

func (s *session) options(all bool) report.Options {
	return report.Options{All: all, Color: s.color, Width: s.width}
}
