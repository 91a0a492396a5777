package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWaive: what is waived does not fail a run, and every format shows it, and why.
func TestWaive(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, text string) string {
		t.Helper()
		if err := os.WriteFile(in(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return in(name)
	}
	run := func(args ...string) (string, int) {
		t.Helper()
		out, err := os.Create(in("out"))
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		status := Main(append([]string{"check", "--quiet", "../../testdata/captures/rnr_retry_exceeded.pcap"}, args...), out, out)
		text, err := os.ReadFile(in("out"))
		if err != nil {
			t.Fatal(err)
		}
		return string(text), status
	}
	waiver := write("waive.json", `[{"rule": "RC-RSP-043", "accused": "10.77.0.2", "why": "ticket 4711"}]`)
	for format, shows := range map[string]string{
		"text":  "  4  RC-RSP-043 nak-duplicate  responder 10.77.0.2 QP 0x38  ticket 4711\n",
		"json":  `"class":"waived","waived":"ticket 4711","severity":"error"`,
		"junit": `<skipped message="waived, 4 times: ticket 4711"></skipped>`,
		"sarif": `"justification": "ticket 4711"`,
	} {
		if out, status := run("--format", format); status != 1 || strings.Contains(out, "4711") {
			t.Errorf("%s without waivers: exit status %d\n%s", format, status, out)
		}
		if out, status := run("--format", format, "--waive", waiver); status != 0 || !strings.Contains(out, shows) {
			t.Errorf("%s: exit status %d, and it should have %q:\n%s", format, status, shows, out)
		}
	}
	if out, _ := run("--waive", waiver); !strings.HasPrefix(out, "NOT PROVEN") || !strings.Contains(out, "also 4 waived, 20 events") {
		t.Errorf("the verdict:\n%s", out)
	}
	if _, status := run("--waive", waiver, "--html", in("page.html"), "--annotate", in("annotated.pcapng")); status != 0 {
		t.Errorf("exit status %d", status)
	}
	for name, shows := range map[string]string{
		"page.html": "Waived (4): RC-RSP-043 nak-duplicate by responder 10.77.0.2 QP 0x38: ticket 4711", "annotated.pcapng": ", waived: ticket 4711",
	} {
		if text, err := os.ReadFile(in(name)); err != nil || !strings.Contains(string(text), shows) {
			t.Errorf("%s, %v: it should have %q", name, err, shows)
		}
	}
	other := write("other.json", `{"taps": [], "waive": [{"rule": "RC-RSP-043", "accused": "10.77.0.1", "why": "x"}]}`)
	if _, status := run("--waive", other); status != 1 {
		t.Errorf("exit status %d where somebody else is waived", status)
	}
	if _, status := run("--waive", other, "--waive", waiver); status != 0 {
		t.Errorf("exit status %d of two files of waivers", status)
	}
	for _, wrong := range []string{in("none.json"), write("wrong.json", `[{"rule": "BTH-999", "why": "x"}]`)} {
		if out, status := run("--waive", wrong); status != 2 || !strings.Contains(out, "--waive") {
			t.Errorf("exit status %d: %s", status, out)
		}
	}
}
