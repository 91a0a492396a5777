package cli

import (
	"context"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"ibwitness/hcaagent/realtime"
	"ibwitness/hcaagent/remote"
	"ibwitness/internal/testkit/veth"
	"ibwitness/packet"
)

// servedAdapter is an adapter in software at the interface right, which testers reach at an address.
type servedAdapter struct {
	address string
	stop    func() // as if its machine disappeared
	ends    sync.WaitGroup
}

func serveAdapter(t *testing.T, secret remote.Secret, fault string) *servedAdapter {
	t.Helper()
	port, err := realtime.OpenPort(realtime.PortOptions{Interface: "right", Addrs: []packet.Addr{packet.IPv4Addr([]byte{10, 9, 0, 3})}, Fault: fault})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	d := &servedAdapter{address: l.Addr().String(), stop: cancel}
	d.ends.Go(func() { _ = (&remote.Server{Secret: secret, Open: port.Open}).Serve(ctx, l) })
	t.Cleanup(func() {
		cancel()
		d.ends.Wait()
		_ = port.Close()
	})
	return d
}

// TestConformLive: an adapter in real time, over a network, passes the tests and fails them by its fault as in simulated time; a scenario is played against it; what stops it
// is told.
func TestConformLive(t *testing.T) {
	if !veth.Network(t) {
		return
	}
	veth.IP(t, "address add 10.9.0.1/24 dev left")
	file := filepath.Join(t.TempDir(), "secret")
	secret := remote.NewSecret()
	if err := secret.WriteFile(file); err != nil {
		t.Fatal(err)
	}
	at := func(d *servedAdapter, args ...string) (int, string, string) {
		return run(t, append([]string{"conform", "run", "--seed", "1", "--dut", d.address, "--secret", file, "-i", "left", "--window", "1s", "--jitter", "200ms"}, args...)...)
	}
	lacks := func(what, out string, want ...string) {
		t.Helper()
		for _, w := range want {
			if !strings.Contains(out, w) {
				t.Errorf("%s: lacks %q: %s", what, w, out)
			}
		}
	}

	clean := serveAdapter(t, secret, "")
	status, out, errs := at(clean, "--all", "C09_060_01_01", "X09_208", "X09_316", "X08_001")
	if status != 2 {
		t.Errorf("exit status %d: %s", status, errs)
	}
	lacks("clean", out, "pass            C09_060_01_01", "pass            X09_208", "inconclusive    X09_316", "not applicable  X08_001", "a frame to 239.1.2.3 is not sent")
	if status, out, errs = at(clean, "--to", "239.1.2.3", "X09_316"); status != 0 {
		t.Errorf("multicast: exit status %d: %s%s", status, out, errs)
	}
	status, out, errs = at(clean, "--scenario", "../../examples/lost-ack.yaml")
	if status != 0 || !strings.HasPrefix(out, "INCIDENT  nothing violated") {
		t.Errorf("scenario: exit status %d: %s%s", status, out, errs)
	}
	lacks("scenario", out, "10.9.0.1", "10.9.0.3", "retrans.")
	if status, _, errs = at(clean, "--scenario", "../../examples/faulty-msn.yaml", "--as", "b"); status != 2 {
		t.Errorf("scenario with a fault: exit status %d", status)
	}
	lacks("scenario with a fault", errs, "which a real device cannot be given")

	began := time.Now()
	time.AfterFunc(3*time.Second, clean.stop)
	status, out, _ = at(clean, "--all", "C09_142_01")
	if status != 2 || time.Since(began) > 30*time.Second {
		t.Errorf("a device that disappears: exit status %d after %v", status, time.Since(began))
	}
	lacks("a device that disappears", out, "INCONCLUSIVE", "the connection to the device has ended")

	faulty := serveAdapter(t, secret, "wrong-msn")
	if status, out, _ = at(faulty, "C09_060_01_01"); status != 1 {
		t.Errorf("faulty: exit status %d: %s", status, out)
	}
	lacks("faulty", out, "FAILED", "v1c09-060#01")
	faulty.stop()
	faulty = serveAdapter(t, secret, "ack-with-payload")
	if status, out, _ = at(faulty, "--scenario", "../../examples/send.yaml"); status != 1 {
		t.Errorf("a scenario against a faulty one: exit status %d: %s", status, out)
	}
	lacks("a scenario against a faulty one", out, "VIOLATED", "RC-RSP-008")
}

// TestConformLiveRefuses: what is wrong with the flags of a real device is told, with what to do.
func TestConformLiveRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret")
	if err := remote.NewSecret().WriteFile(file); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"--secret x C09_1":                          "give --dut HOST:PORT too",
		"--dut h:1 C09_1":                           "give --secret FILE",
		"--dut h:1 --secret x C09_1":                "give --interface NAME",
		"--dut h:1 --secret x -i lo --fault no-ack": "leave one out",
		"--dut 127.0.0.1:1 -i lo --secret " + file:  "start ibwitness dut there",
		"--dut h:1 --secret /dev/null/x -i lo":      "ibwitness dut --new-secret",
		"--dut h:1 --secret x -i lo --rate 0":       "give 1 to 1000000",
		"--dut h:1 --secret x -i lo --jitter 2s":    "--jitter up to 1s",
		"--scenario ../../examples/send.yaml":       "give --dut HOST:PORT",
		"--as b":                                    "give --scenario",
		"--dut h:1 --secret x -i lo --scenario ../../examples/send.yaml C09_1": "not both",
	} {
		if status, out, errs := run(t, append([]string{"conform", "run"}, strings.Fields(args)...)...); status != 2 || !strings.Contains(errs, want) {
			t.Errorf("%s: exit status %d, lacks %q: %s%s", args, status, want, out, errs)
		}
	}
}
