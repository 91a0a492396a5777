package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ibwitness/internal/testkit/programs"
	"ibwitness/internal/testkit/sample"
	"ibwitness/internal/testkit/traffic"
	"ibwitness/internal/testkit/veth"
)

// TestPrometheus: a real Prometheus server scrapes a run, and the alert of deploy/prometheus fires on a violation that is planted in the traffic,
// and not before.
func TestPrometheus(t *testing.T) {
	sample.Skip(t, "Prometheus takes seconds to start and to scrape")
	if !veth.Network(t) {
		return
	}
	watch := start(t, "watch", "-i", "right", "--promiscuous", "--listen", "127.0.0.1:9846")
	watch.logs("watching")

	dir := t.TempDir()
	config, err := os.ReadFile("../../deploy/prometheus/prometheus.yml")
	if err != nil {
		t.Fatal(err)
	}
	alerts, err := filepath.Abs("../../deploy/prometheus/alerts.yml")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "prometheus.yml")
	text := strings.NewReplacer("15s", "500ms", "alerts.yml", alerts).Replace(string(config))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	server := launch(t, nil, programs.Find(t, "prometheus"), "--config.file", file, "--storage.tsdb.path", filepath.Join(dir, "data"),
		"--web.listen-address", "127.0.0.1:9090")
	server.logs("Server is ready")

	ask := func(query string) []string {
		t.Helper()
		var answer struct {
			Data struct {
				Result []struct {
					Metric map[string]string
					Value  []any
				}
			}
		}
		r, err := http.Get("http://127.0.0.1:9090/api/v1/query?query=" + url.QueryEscape(query))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		if err := json.NewDecoder(r.Body).Decode(&answer); err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, s := range answer.Data.Result {
			list = append(list, fmt.Sprintf("%s %s %s=%v", s.Metric["alertname"], s.Metric["rule"], s.Metric["accused"], s.Value[1]))
		}
		slices.Sort(list)
		return list
	}
	tells := func(query, want string) {
		t.Helper()
		var got []string
		if until(func() bool {
			got = ask(query)
			return slices.Equal(got, []string{want})
		}) {
			return
		}
		b, _ := os.ReadFile(watch.log)
		t.Fatalf("%s is %q, not %q\n%s", query, got, want, b)
	}

	frames := replay(t, traffic.Capture(traffic.Small(60), 20_000), "left")
	tells("sum(ibwitness_packets_total)", fmt.Sprintf("  =%d", frames))
	watch.settled("127.0.0.1:9846") // findings of it are told
	for range 3 {                   // scrapes, so that the alerts have been evaluated since
		const scraped = "max(timestamp(ibwitness_connections))"
		last := ask(scraped)
		until(func() bool { now := ask(scraped); return len(now) > 0 && !slices.Equal(now, last) })
	}
	if got := ask(`ALERTS{alertstate="firing"}`); len(got) > 0 {
		t.Errorf("clean traffic: %q", got)
	}
	violate(t, func() bool {
		watch.settled("127.0.0.1:9846")
		return watch.counted("127.0.0.1:9846", nakViolated) > 0
	})
	tells(`ALERTS{alertname="IbwitnessViolation", alertstate="firing"}`, "IbwitnessViolation RC-RSP-043 responder=1")

	page, err := http.Get("http://127.0.0.1:9846/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer page.Body.Close()
	lint := exec.Command(programs.Find(t, "promtool"), "check", "metrics")
	lint.Stdin = io.Reader(page.Body)
	if out, err := lint.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("promtool check metrics: %v %s", err, out)
	}
	watch.stop()
}
