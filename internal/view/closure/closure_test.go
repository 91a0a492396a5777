package closure

import (
	"bytes"
	"encoding/xml"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ibwitness/agent"
	"ibwitness/coverage"
	"ibwitness/fabricagent"
	"ibwitness/internal/testkit/programs"
	"ibwitness/packet"
	"ibwitness/rule"
)

var update = flag.Bool("update", false, "rewrite the golden files; read them before committing")

// some are three runs: the second adds to the first, the third adds nothing.
func some() *Document {
	one := Of("first", &agent.Result{RDMA: 9, First: 1e18, Last: 1e18 + 5000, Taps: []fabricagent.Tap{{File: "first.pcap"}}})
	one.Runs[0].Items = []Count{{"rule/RC-RSP-003", 7, 2, 1}, {"opcode/rc/send-first", 2, 0, 0}, {"opcode/rc/send-only", 5, 0, 0}, {"pad/rc/send/0", 2, 0, 0}}
	two := Of("second", &agent.Result{RDMA: 4, First: 1e18, Last: 1e18 + 900})
	two.Runs[0].Items = []Count{
		{"opcode/rc/send-only", 3, 0, 0}, {"wrap/rc/request-psn", 1, 0, 0}, {"wrap/rc/msn", 1, 0, 0}, {"pad/rc/send/0", 1, 0, 0}, {"pad/rc/send/1", 2, 0, 0}, {"recovery/rc/sequence-nak", 1, 0, 0},
	}
	two.Runs[0].Errors = 1
	three := Of("third", &agent.Result{RDMA: 1, First: 1e18, Last: 1e18})
	three.Runs[0].Items = []Count{{"opcode/rc/send-only", 1, 0, 0}}
	return Merge(one, two, three)
}

func somePlan(t testing.TB) *Plan {
	t.Helper()
	text, err := os.ReadFile("testdata/plan.yaml")
	if err != nil {
		t.Fatal(err)
	}
	p, err := ReadPlan(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestFormats compares each format with testdata: what a plan asks for, and as text what there is without one.
func TestFormats(t *testing.T) {
	for _, k := range []struct {
		file, format string
		plan         *Plan
		opt          Options
	}{
		{"plan.txt", "text", somePlan(t), Options{}},
		{"plan.all.txt", "text", somePlan(t), Options{All: true}},
		{"plan.color.txt", "text", somePlan(t), Options{Color: true, Width: 60}},
		{"all.txt", "text", nil, Options{}},
		{"plan.html", "html", somePlan(t), Options{}},
		{"plan.xml", "ucis", somePlan(t), Options{}},
		{"plan.dat", "verilator", somePlan(t), Options{}},
		{"runs.json", "json", nil, Options{}},
	} {
		t.Run(k.file, func(t *testing.T) {
			var b bytes.Buffer
			if err := Write(&b, k.format, some(), k.plan, k.opt); err != nil {
				t.Fatal(err)
			}
			got := b.String()
			if k.format == "json" {
				got, _, _ = strings.Cut(got, "\"groups\"") // the rest names every item: TestJSON
			}
			path := filepath.Join("testdata", k.file)
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), got); d != "" {
				t.Errorf("%s (-want +got); go test ./internal/view/closure -update rewrites it:\n%s", path, d)
			}
		})
	}
	if err := Write(&bytes.Buffer{}, "yaml", some(), nil, Options{}); err == nil || !strings.Contains(err.Error(), "give one of text, html, json, ucis, verilator") {
		t.Errorf("another format: %v", err)
	}
}

// TestOf: a result's document has what the result counts, under the names of the items.
func TestOf(t *testing.T) {
	r := &agent.Result{RDMA: 3, Findings: []rule.Finding{{Rule: rule.RCRSP003, Class: rule.Violation}}}
	r.Cover[rule.RCRSP003] = rule.Count{Exercised: 5, Violated: 1}
	r.Shown.Message(packet.Op(packet.RC, packet.WriteLast), 1025, 1024, 2)
	r.Shown.Packets(packet.Op(packet.XRC, packet.Acknowledge), 4)
	want := Run{Name: "test", Packets: 3, Errors: 1, Items: []Count{
		{"rule/RC-RSP-003", 5, 1, 0},
		{"opcode/xrc/acknowledge", 4, 0, 0},
		{"syndrome/xrc/ack/no-credits", 4, 0, 0},
		{"pmtu/rc/1024", 2, 0, 0},
		{"length/rc/rdma-write/pmtu+1", 2, 0, 0},
		{"pad/rc/rdma-write/3", 2, 0, 0},
	}}
	if d := cmp.Diff(&Document{Runs: []Run{want}}, Of("test", r)); d != "" {
		t.Error(d)
	}
}

