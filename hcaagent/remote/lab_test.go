package remote_test

import (
	"flag"
	"strings"
	"testing"

	"ibwitness/hcaagent/remote"
)

var (
	duts       = flag.String("duts", "", "two devices that are served, on one network: HOST:PORT,HOST:PORT; see docs/lab.md")
	dutsSecret = flag.String("duts.secret", "", "the file of their secret")
)

// devices connects to the two devices of -duts, and skips the test where there are none.
func devices(t *testing.T) (a, b *end) {
	t.Helper()
	if *duts == "" {
		t.Skip("it takes two devices: give -duts")
	}
	secret, err := remote.ReadSecret(*dutsSecret)
	if err != nil {
		t.Fatal(err)
	}
	first, second, _ := strings.Cut(*duts, ",")
	a, b = dial(t, first, secret), dial(t, second, secret)
	t.Logf("%+v", a.Info())
	t.Logf("%+v", b.Info())
	return a, b
}

// TestDevices has two devices do what any devices do.
func TestDevices(t *testing.T) {
	a, b := devices(t)
	suite(t, a, b)
}
