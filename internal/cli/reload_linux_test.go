package cli

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"ibwitness/internal/testkit/sample"
	"ibwitness/internal/testkit/veth"
)

// TestWebConfig: passwords are read from their file again with each request.
func TestWebConfig(t *testing.T) {
	if !veth.Network(t) {
		return
	}
	file := filepath.Join(t.TempDir(), "web.yaml")
	write := func(hash string) {
		t.Helper()
		if err := os.WriteFile(file, []byte("basic_auth_users:\n  prometheus: "+hash+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("$2a$04$6J7lv5UBl61ElokM.MyksuK8n0bVZvmKhw1qe/x2wcF8K8HMw92Fq") // first
	p := start(t, "watch", "-i", "right", "--listen", "127.0.0.1:9846", "--web-config", file)
	p.logs("watching")
	get := func(password string, want int) {
		t.Helper()
		r, err := http.NewRequest(http.MethodGet, "http://127.0.0.1:9846/metrics", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.SetBasicAuth("prometheus", password)
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if a.Body.Close(); a.StatusCode != want {
			t.Errorf("%s: %s, not %d", password, a.Status, want)
		}
	}
	get("first", http.StatusOK)
	get("second", http.StatusUnauthorized)
	write("$2a$04$QThmyIcwJwk5mN0ejoqHsuv7uGfevHKW/AMefST3ROgqzpXjRV.6m") // second
	get("second", http.StatusOK)
	get("first", http.StatusUnauthorized)
	p.stop()
}

// TestReload: at SIGHUP a changed file is taken over as far as it can be, what cannot is said, and a bad one changes nothing.
func TestReload(t *testing.T) {
	sample.Skip(t, "it waits time and again until all is judged, some seconds each")
	if !veth.Network(t) {
		return
	}
	file := filepath.Join(t.TempDir(), "watch.yaml")
	write := func(lines ...string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("interface: right", "promiscuous: true", "repeats: 1", "listen: 127.0.0.1:9846")
	p := start(t, "watch", "--config", file, "--workers", "1")
	p.logs("watching")
	const address = "127.0.0.1:9846"
	// count returns how many violations there were so far, and how many of them and how many events are written.
	count := func() (violated, written, events int) {
		t.Helper()
		p.settled(address)
		b, _ := os.ReadFile(p.out)
		written = len(regexp.MustCompile(`"kind":"finding","rule":"RC-RSP-043","name":"[a-z-]+","class":"violation"`).FindAll(b, -1))
		return p.counted(address, nakViolated), written, strings.Count(string(b), `"class":"event"`)
	}
	sent := 0
	play := func(all, legal bool) {
		t.Helper()
		var violated, written, events, v, w, e int
		v, w, e = count()
		violate(t, func() bool {
			violated, written, events = v, w, e
			sent += nakSends
			p.tell(address, fmt.Sprintf(`ibwitness_packets_total{class="send",service="RC"} %d`, sent))
			v, w, e = count()
			return v-violated >= 2
		})
		want, n := v-violated, w-written
		if all && n != want || !all && (n < 1 || n >= want && n > 2) || (e > events) != legal {
			b, _ := os.ReadFile(p.out)
			t.Errorf("of %d violations %d are written, and %d events:\n%s", want, n, e-events, b)
		}
	}
	hup := func() {
		t.Helper()
		if err := p.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	play(false, false)

	write("interface: right", "promiscuous: true", "repeats: 1", "listen: 127.0.0.1:9846", "evnets: true")
	hup()
	p.logs(`evnets.*did you mean events\?.*is refused: the one from before stays`)
	p.tell(address, "ibwitness_config_last_reload_successful 0")

	write("interface: right", "promiscuous: true", "repeats: 0", "events: true", "listen: 127.0.0.1:9847", "workers: 2")
	hup()
	p.logs(`"flag":"listen","in_force":"127.0.0.1:9846","configured":"127.0.0.1:9847".*only when the program is restarted`)
	p.logs(`"flag":"repeats","before":"1","now":"0"`)
	p.logs(`"changed":2.*was read again`)
	p.tell(address, "ibwitness_config_last_reload_successful 1")
	play(true, true)
	b, _ := os.ReadFile(p.log)
	if strings.Contains(string(b), `"flag":"workers"`) {
		t.Errorf("the command line does not win over the file:\n%s", b)
	}

	write("interface: right", "log-level: error", "web-config: /nowhere")
	hup()
	p.logs("--web-config /nowhere.*is refused")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	hup()
	p.logs("no such file.*is refused")
	p.stop()
}

// TestHangUp: where the terminal is gone, the command ends.
func TestHangUp(t *testing.T) {
	ended := make(chan bool, 1)
	r := &reloader{s: &session{errTerminal: true}, ended: func() { ended <- true }, told: func(bool) { t.Error("it reads its configuration") }}
	stop := r.listen()
	defer stop()
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(eventually):
		t.Error("it goes on")
	}
}

// TestLevel: how much is logged may change.
func TestLevel(t *testing.T) {
	var out strings.Builder
	l := new(level)
	log := zerolog.New(&out).Hook(l)
	for _, name := range []string{"warn", "debug", "error"} {
		l.set(name)
		log.Debug().Msg(name + " debug")
		log.Warn().Msg(name + " warn")
		log.Error().Msg(name + " error")
	}
	want := "warn warn, warn error, debug debug, debug warn, debug error, error error"
	if got := strings.Join(regexp.MustCompile(`[a-z]+ [a-z]+`).FindAllString(out.String(), -1), ", "); got != want {
		t.Errorf("%s, not %s", got, want)
	}
}
