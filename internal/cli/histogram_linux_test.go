package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/internal/testkit/programs"
	"ibwitness/internal/testkit/traffic"
	"ibwitness/internal/testkit/veth"
	"ibwitness/verifier"
)

// TestHistograms: Prometheus reads the histograms, as native ones and as classic ones, and they count as many answers as there are in the traffic.
func TestHistograms(t *testing.T) {
	if !veth.Network(t) {
		return
	}
	raw := traffic.Capture(traffic.Small(60), 20_000)
	src, err := fabricagent.OpenReader("traffic", bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	r, err := agent.Run(context.Background(), src, agent.Options{Latencies: true})
	if err != nil {
		t.Fatal(err)
	}
	watch := start(t, "watch", "-i", "right", "--promiscuous", "--listen", "127.0.0.1:9846")
	watch.logs("watching")
	dir := t.TempDir()
	config := filepath.Join(dir, "prometheus.yml")
	text := "global: {scrape_interval: 500ms, scrape_timeout: 500ms}\nscrape_configs: [{job_name: ibwitness, static_configs: [{targets: ['127.0.0.1:9846']}]}]\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, args := range [][]string{{"--enable-feature=native-histograms"}, nil} {
		server := launch(t, nil, programs.Find(t, "prometheus"), append(args, "--config.file", config, "--storage.tsdb.path", filepath.Join(dir, fmt.Sprint(i)),
			"--web.listen-address", fmt.Sprintf("127.0.0.1:%d", 9090+i))...)
		server.logs("Server is ready")
	}
	ask := func(server int, query string) (value string) {
		var answer struct {
			Data struct{ Result []struct{ Value []any } }
		}
		r, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/api/v1/query?query=%s", 9090+server, url.QueryEscape(query)))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		if err := json.NewDecoder(r.Body).Decode(&answer); err != nil {
			t.Fatal(err)
		}
		if len(answer.Data.Result) == 1 {
			value, _ = answer.Data.Result[0].Value[1].(string)
		}
		return value
	}
	replay(t, raw, "left")
	for kind, operation := range map[verifier.Interval]string{
		verifier.SendToAck: "send", verifier.WriteToAck: "write", verifier.ReadToFirst: "read", verifier.AtomicToAck: "atomic",
	} {
		want := fmt.Sprint(r.Latencies[kind].Count())
		series := fmt.Sprintf("ibwitness_request_ack_seconds{operation=%q}", operation)
		count := fmt.Sprintf("ibwitness_request_ack_seconds_count{operation=%q}", operation)
		bucket := fmt.Sprintf("ibwitness_request_ack_seconds_bucket{operation=%q}", operation)
		got := [2]string{}
		until(func() bool {
			got = [2]string{ask(0, "histogram_count("+series+")"), ask(1, count)}
			return got == [2]string{want, want}
		})
		if got != [2]string{want, want} || want == "0" {
			t.Errorf("%s: %s native, %s classic, not %s", operation, got[0], got[1], want)
		}
		for i, q := range []string{"histogram_quantile(0.5, " + series + ")", "histogram_quantile(0.5, sum by (le) (" + bucket + "))"} {
			var seconds float64
			var err error
			until(func() bool { // a scrape may have failed, where the machine was busy
				_, err = fmt.Sscan(ask(i, q), &seconds)
				return err == nil
			})
			if err != nil || seconds < 1e-7 || seconds > 1 {
				t.Errorf("%s: median %v, %v", operation, seconds, err)
			}
		}
	}
	watch.stop()
}