// write is a document as it is written.
func write(t interface{ Fatal(...any) }, d *Document) string {
	var b bytes.Buffer
	if err := d.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestJSON: what was written is read again, with every item in its sums.
func TestJSON(t *testing.T) {
	text := write(t, some())
	d, err := Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(some(), d); diff != "" {
		t.Error(diff)
	}
	for _, i := range coverage.Items() {
		if !strings.Contains(text, fmt.Sprintf("%q,\"count\"", i.Name)) {
			t.Errorf("%s is not in the document", i.Name)
		}
	}
}

// TestNames: items have names of their own, which a plan can give, and belong to a group.
func TestNames(t *testing.T) {
	had := map[string]bool{}
	for _, i := range coverage.Items() {
		if had[i.Name] || i.Text == "" || i.Kind == "" || i.Value == "" || !slices.Contains(coverage.Groups(), i.Group) || groupOf(i.Name) != i.Group {
			t.Errorf("%+v", i)
		}
		had[i.Name] = true
		if found := Match(i.Name); !slices.Contains(found, i.Name) {
			t.Errorf("%s names %v", i.Name, found)
		}
		if strings.ContainsAny(i.Name, " *'\"") {
			t.Errorf("%s: a name has neither blanks nor quotes", i.Name)
		}
	}
}

// random draws documents of runs that have items in common, or names, or both.
func random(t *rapid.T) *Document {
	d := &Document{}
	for range rapid.IntRange(1, 4).Draw(t, "runs") {
		r := Run{Name: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "name"), Packets: rapid.Uint64Max(2).Draw(t, "packets")}
		for _, name := range []string{"rule/RC-RSP-003", "opcode/rc/send-only", "later/than/this", "wrap/rc/msn"} {
			if n := rapid.SampledFrom([]uint64{0, 1, 5, math.MaxUint64 - 1}).Draw(t, name); n > 0 {
				r.Items = append(r.Items, Count{Name: name, Count: n})
			}
		}
		if err := r.check(); err != nil {
			t.Fatal(err)
		}
		d.Runs = append(d.Runs, r)
	}
	return Merge(d)
}

// TestMerge: the union is associative, commutative and idempotent, and is that of files too.
func TestMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := random(t), random(t), random(t)
		again := func(d *Document) *Document {
			d, err := Read(strings.NewReader(write(t, d)))
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		want := write(t, Merge(a, b, c))
		for name, d := range map[string]*Document{
			"associative": Merge(a, again(Merge(b, c))), "associative, the other way": Merge(again(Merge(a, b)), c), "commutative": Merge(c, again(a), b), "idempotent": Merge(Merge(a, b, c), again(b), a, c),
		} {
			if got := write(t, d); got != want {
				t.Errorf("not %s:\n%s", name, cmp.Diff(want, got))
			}
		}
		names := Merge(a, b, c).Names()
		slices.Sort(names)
		if len(slices.Compact(names)) != len(names) {
			t.Errorf("names %q", names)
		}
	})
}

