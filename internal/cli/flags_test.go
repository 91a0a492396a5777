package cli

import (
	"strings"
	"testing"
)

// TestFlags refuses numbers beyond reason, interfaces that are none, and one that is given twice.
func TestFlags(t *testing.T) {
	const huge = "9223372036854775807"
	for args, want := range map[string]string{
		"watch --interface=":                   "--interface names none",
		"watch -i lo -i eth7,lo":               "--interface lo is given twice",
		"watch -i lo --memory " + huge:         "--memory " + huge + ": give a number of MiB, at most 16777216",
		"watch -i lo --memory=-8796093022208":  "--memory -8796093022208: give a number of MiB",
		"watch -i lo --ring 8796093022208":     "--ring 8796093022208: give a number of MiB",
		"watch -i lo --ring " + huge:           "--ring " + huge + ": give a number of MiB",
		"watch -i lo --recorder " + huge:       "--recorder " + huge + ": give a number of MiB",
		"watch -i lo --write-size " + huge:     "--write-size " + huge + ": give a number of MiB",
		"watch -i lo --log-size " + huge:       "--log-size " + huge + ": give a number of MiB",
		"watch -i lo --sockets 65537":          "--sockets 65537: give 65536 at most",
		"check --memory " + huge + " a.pcap":   "--memory " + huge + ": give a number of MiB",
		"check --memory=-1 a.pcap":             "--memory -1: give a number of MiB",
		"check --workers " + huge + " a.pcap":  "--workers " + huge + ": give 0 for all cores",
		"simulate --packets=-1 a.yaml":         "--packets",
		"watch -i lo --write-size 0":           "must be positive",
		"watch -i lo --memory 100 --listen=":   "--memory 100 is not enough",
		"watch -i no-such-interface --listen=": "no-such-interface",
	} {
		if status, _, errs := run(t, strings.Fields(args)...); status != 2 || !strings.Contains(errs, want) {
			t.Errorf("%s: exit status %d: %s", args, status, errs)
		}
	}
}
