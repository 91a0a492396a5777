package cli

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"ibwitness/internal/view/report"
	"ibwitness/rule"
)

// failing fails while it is told to.
type failing struct {
	bytes.Buffer
	err error
}

func (f *failing) Write(b []byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	return f.Buffer.Write(b)
}

// TestSteady: an output that takes no findings is told of once each time, and takes them when it can again.
func TestSteady(t *testing.T) {
	var errs bytes.Buffer
	log := zerolog.New(&errs)
	out := &failing{}
	stream := report.NewStream(&steady{w: out, log: &log}, report.StreamOptions{})
	for _, err := range []error{errors.New("disk full"), errors.New("disk full"), nil, errors.New("no reader"), nil} {
		out.err = err
		stream.Found([]rule.Finding{{Rule: rule.RCPSN004, Class: rule.Violation, Frame: 7}})
	}
	if n := strings.Count(out.String(), "\n"); n != 2 {
		t.Errorf("%d findings are written: %s", n, out.String())
	}
	if s := errs.String(); strings.Count(s, "\n") != 2 || strings.Count(s, "disk full: findings are not written there until") != 1 || strings.Count(s, "no reader") != 1 {
		t.Errorf("it logs\n%s", s)
	}
}