// TestBadDocuments: what cannot be read is told so that it can be put right.
func TestBadDocuments(t *testing.T) {
	good := write(t, some())
	for _, k := range []struct{ text, want string }{
		{"", "it is no document of coverage (EOF): give what --coverage"},
		{"{}", `its format is "" and not "ibwitness-coverage"`},
		{"[1]", "it is no document of coverage"},
		{`{"format":"ibwitness-coverage","version":2,"runs":[]}`, "it is of version 2, and this program reads version 1: write it again"},
		{`{"format":"ibwitness-coverage","version":1}`, "it has no run"},
		{`{"format":"ibwitness-coverage","version":1,"runs":[{"name":""}]}`, `a run is named ""`},
		{`{"format":"ibwitness-coverage","version":1,"runs":[{"name":"a\u001b[31m"}]}`, "name it in letters that can be printed"},
		{`{"format":"ibwitness-coverage","version":1,"runs":[{"name":"a","items":[{"name":"opcode","count":1}]}]}`, "an item is named GROUP/NAME"},
		{`{"format":"ibwitness-coverage","version":1,"runs":[{"name":"a","items":[{"name":"x/y","count":0}]}]}`, "which it has not seen"},
		{`{"format":"ibwitness-coverage","version":1,"runs":[{"name":"a","items":[{"name":"x/y","count":1},{"name":"x/y","count":2}]}]}`, `lists item "x/y" twice`},
		{good + good, "there is more after the document"},
		{good[:len(good)/2], "it is no document of coverage (unexpected EOF)"},
		{strings.Replace(good, `"opcode/rc/send-only","count":9`, `"opcode/rc/send-only","count":10`, 1), "is not that of the runs, 9: the document was changed by hand"},
	} {
		if _, err := Read(strings.NewReader(k.text)); err == nil || !strings.Contains(err.Error(), k.want) {
			t.Errorf("%.60s: %v, not %q", k.text, err, k.want)
		}
	}
}

// TestBadPlans: likewise, with the line.
func TestBadPlans(t *testing.T) {
	for _, k := range []struct{ text, want string }{
		{"", "the plan is empty"},
		{"a: [", "the plan is neither YAML nor JSON"},
		{"- a", "line 1: a plan has fields: cover and exclude"},
		{"cover: opcode/rc\ncovers: x", `line 2: a plan has no field "covers": it has cover and exclude`},
		{"cover: opcode/rc\ncover: opcode/uc", "line 2: a plan has cover twice"},
		{"cover:\n  - opcode/rc/send-frist", `line 2: there is no item "opcode/rc/send-frist": did you mean "opcode/rc/send-first"?`},
		{"cover: [nothing-of-the-kind/*]", "`ibwitness coverage list` names all"},
		{"cover:\n  - items: opcode/rc\n    at-least: 0", `line 3: at-least is "0": give how often`},
		{"cover:\n  - at-least: 2", "line 2: an entry of cover has no items"},
		{"cover: [[opcode]]", "line 1: an entry of cover has fields: items and at-least"},
		{"cover: opcode\nexclude:\n  - items: opcode/rd", "line 3: an entry of exclude has no reason"},
		{"cover: opcode\nexclude:\n  - reason: no", "line 3: an entry of exclude has no items"},
		{"cover: opcode/rd\nexclude: [{items: opcode/rd, reason: no RD}]", "the plan covers nothing"},
		{"cover: opcode\n---\ncover: opcode", "there is more after the plan"},
	} {
		if _, err := ReadPlan(strings.NewReader(k.text)); err == nil || !strings.Contains(err.Error(), k.want) {
			t.Errorf("%q: %v, not %q", k.text, err, k.want)
		}
	}
	if p, err := ReadPlan(strings.NewReader(`{"cover":[{"items":["OPCODE/rc/send-only","opcode/rc"],"at-least":4}]}`)); err != nil || p.goals["opcode/rc/send-only"] != 4 || p.goals["opcode/rc/acknowledge"] != 4 {
		t.Errorf("JSON: %v, %v", p, err)
	}
}

// TestMatch: a name, the beginning of names up to a /, or with * any text between.
func TestMatch(t *testing.T) {
	for _, k := range []struct {
		pattern string
		want    int
		first   string
	}{
		{"opcode/rc/send-only", 1, "opcode/rc/send-only"},
		{"rule/rc-rsp-003", 1, "rule/RC-RSP-003"},
		{"opcode/rc/send", 0, ""},
		{"syndrome/rc/rnr-nak", 32, "syndrome/rc/rnr-nak/0"},
		{"syndrome/rc/rnr-nak/", 32, "syndrome/rc/rnr-nak/0"},
		{"length/*/pmtu+1", 11, "length/rc/send/pmtu+1"},
		{"*/rd/*send*only*", 2, "opcode/rd/send-only"},
		{"*", len(coverage.Items()), coverage.Items()[0].Name},
		{"", 0, ""},
	} {
		found := Match(k.pattern)
		if len(found) != k.want || k.want > 0 && found[0] != k.first {
			t.Errorf("%q: %d, %v", k.pattern, len(found), found)
		}
	}
}

