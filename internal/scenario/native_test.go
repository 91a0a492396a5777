package scenario

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"ibwitness/fabricagent/sim"
	"ibwitness/hcaagent/soft"
	"ibwitness/internal/testkit/sample"
)

// nativeScenario makes up a scenario on a native link, on which packets of all kinds are damaged.
func (c *chance) nativeScenario(seed uint64) string {
	text := c.scenario(seed)
	for _, a := range [][2]string{{"10.0.0.1", "lid:1"}, {"fd00::1", "lid:1"}, {"10.0.0.2", "lid:2"}, {"fd00::2", "lid:2"}} {
		text = strings.Replace(text, "'"+a[0]+"'", fmt.Sprintf("'%s', buffer: %d, drain: %dns", a[1], pick(c, 200, 1000, 3000), pick(c, 0, 0, 5, 10)), 1)
	}
	for _, qp := range regexp.MustCompile(`(?m)^  a([0-9]+): \{hca`).FindAllStringSubmatch(text, -1) {
		sl := c.IntN(16)
		for _, end := range []string{"a", "b"} {
			text = strings.Replace(text, "  "+end+qp[1]+": {hca", fmt.Sprintf("  %s%s: {sl: %d, hca", end, qp[1], sl), 1)
		}
	}
	// What waits for credits in a port leaves although the device has learned otherwise meanwhile: RNR waits are longer than that.
	text = regexp.MustCompile(`min_rnr_timer: \d+`).ReplaceAllString(text, "min_rnr_timer: 14")
	noise := ""
	if c.is(0.5) {
		noise = fmt.Sprintf("noise: %.4f, ", 0.0001+0.01*c.Float64())
	}
	if seed%3 == 0 {
		r := rand.New(rand.NewPCG(seed, 9))
		at := 20 + r.IntN(400)
		noise += fmt.Sprintf("bounces: [{at: %dus, for: %dus}, {at: %dus, for: 3us}], ", at, 1+r.IntN(200), at+300+r.IntN(500))
	}
	return strings.Replace(text, "link: {", fmt.Sprintf("link: {lanes: %d, symbol: %d, width: %d, %s", pick(c, 1, 2, 4, 8, 15), pick(c, 400, 1000, 4000), pick(c, 1, 4, 12), noise), 1)
}

// TestNative: no device and no port is accused on a native link either, whatever is damaged on it.
func TestNative(t *testing.T) {
	nobody(t, max(sample.Part(*runs, 10)/2, 1), "native", func(seed uint64) (*chance, string) {
		c := &chance{Rand: rand.New(rand.NewPCG(seed, 6)), kinds: "drop corrupt", taps: []string{"a", "b", "middle", "a, b"}}
		return c, c.nativeScenario(seed)
	})
}

// TestFaultNames: a fault is one of an adapter or one of a port, and never both.
func TestFaultNames(t *testing.T) {
	for _, name := range sim.LinkFaultNames() {
		if soft.Faults[name] != nil {
			t.Errorf("%s is a fault of an adapter and of a port", name)
		}
	}
}
