package cli

import (
	"encoding/json"
	"net/http"
	"syscall"
	"testing"
)

// TestCheckWeb serves the page of a capture until it is interrupted, and then exits as the verdict is.
func TestCheckWeb(t *testing.T) {
	p := start(t, "check", "-q", "--web", "../../testdata/captures/rnr_retry_exceeded.pcap")
	url := p.logs(`"url":"([^"]+)"`)
	for path, want := range map[string]string{"api/summary": "VIOLATED", "api/finding/9/ladder": ""} {
		r, err := http.Get(url + path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		var got struct {
			Verdict string
			Rows    []any
		}
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil || got.Verdict != want || want == "" && len(got.Rows) < 10 {
			t.Errorf("%s: %v %+v", path, err, got)
		}
	}
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if _ = p.Wait(); p.ProcessState.ExitCode() != 1 {
		t.Errorf("%v", p.ProcessState)
	}
}