// TestUCIS: the document has a bin for each item, with its count, and a history node for each run.
func TestUCIS(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, "ucis", some(), nil, Options{}); err != nil {
		t.Fatal(err)
	}
	var doc ucisDocument
	if err := xml.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	got := map[string]uint64{}
	for _, g := range doc.Instance.Cover.Groups {
		for _, p := range g.Points {
			for _, bin := range p.Bins {
				got[bin.Alias] = bin.Range.Contents.Count
			}
		}
	}
	want := map[string]uint64{}
	for _, k := range some().Totals() {
		want[k.Name] = k.Count.Count
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if len(doc.History) != 3 || len(doc.Instance.Cover.Groups) != len(coverage.Groups()) {
		t.Errorf("%d history nodes, %d groups", len(doc.History), len(doc.Instance.Cover.Groups))
	}
}

// TestVerilator has verilator_coverage rank, add up and annotate the lines: it finds the counts of each item beside its name.
func TestVerilator(t *testing.T) {
	tool := programs.Find(t, "verilator_coverage")
	dir := t.TempDir()
	d := some()
	for i, r := range d.Runs {
		var b bytes.Buffer
		if err := Write(&b, "verilator", &Document{Runs: []Run{r}}, nil, Options{}); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.dat", i)), b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var names strings.Builder
	for _, i := range coverage.Items() {
		names.WriteString(i.Name + "\n")
	}
	if err := os.WriteFile(filepath.Join(dir, ItemsFile), []byte(names.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	call := func(args ...string) string {
		c := exec.Command(tool, args...)
		c.Dir = dir
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("verilator_coverage %v: %v: %s", args, err, out)
		}
		return string(out)
	}
	if out := call("--rank", "0.dat", "1.dat", "2.dat"); !strings.Contains(out, `"1.dat"`) {
		t.Errorf("rank: %s", out)
	}
	call("--write", "all.dat", "0.dat", "1.dat", "2.dat")
	call("--annotate", "out", "--annotate-all", "--annotate-min", "1", "all.dat")
	text, err := os.ReadFile(filepath.Join(dir, "out", ItemsFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{" 000009\topcode/rc/send-only\n", " 000007\trule/RC-RSP-003\n", "%000000\topcode/rc/acknowledge\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("annotated, there is no line %q", want)
		}
	}
}

// FuzzRead: whatever is read is written so that it is read again as the same.
func FuzzRead(f *testing.F) {
	f.Add(write(f, some()))
	f.Add(`{"format":"ibwitness-coverage","version":1,"runs":[{"name":"a","items":[{"name":"x/y","count":1},{"name":"opcode/rc/send-only","count":18446744073709551615}]},{"name":"a"}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		d, err := Read(strings.NewReader(text))
		if err != nil {
			return
		}
		once := write(t, d)
		again, err := Read(strings.NewReader(once))
		if err != nil {
			t.Fatalf("%v: %s", err, once)
		}
		if twice := write(t, again); twice != once {
			t.Error(cmp.Diff(once, twice))
		}
		for _, format := range Formats() {
			if err := Write(&bytes.Buffer{}, format, d, nil, Options{}); err != nil {
				t.Errorf("%s: %v", format, err)
			}
		}
	})
}

// FuzzPlan: a plan is read or refused, and one that is read has something to cover.
func FuzzPlan(f *testing.F) {
	text, err := os.ReadFile("testdata/plan.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	f.Add(`{"cover":[{"items":["opcode/rc/*"],"at-least":4}],"exclude":[{"items":"opcode/rc/flush","reason":"no FLUSH"}]}`)
	f.Add("cover: &a [opcode]\nexclude: *a")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ReadPlan(strings.NewReader(text))
		if err != nil {
			return
		}
		if s := Summarize(some(), p); s.All.Of == 0 || s.All.Of != len(s.Targets) {
			t.Errorf("a plan for %d items of %d", len(s.Targets), s.All.Of)
		}
	})
}
