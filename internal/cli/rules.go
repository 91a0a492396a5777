package cli

import (
	"fmt"
	"strings"

	"ibwitness/internal/view/report"
	"ibwitness/rule"
)

type rulesCommand struct {
	IDs    []string `arg:"" name:"id" optional:"" complete:"rule" help:"Rules to explain: an id (RC-RSP-003), a name (sequence-nak-repeated), or the beginning of ids (RC-RSP)."`
	Format string   `enum:"text,json,markdown" default:"text" placeholder:"FORMAT" help:"Format: text, json or markdown. Default: ${default}. Markdown writes the whole catalogue."`
}

// Help is below the flags' summary in --help.
func (rulesCommand) Help() string {
	return `Without arguments lists the catalogue: every rule with its id, name, severity, what it needs to be judged, and whether it is. With arguments says what these rules demand, and where the specification does.

Examples:

    ibwitness rules
    ibwitness rules RC-RSP-003
    ibwitness rules UD
    ibwitness rules --format json | jq -r 'select(.severity=="error").rule'`
}

// Run lists or explains.
func (c *rulesCommand) Run(s *session) error {
	if c.Format == "markdown" {
		if len(c.IDs) > 0 {
			return fmt.Errorf("cli: --format markdown writes the whole catalogue: leave %s out", strings.Join(c.IDs, " "))
		}
		return rule.WriteMarkdown(s.stdout)
	}
	ids := append(rule.Rules(), rule.Events()...)
	explain := false
	if len(c.IDs) > 0 {
		ids = nil
		explain = true
		for _, name := range c.IDs {
			found := lookup(name)
			if len(found) == 0 {
				return fmt.Errorf("cli: there is no rule %q: `ibwitness rules` lists them", name)
			}
			if len(found) > 1 {
				explain = false
			}
			ids = append(ids, found...)
		}
	}
	switch {
	case c.Format == "json":
		return report.CatalogueJSON(s.stdout, ids)
	case explain:
		return report.CatalogueExplain(s.stdout, ids, s.options(false))
	}
	return report.CatalogueList(s.stdout, ids, s.options(false))
}

// lookup finds the row of that id or name, or all rows whose ids begin so.
func lookup(name string) []rule.ID {
	if id, ok := rule.Lookup(name); ok {
		return []rule.ID{id}
	}
	var found []rule.ID
	for _, id := range append(rule.Rules(), rule.Events()...) {
		if strings.HasPrefix(id.String(), strings.ToUpper(name)) {
			found = append(found, id)
		}
	}
	return found
}
