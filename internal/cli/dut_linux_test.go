package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"ibwitness/hcaagent/remote"
	"ibwitness/internal/testkit/veth"
)

// TestDut serves the adapter in software: it says what it is and who has it, gives up its privileges, and ends at a signal.
func TestDut(t *testing.T) {
	if !veth.Network(t) {
		return
	}
	file := filepath.Join(t.TempDir(), "secret")
	if status, out, errs := run(t, "dut", "--new-secret", file); status != 0 || !strings.Contains(out, "has a new secret") {
		t.Fatalf("exit status %d: %s%s", status, out, errs)
	}
	secret, err := remote.ReadSecret(file)
	if err != nil {
		t.Fatal(err)
	}
	p := start(t, "dut", "--device", "soft", "-i", "left", "--address", "10.0.0.9,10.0.0.10", "--listen", "127.0.0.1:0", "--secret", file)
	if line := p.logs(`.*"device under test"`); !strings.Contains(line, `"address":"10.0.0.9"`) || !strings.Contains(line, `"interface":"left"`) {
		t.Errorf("%s", line)
	}
	address := p.logs(`"address":"(127[^"]+)"`)
	c, err := remote.Dial(context.Background(), address, secret, nil)
	if err != nil {
		t.Fatal(err)
	}
	p.logs(`"client":"127.0.0.1:\d+".*a client has the device`)
	if i := c.Info(); i.Device != "soft" || len(i.GIDs) != 2 || i.Interface != "left" {
		t.Errorf("%+v", i)
	}
	if _, err := remote.Dial(context.Background(), address, secret, nil); !errors.Is(err, remote.ErrInUse) {
		t.Errorf("a second client: %v", err)
	}
	p.logs(`a client is refused`)
	if b, err := os.ReadFile("/proc/" + strconv.Itoa(p.Process.Pid) + "/status"); err != nil || !strings.Contains(string(b), "CapEff:\t0000000000000000") {
		t.Errorf("it keeps its privileges: %v", err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	p.logs(`the client has gone`)
	if _, err = remote.Dial(context.Background(), address, secret, nil); err != nil { // it opens the device once more, without privileges
		t.Fatal(err)
	}
	p.stop()
	p.logs(`"ended"`)
	veth.IP(t, "address add 10.0.0.9/24 dev left")
	p = start(t, "dut", "--device", "soft", "-i", "left", "--listen", "127.0.0.1:0", "--secret", file)
	p.logs(`"warn".*the kernel has the address of the adapter too`)
	p.logs(`"address":"10.0.0.9"`)
	p.logs(`the device is served`)
	p.stop()
}

// TestDutMistakes: mistakes are told, and what to do.
func TestDutMistakes(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "secret")
	if err := remote.NewSecret().WriteFile(file); err != nil {
		t.Fatal(err)
	}
	open := filepath.Join(dir, "open")
	if err := os.WriteFile(open, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"":                               "give --device",
		"--device rxe0":                  "--new-secret FILE makes one",
		"--device rxe0 --secret none":    "--new-secret FILE",
		"--device rxe0 --secret " + open: "chmod 600",
		"--device rxe0 --fault early-retry --secret " + file:         "are for --device soft",
		"--device soft --secret " + file:                             "give --interface",
		"--device soft -i lo --secret " + file:                       "is no Ethernet interface",
		"--device soft -i none0 --secret " + file:                    "`ip link` lists",
		"--device soft -i lo --address 239.1.1.1 --secret " + file:   "--address 239.1.1.1",
		"--device soft -i lo --fault none --secret " + file:          "no fault is called",
		"--new-secret " + file:                                       "give the name of a new file",
		"--device rxe0 --secret " + file + " --listen 127.0.0.1:99x": "verbs",
	} {
		status, _, errs := run(t, append([]string{"dut"}, strings.Fields(args)...)...)
		if status != 2 || !strings.Contains(errs, want) {
			t.Errorf("dut %s: exit status %d: %s, not %q", args, status, errs, want)
		}
	}
}
