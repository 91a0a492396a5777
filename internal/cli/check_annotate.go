package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/internal/view/report"
)

// annotatable reports what keeps the captures from being annotated.
func (c *checkCommand) annotatable() error {
	if c.Annotate == "" {
		return nil
	}
	if slices.Contains(c.Files, "-") {
		return errors.New("cli: --annotate reads the captures a second time, which standard input does not allow: save it to a file first")
	}
	return nil
}

// annotate writes the captures with their findings. What is wrong with them was told when they were verified.
func (c *checkCommand) annotate(r *agent.Result) error {
	src, _ := fabricagent.Open(c.Files)
	if src == nil {
		return nil
	}
	defer src.Close()
	f, err := os.Create(c.Annotate)
	if err != nil {
		return fmt.Errorf("cli: --annotate: %w: give a file that can be written", err)
	}
	err = report.Annotate(f, src, r, c.All)
	if len(fabricagent.FileErrors(err)) > 0 {
		err = nil
	}
	return errors.Join(err, f.Close())
}
