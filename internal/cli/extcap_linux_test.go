package cli

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/internal/testkit/programs"
	"ibwitness/internal/testkit/sample"
	"ibwitness/internal/testkit/veth"
)

// TestExtcap: tshark lists the interface, captures from it, and shows what is found in its frames as their comments.
func TestExtcap(t *testing.T) {
	sample.Skip(t, "tshark takes seconds, and TestExtcapAnswers has the rest")
	if !veth.Network(t) {
		return
	}
	tshark := programs.Find(t, "tshark")
	b := newBench(t)
	for _, line := range documentedAs(t, exampleExtcap) {
		if _, log, status := b.run(line); status != 0 {
			t.Fatalf("$ %s\n%s", line, log)
		}
	}
	env := b.env()
	list := exec.Command(tshark, "-D")
	list.Env = append(os.Environ(), env...)
	out, err := list.CombinedOutput()
	if err != nil || !regexp.MustCompile(`(?m)^\d+\. ibwitness-right \(ibwitness: right\)$`).Match(out) {
		t.Fatalf("tshark -D: %v\n%s", err, out)
	}

	// -l: each line at once. The violation is found while the capture runs, some seconds after its frame.
	p := launch(t, env, tshark, "-i", "ibwitness-right", "-l", "-T", "fields", "-e", "frame.number", "-e", "infiniband.bth.psn", "-e", "frame.comment")
	p.logs("Capturing on 'ibwitness: right")
	const want = "violation RC-RSP-043 nak-duplicate, responder 10.77.0.2 QP 0x38: expected no further NAK after the RNR NAK"
	var lines []string
	if !until(func() bool { // until the capture has begun, and the times were kept
		replayFile(t, naks, "left")
		time.Sleep(settle + time.Second)
		text, _ := os.ReadFile(p.out)
		lines = strings.Split(strings.TrimSpace(string(text)), "\n")
		return len(lines) >= 20 && slices.ContainsFunc(lines, func(line string) bool {
			fields := strings.Split(line, "\t")
			return len(fields) == 3 && fields[1] == "15484960" && strings.Contains(fields[2], want)
		})
	}) {
		text, _ := os.ReadFile(p.log)
		t.Errorf("of %d frames none with PSN 0xec4820 has the comment %q:\n%s\n%s", len(lines), want, strings.Join(lines, "\n"), text)
	}
	if err := p.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(); err != nil {
		text, _ := os.ReadFile(p.log)
		t.Errorf("%v: %s", err, text)
	}
}

// TestExtcapAnswers: what Wireshark asks before it captures.
func TestExtcapAnswers(t *testing.T) {
	for _, c := range []struct {
		args   string
		status int
		want   string
	}{
		{"--extcap-interfaces --extcap-version=4.0", 0, "interface {value=ibwitness-lo}{display=ibwitness: lo}\n"},
		{"--extcap-dlts --extcap-interface ibwitness-lo", 0, "dlt {number=1}{name=EN10MB}{display=Ethernet}\n"},
		{"--extcap-config --extcap-interface ibwitness-lo", 0, "{call=--near}"},
		{"--extcap-interface ibwitness-lo --extcap-capture-filter tcp", 2, "there is no capture filter here"},
		{"--capture --extcap-interface eth0 --fifo /dev/null", 2, `"eth0" is no interface of this program`},
		{"--capture --extcap-interface ibwitness-nowhere0 --fifo /dev/null", 2, "nowhere0: find it"},
		{"extcap", 2, "link "},
	} {
		cmd := exec.Command(os.Args[0], strings.Fields(c.args)...)
		cmd.Env = append(os.Environ(), asCommand+"=1")
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if _ = cmd.Run(); cmd.ProcessState.ExitCode() != c.status || !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: exit status %d: %s", c.args, cmd.ProcessState.ExitCode(), &out)
		}
	}
}
