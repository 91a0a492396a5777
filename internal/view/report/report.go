// Package report shows the result of a run: to people as text, to programs as JSON lines, to CI as JUnit and SARIF.
package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"ibwitness/agent"
	"ibwitness/incident"
)

// Run is a finished run: what the engine found, and what was wrong with its input.
type Run struct {
	Result      *agent.Result
	Problems    []Problem
	Interrupted bool   // the user stopped it; Result holds what was judged so far
	FailOn      FailOn // what makes the run fail
	Errors      []ErrorLog

	incidents []incident.Incident // see Incidents
	told      bool
}

// Incidents returns what happened.
func (r *Run) Incidents() []incident.Incident {
	if !r.told {
		r.told, r.incidents = true, incident.Of(r.Result)
	}
	return r.incidents
}

// Problem is something wrong with an input.
type Problem struct {
	Message string // whole sentence for the user, with the name of the file
	// Kept is true where everything readable was judged and only a frame that the writer of the file never finished is missing:
	// the file was cut in its last record.
	Kept bool
}

// Options are what a reader asked to see.
type Options struct {
	All   bool // every finding, every warning, every connection, every rule
	Color bool
	Width int // columns; 0: 100
	// Untimed says that how long answers took was not measured, and --latency would.
	Untimed bool
	// Paces says that it was measured for What happened only, and has no table.
	Paces bool
}

// Sink takes a finished run and writes it in its format.
type Sink interface {
	Report(w io.Writer, run *Run) error
}

var formats = map[string]func(Options) Sink{
	"text": func(o Options) Sink { return &text{Options: o} },
	"json": func(o Options) Sink { return &jsonLines{all: o.All, untimed: o.Paces} },

	"junit": func(o Options) Sink { return &junit{all: o.All} },
	"sarif": func(o Options) Sink { return &sarif{all: o.All} },
}

// Formats names the formats that New knows, sorted.
func Formats() []string {
	var names []string
	for name := range formats {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// New returns the sink of a format.
func New(format string, opt Options) (Sink, error) {
	f, ok := formats[format]
	if !ok {
		return nil, fmt.Errorf("report: there is no format %q: give one of %s", format, strings.Join(Formats(), ", "))
	}
	return f(opt), nil
}
