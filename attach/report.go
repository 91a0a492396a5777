package attach

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/internal/view/closure"
	"ibwitness/internal/view/report"
	"ibwitness/internal/view/web"
)

// ErrRunning is the error of what can only be had of a run that has ended.
var ErrRunning = errors.New("attach: the run goes on: end it first")

var errNotRecorded = errors.New(`attach: no frames were recorded: name a file as "record" in the configuration, or as "pcapng" among its "reports"`)

// Formats names the formats of reports, sorted.
func Formats() []string {
	return slices.Sorted(slices.Values(append(report.Formats(), "html", "pcapng", "coverage", "ucis")))
}

// reports writes the reports of the configuration.
func (r *Run) reports() (err error) {
	for _, format := range slices.Sorted(maps.Keys(r.Config.Reports)) {
		err = errors.Join(err, r.Report(format, r.Config.Reports[format]))
	}
	return err
}

// Report writes a report of a run that has ended to a file; a name of "-" is standard output.
func (r *Run) Report(format, name string) error {
	if r.result == nil {
		return ErrRunning
	}
	if !slices.Contains(Formats(), format) {
		return fmt.Errorf("attach: there is no format %q: give one of %s", format, strings.Join(Formats(), ", "))
	}
	if name == "" {
		return fmt.Errorf("attach: the report %s has no file: name one, or - for standard output", format)
	}
	if format == "pcapng" && r.rec == nil {
		return errNotRecorded
	}
	if name == "-" {
		return r.WriteReport(os.Stdout, format)
	}
	f, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("attach: report %s: %w: name a file that can be written", format, err)
	}
	b := bufio.NewWriterSize(f, 1<<16)
	if err := errors.Join(r.WriteReport(b, format), b.Flush(), f.Close()); err != nil {
		return fmt.Errorf("attach: report %s in %s: %w", format, name, err)
	}
	return nil
}

// WriteReport writes a report of a run that has ended.
func (r *Run) WriteReport(w io.Writer, format string) error {
	if r.result == nil {
		return ErrRunning
	}
	run := &report.Run{Result: r.result, FailOn: r.failOn, Problems: report.OtherLogs(r.result)}
	switch format {
	case "html":
		return r.html(w, run)
	case "pcapng":
		return r.annotated(w)
	case "coverage":
		return r.covered().WriteJSON(w)
	case "ucis":
		return closure.Write(w, "ucis", r.covered(), nil, closure.Options{})
	}
	sink, err := report.New(format, report.Options{All: r.All})
	if err != nil {
		return err
	}
	return sink.Report(w, run)
}

// covered is what of the protocol the run has shown (docs/coverage.md).
func (r *Run) covered() *closure.Document { return closure.Of(r.title(), r.result) }

func (r *Run) title() string { return cmp.Or(r.Name, "simulation") }

func (r *Run) html(w io.Writer, run *report.Run) error {
	var files []string
	if r.rec != nil {
		files = []string{r.rec.name}
	}
	return web.WriteHTML(w, run, web.Options{Title: r.title()}, files)
}

// annotated writes all frames, with the findings as comments.
func (r *Run) annotated(w io.Writer) error {
	if r.rec == nil {
		return errNotRecorded
	}
	src, err := fabricagent.Open([]string{r.rec.name})
	if err != nil {
		return err
	}
	defer src.Close()
	return report.Annotate(w, src, r.result, r.All)
}

// Result is what was found, of a run that has ended; nil before.
func (r *Run) Result() *agent.Result { return r.result }
