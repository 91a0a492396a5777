package rule_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"ibwitness/rule"
)

func TestWriteMarkdown(t *testing.T) {
	var page bytes.Buffer
	if err := rule.WriteMarkdown(&page); err != nil {
		t.Fatal(err)
	}
	body, notJudged, ok := strings.Cut(page.String(), "\n## Not judged\n")
	if !ok {
		t.Fatal("the section of rows not judged is missing")
	}
	judged, other := 0, 0
	for _, id := range allIDs() {
		r := id.Row()
		if n := strings.Count(body, "| "+r.ID+" |"); n != 1 {
			t.Errorf("%s is %d times in the tables of the families", id, n)
		}
		if inLast := strings.Contains(notJudged, "| "+r.ID+" |"); inLast != (r.Where == "") {
			t.Errorf("%s: among the rows not judged: %v, Where %q", id, inLast, r.Where)
		}
		switch {
		case r.Where != "":
			judged++
		case strings.HasPrefix(r.NotWhy, "Judged as "):
			other++
		}
	}
	total := fmt.Sprintf("| **all** |  | %d | %d | %d | %d |", rule.NumRules, judged, other, rule.NumRules-judged-other)
	if !strings.Contains(body, total) {
		t.Errorf("the totals lack %q", total)
	}
	for line := range strings.Lines(body) {
		if n := strings.Count(line, "|") - strings.Count(line, `\|`); strings.HasPrefix(line, "|") && n != 9 && n != 7 {
			t.Errorf("%d cell borders in %q", n, line)
		}
	}
}

type fullDisk struct{ err error }

func (d fullDisk) Write([]byte) (int, error) { return 0, d.err }

func TestWriteMarkdownReportsError(t *testing.T) {
	full := errors.New("no space left")
	if err := rule.WriteMarkdown(fullDisk{full}); !errors.Is(err, full) {
		t.Errorf("got %v, want %v wrapped", err, full)
	}
}
