package cli

import (
	"fmt"
	"os"

	"ibwitness/internal/errorlines"
	"ibwitness/internal/view/report"
)

// errorLogs reads the files of --errors.
func (c *checkCommand) errorLogs() (logs []report.ErrorLog, err error) {
	for _, name := range c.Errors {
		f, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("cli: --errors: %w", err)
		}
		lines, left, err := errorlines.Read(f)
		_ = f.Close()
		if err != nil {
			return nil, fmt.Errorf("cli: --errors %s: %w", name, err)
		}
		if len(lines) == 0 {
			return nil, fmt.Errorf("cli: --errors %s: no line of it names a queue pair, an address or a completion status: give what the program printed when it failed", name)
		}
		logs = append(logs, report.ErrorLog{File: name, Lines: lines, Left: left})
	}
	return logs, nil
}
