package cli

import (
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestHelpWidth: the help of every command fits the terminal, its examples one of 80 columns. In a narrower one only what can be broken is: an example is not.
func TestHelpWidth(t *testing.T) {
	for _, width := range []int{60, 80, 100, 160} {
		t.Setenv("COLUMNS", strconv.Itoa(width))
		for _, command := range []string{"", "check", "watch", "simulate", "coverage", "coverage merge", "coverage list", "conform", "conform list", "conform run", "conform explain", "exercise", "dut", "record", "rules", "extcap", "completion", "version"} {
			status, out, _ := run(t, append(strings.Fields(command), "--help")...)
			if status != 0 || out == "" {
				t.Fatalf("%s --help: exit status %d", command, status)
			}
			for line := range strings.Lines(out) {
				most := width
				if strings.HasPrefix(line, "    ") || strings.HasPrefix(line, `Run "`) { // an example, or the hint at the end
					most = max(width, 80)
				}
				if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > most {
					t.Errorf("%s --help in %d columns has a line of %d: %s", command, width, n, line)
				}
			}
		}
	}
}
