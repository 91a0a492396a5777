package closure

import (
	"fmt"
	"io"
	"strings"
)

// Formats names the formats that Write knows.
func Formats() []string { return []string{"text", "html", "json", "ucis", "verilator"} }

// Options are how a summary is shown.
type Options struct {
	All   bool // name each hole
	Color bool
	Width int // columns; 0: 100
}

// Write writes what documents and a plan, which may be nil, say together in a format.
func Write(w io.Writer, format string, d *Document, p *Plan, opt Options) error {
	switch s := Summarize(d, p); format {
	case "text":
		return s.text(w, opt)
	case "html":
		return s.html(w)
	case "json":
		return d.WriteJSON(w)
	case "ucis":
		return s.ucis(w, d)
	case "verilator":
		return s.verilator(w)
	}
	return fmt.Errorf("closure: there is no format %q: give one of %s", format, strings.Join(Formats(), ", "))
}
