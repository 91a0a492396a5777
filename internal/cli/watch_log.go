package cli

import (
	"errors"
	"time"

	"github.com/rs/zerolog"

	"ibwitness/incident"
	"ibwitness/internal/evidence/journal"
	"ibwitness/internal/view/report"
	"ibwitness/rule"
)

// logFlags say where findings are kept.
type logFlags struct {
	Log      string `placeholder:"FILE" complete:"file" help:"Keep the findings in this file too, JSON lines with numbers: it is continued by the next run, and loses nothing that was told although the program is killed."`
	LogSize  int    `default:"64" placeholder:"MIB" help:"Rename the file to FILE.1 after this size, the one before to FILE.2 and so on, MiB. Default: ${default}."`
	LogFiles int    `default:"10" placeholder:"N" help:"Renamed files that are kept. Default: ${default}."`
}

func (c *logFlags) check() error {
	if c.LogSize < 1 || c.LogFiles < 1 {
		return errors.New("cli: --log-size and --log-files must be positive")
	}
	return nil
}

// logSink writes findings to a journal.
type logSink struct {
	*report.Stream
	log *journal.Log
}

// open opens the journal, or returns nil where there is to be none.
func (c *logFlags) open(s *session, o report.StreamOptions, interfaces []string) (*logSink, error) {
	if c.Log == "" {
		return nil, nil
	}
	log, found, err := journal.Open(c.Log, journal.Options{
		Size: int64(c.LogSize) << 20, Files: c.LogFiles,
		Failed: func(err error) { s.log.Error().Msg(plain(err) + ": findings wait until this is mended") },
	})
	if err != nil {
		return nil, err
	}
	switch {
	case found.Cut > 0:
		s.log.Warn().Str("log", c.Log).Int64("bytes", found.Cut).Msg("the last line was torn, and is cut off")
	case found.Closed:
		s.log.Warn().Str("log", c.Log).Msg("the last line was not ended, and is now")
	}
	o.Terminal, o.Color = false, false
	l := &logSink{report.NewStream(log, o), log}
	l.mark("started").Strs("interfaces", interfaces).Send()
	log.Flush()
	return l, nil
}

// mark begins a line that says what the program does.
func (l *logSink) mark(kind string) *zerolog.Event {
	log := zerolog.New(l.log)
	return log.Info().Str("kind", kind).Str("time", time.Now().UTC().Format("2006-01-02T15:04:05.000000000Z"))
}

// Found writes findings before it returns.
func (l *logSink) Found(list []rule.Finding) {
	l.Stream.Found(list)
	l.log.Flush()
}

// Incidents writes what became of incidents before it returns.
func (l *logSink) Incidents(list []incident.Told) {
	l.Stream.Incidents(list)
	l.log.Flush()
}

// Tick has the disk take them.
func (l *logSink) Tick(now int64) {
	l.Stream.Tick(now)
	l.log.Flush()
	l.log.Sync()
}

// Close ends the journal.
func (l *logSink) Close() error {
	l.Flush()
	l.mark("ended").Send()
	return l.log.Close()
}
