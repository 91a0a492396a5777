package rule

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

const markdownIntro = `# Rules

Every statement that ibwitness holds traffic to, and every event that it counts. This page is rendered from the catalogue
in package ` + "`rule`" + `; change it there.

- **severity**: an *error* that is proven accuses an endpoint. A *warning* is a should-level rule, a variation between
  vendors, or a row that no public source confirms yet. *info* is only for the reader.
- **needs**: *wire* is judged only from packets; *wire+QP* also needs attributes of the queue pairs, learned from the
  connection manager or given by the HCA agent; *link* needs the symbols of an InfiniBand link. *wire+WQE*, *wire+CQE* and *wire+mem*
  compare packets with the work requests, completions and memory in verbs events; *verbs* are judged only from these.
  What is checked in ` + "`cq/`" + ` is judged where there are verbs events: ` + "`ibwitness check --events`" + `.
- **reference**: section or compliance id of the InfiniBand Architecture. A † marks a number that no public source confirms.
- **checked in**: the file that holds the check. A rule without one is not judged; the last table says why.
- **proven in**: the file of ` + "`verifier/testdata`" + ` with a scenario in which only it fires, on the right frame, and a clean twin
  in which it is silent.
`

// WriteMarkdown renders the catalogue as the page docs/rules.md: totals, one table a family, and the rows that are not judged.
// A row counts as judged when its Where is set. The error is that of w.
func WriteMarkdown(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprint(b, markdownIntro)
	writeTotals(b)
	for _, f := range families {
		fmt.Fprintf(b, "\n## %s: %s\n\n", f.name, f.title)
		fmt.Fprint(b, "| id | name | severity | needs | what must hold | reference | checked in | proven in |\n|---|---|---|---|---|---|---|---|\n")
		for _, r := range f.rows {
			where := "not judged"
			if r.Where != "" {
				where = "`" + r.Where + "`"
			}
			writeCells(b, r.ID, "`"+r.Name+"`", r.Severity.String(), r.Needs.String(), r.Text, r.Ref, where, r.Scenario())
		}
	}
	writeNotJudged(b)
	if err := b.Flush(); err != nil {
		return fmt.Errorf("rule: cannot write the catalogue: %w", err)
	}
	return nil
}

func writeTotals(b *bufio.Writer) {
	fmt.Fprint(b, "\n## Totals\n\n| family | title | rows | judged | judged as another | not judged |\n|---|---|---|---|---|---|\n")
	line := func(name, title string, rows []Row) {
		n, other := countJudged(rows), countOther(rows)
		fmt.Fprintf(b, "| %s | %s | %d | %d | %d | %d |\n", name, title, len(rows), n, other, len(rows)-n-other)
	}
	for _, f := range families {
		line(f.name, f.title, f.rows)
	}
	line("**all**", "", catalogue[:])
}

func writeNotJudged(b *bufio.Writer) {
	fmt.Fprint(b, "\n## Not judged\n\n")
	if countJudged(catalogue[:]) == NumRules {
		fmt.Fprint(b, "Every row is judged.\n")
		return
	}
	fmt.Fprint(b, "| id | name | why not |\n|---|---|---|\n")
	for i := range catalogue {
		if r := &catalogue[i]; r.Where == "" {
			writeCells(b, r.ID, "`"+r.Name+"`", r.NotWhy)
		}
	}
}

func countJudged(rows []Row) (n int) {
	for i := range rows {
		if rows[i].Where != "" {
			n++
		}
	}
	return n
}

// countOther counts the rows of which a breach is reported under the id of another row.
func countOther(rows []Row) (n int) {
	for i := range rows {
		if rows[i].Where == "" && strings.HasPrefix(rows[i].NotWhy, "Judged as ") {
			n++
		}
	}
	return n
}

var cellEscape = strings.NewReplacer("|", `\|`, "\n", " ")

func writeCells(b *bufio.Writer, cells ...string) {
	for _, c := range cells {
		fmt.Fprintf(b, "| %s ", cellEscape.Replace(c))
	}
	fmt.Fprint(b, "|\n")
}
