package rule_test

import (
	"errors"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ibwitness/rule"
)

// placesFilled says that every row names the file of its check (Where) or the reason why there is none (NotWhy).
const placesFilled = true

// allIDs are the rules and then the events.
func allIDs() []rule.ID { return append(rule.Rules(), rule.Events()...) }

type noImports struct{}

func (noImports) Import(string) (*types.Package, error) {
	return nil, errors.New("not needed to evaluate constants")
}

// constNames reads the package's source and returns the exported constant of each ID.
func constNames(t *testing.T) map[rule.ID]string {
	t.Helper()
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	// Imports stay unresolved; only the constants matter, and they need none.
	conf := types.Config{Importer: noImports{}, Error: func(error) {}}
	pkg, _ := conf.Check("ibwitness/rule", fset, files, nil)
	idType := pkg.Scope().Lookup("ID").Type()
	names := make(map[rule.ID]string)
	for _, name := range pkg.Scope().Names() {
		c, ok := pkg.Scope().Lookup(name).(*types.Const)
		if !ok || !c.Exported() || !types.Identical(c.Type(), idType) {
			continue
		}
		v, exact := constant.Uint64Val(c.Val())
		if !exact {
			t.Fatalf("%s has no value", name)
		}
		if other, taken := names[rule.ID(v)]; taken {
			t.Errorf("%s and %s are both %d", name, other, v)
		}
		names[rule.ID(v)] = name
	}
	return names
}

func TestConstantsStandForTheirRows(t *testing.T) {
	names := constNames(t)
	if len(names) != rule.NumRules {
		t.Errorf("%d constants for %d rows", len(names), rule.NumRules)
	}
	for id := range rule.ID(rule.NumRules) {
		want := strings.ReplaceAll(id.Row().ID, "-", "")
		got, ok := names[id]
		switch {
		case !ok:
			t.Errorf("row %q (%d) has no constant", id.Row().ID, id)
		case id.IsEvent() && !strings.EqualFold(got, want), !id.IsEvent() && got != want:
			t.Errorf("%s is the row %q", got, id.Row().ID)
		}
	}
	for id, row := range map[rule.ID]string{rule.BTH002: "BTH-002", rule.RCPSN004: "RC-PSN-004", rule.UDQP1001: "UD-QP1-001", rule.EvReject: "EV-REJECT"} {
		if id.Row().ID != row || id.String() != row {
			t.Errorf("%d is %q (%s), want %q", id, id.Row().ID, id, row)
		}
	}
}

func TestRowsAreComplete(t *testing.T) {
	shape := regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	taken := make(map[string]rule.ID)
	for _, id := range allIDs() {
		r := id.Row()
		for _, key := range []string{strings.ToLower(r.ID), r.Name} {
			if other, dup := taken[key]; dup {
				t.Errorf("%q is in use by %s and %s", key, other, id)
			}
			taken[key] = id
		}
		if !shape.MatchString(r.Name) {
			t.Errorf("%s: name %q is not kebab-case", id, r.Name)
		}
		if r.Ref == "" || !strings.HasSuffix(r.Text, ".") {
			t.Errorf("%s: reference %q, text %q", id, r.Ref, r.Text)
		}
		if strings.HasPrefix(r.ID, "EV-") != id.IsEvent() {
			t.Errorf("%s: IsEvent is %v", id, id.IsEvent())
		}
		if id.IsEvent() && r.Severity != rule.Info {
			t.Errorf("%s: severity %s, an event is info", id, r.Severity)
		}
	}
	if n := len(rule.Rules()) + len(rule.Events()); n != rule.NumRules {
		t.Errorf("%d rules and events, NumRules is %d", n, rule.NumRules)
	}
}

func TestLookup(t *testing.T) {
	for _, id := range allIDs() {
		for _, key := range []string{id.String(), strings.ToLower(id.String()), id.Row().Name, strings.ToUpper(id.Row().Name)} {
			if got, ok := rule.Lookup(key); !ok || got != id {
				t.Errorf("Lookup(%q) = %d, %v; want %d", key, got, ok, id)
			}
		}
	}
	for _, key := range []string{"", "RC-PSN", "RC-PSN-0044", "RC-PSN-004 "} {
		if got, ok := rule.Lookup(key); ok {
			t.Errorf("Lookup(%q) = %s, want none", key, got)
		}
	}
}

// TestRowsArePlaced compares Where with the tree: the file is there and speaks of the rule. The fast path, which only counts a rule as
// judged, is no such place.
func TestRowsArePlaced(t *testing.T) {
	names := constNames(t)
	for _, id := range allIDs() {
		r := id.Row()
		if r.Where == "" {
			continue
		}
		if r.Where == "verifier/rc/fastpath_expected.go" {
			t.Errorf("%s: Where names the fast path, where no finding arises", id)
		}
		src, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(r.Where)))
		if err != nil {
			t.Errorf("%s: Where names no file of the tree: %v", id, err)
			continue
		}
		if !regexp.MustCompile(`\brule\.` + names[id] + `\b`).Match(src) {
			t.Errorf("%s: %s does not mention rule.%s", id, r.Where, names[id])
		}
	}
}

func TestRowsArePlacedOrExplained(t *testing.T) {
	if !placesFilled {
		t.Skip("placesFilled is false: the places of the checks are not filled in yet")
	}
	for _, id := range allIDs() {
		if r := id.Row(); (r.Where == "") == (r.NotWhy == "") {
			t.Errorf("%s: exactly one of Where (%q) and NotWhy (%q) must be set", id, r.Where, r.NotWhy)
		}
	}
}
