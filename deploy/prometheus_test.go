package deploy

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"go.yaml.in/yaml/v3"

	"ibwitness/agent"
	"ibwitness/fabricagent/live"
	"ibwitness/internal/testkit/programs"
	"ibwitness/internal/view/metrics"
	"ibwitness/rule"
)

// promtool runs promtool, and returns what it printed.
func promtool(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command(programs.Find(t, "promtool"), args...).CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func TestAlerts(t *testing.T) {
	t.Chdir("prometheus")
	promtool(t, "check", "config", "prometheus.yml")
	promtool(t, "test", "rules", "alerts_test.yml")

	tests, err := os.ReadFile("alerts_test.yml")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range alerts(t, "alerts.yml") {
		if n := len(regexp.MustCompile(`alertname: `+r.Alert+`\n +exp_alerts:`).FindAll(tests, -1)); n == 0 {
			t.Errorf("no test has %s fire", r.Alert)
		}
		if !regexp.MustCompile(`eval_time: \d+m, alertname: ` + r.Alert + `\}`).Match(tests) {
			t.Errorf("no test has %s silent", r.Alert)
		}
	}
}

type alert struct{ Alert, Expr string }

func alerts(t *testing.T, path string) (list []alert) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Groups []struct{ Rules []alert } }
	if err := yaml.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	for _, g := range file.Groups {
		list = append(list, g.Rules...)
	}
	if len(list) == 0 {
		t.Fatalf("no alerts in %s", path)
	}
	return list
}

// exported are the names of all that a scrape may show, once everything has been seen that there is to see.
func exported(t *testing.T) map[string]bool {
	t.Helper()
	c := metrics.New(func() []live.Stats { return []live.Stats{{Interface: "eth0"}} })
	st := &agent.Status{Now: 1}
	for i := range st.Cover {
		st.Cover[i] = rule.Count{Exercised: 1, Violated: 1, Unproven: 1}
	}
	for i := range st.Traffic.Packets {
		st.Traffic.Packets[i], st.Traffic.Bytes[i] = 1, 1
	}
	c.Status(st)
	for _, class := range []rule.Class{rule.Violation, rule.Unproven, rule.Event} {
		var list []rule.Finding
		for id := range rule.NumRules {
			list = append(list, rule.Finding{Rule: rule.ID(id), Class: class})
		}
		c.Found(list)
	}
	reg := prometheus.NewRegistry()
	reg.MustRegister(c, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{"up": true}
	for _, f := range families {
		names[f.GetName()] = true
		if f.GetMetric()[0].GetHistogram() != nil {
			for _, end := range []string{"_bucket", "_sum", "_count"} {
				names[f.GetName()+end] = true
			}
		}
	}
	return names
}

// TestNames: alerts and dashboard ask for nothing that is not exported.
func TestNames(t *testing.T) {
	known := exported(t)
	var asked []string
	for _, r := range alerts(t, "prometheus/alerts.yml") {
		asked = append(asked, r.Expr)
	}
	asked = append(asked, expressions(t)...)
	name := regexp.MustCompile(`\b(ibwitness|process|go)_[a-z0-9_]+|\bup\b`)
	for _, expr := range asked {
		found := name.FindAllString(strings.NewReplacer(`"ibwitness"`, "").Replace(expr), -1)
		if len(found) == 0 {
			t.Errorf("no metric in %q", expr)
		}
		for _, n := range found {
			if !known[n] {
				t.Errorf("%s is not exported: %s", n, expr)
			}
		}
	}
}

// panel is a panel of a dashboard.
type panel struct {
	ID      int
	Type    string
	Title   string
	GridPos struct{ X, Y, W, H int }
	Targets []struct{ Expr string }
}

func panels(t *testing.T) []panel {
	t.Helper()
	raw, err := os.ReadFile("grafana/ibwitness.json")
	if err != nil {
		t.Fatal(err)
	}
	var board struct{ Panels []panel }
	if err := json.Unmarshal(raw, &board); err != nil {
		t.Fatal(err)
	}
	return board.Panels
}

// expressions are the queries of the dashboard, with its variables filled in.
func expressions(t *testing.T) (list []string) {
	t.Helper()
	fill := strings.NewReplacer("$__rate_interval", "1m", "$__range", "1h", "$job", ".+", "$instance", ".+")
	for _, p := range panels(t) {
		for _, q := range p.Targets {
			list = append(list, fill.Replace(q.Expr))
		}
		if len(p.Targets) == 0 && p.Type != "row" {
			t.Errorf("panel %q shows nothing", p.Title)
		}
	}
	return list
}

// TestDashboard: its queries are PromQL, and its panels do not overlap.
func TestDashboard(t *testing.T) {
	var rules strings.Builder
	rules.WriteString("groups:\n- name: dashboard\n  rules:\n")
	for i, e := range expressions(t) {
		if strings.Contains(e, "$") {
			t.Errorf("an unknown variable: %s", e)
		}
		fmt.Fprintf(&rules, "  - {record: 'panel:%d', expr: %q}\n", i, e)
	}
	file := filepath.Join(t.TempDir(), "rules.yml")
	if err := os.WriteFile(file, []byte(rules.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	promtool(t, "check", "rules", file)

	cells, ids := map[[2]int]string{}, map[int]bool{}
	for _, p := range panels(t) {
		if ids[p.ID] {
			t.Errorf("two panels have the number %d", p.ID)
		}
		ids[p.ID] = true
		for x := range p.GridPos.W {
			for y := range p.GridPos.H {
				at := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
				if other, ok := cells[at]; ok || at[0] >= 24 {
					t.Fatalf("%q lies over %q, or outside", p.Title, other)
				}
				cells[at] = p.Title
			}
		}
	}
}
