package report

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ibwitness/packet"
	"ibwitness/rule"
)

func TestNumber(t *testing.T) {
	for n, want := range map[uint64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", 18446744073709551615: "18,446,744,073,709,551,615"} {
		if got := number(n); got != want {
			t.Errorf("%d: got %s, want %s", n, got, want)
		}
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[uint64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1<<20 - 1: "1.0 MiB", 1 << 40: "1.0 TiB", 1<<64 - 1: "16.0 EiB"} {
		if got := size(n); got != want {
			t.Errorf("%d: got %s, want %s", n, got, want)
		}
	}
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-1: "0 s", 0: "0 s", 17: "17ns", 1234567: "1.235ms", 3021499999: "3.021s", 100 * time.Hour: "100h0m0s",
	} {
		if got := span(d); got != want {
			t.Errorf("%d: got %s, want %s", d, got, want)
		}
	}
}

func TestFrames(t *testing.T) {
	for want, list := range map[string][]uint64{
		"frame 7": {7}, "frames 7 and 9": {7, 9}, "frames 1, 2, 3, 4, 5, 6, 7, 8 and 2 more": {1, 2, 3, 4, 5, 6, 7, 8, 9, 10},
	} {
		if got := frames(list); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestWrap: no word is lost, and no line is longer than asked unless it is one word.
func TestWrap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		width := rapid.IntRange(1, 60).Draw(t, "width")
		lines := wrap(text, width)
		if got, want := strings.Join(lines, " "), strings.Join(strings.Fields(printable(text)), " "); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
		for _, l := range lines {
			if len([]rune(l)) > width && strings.Contains(l, " ") {
				t.Fatalf("line %q is wider than %d", l, width)
			}
		}
	})
}

func TestParty(t *testing.T) {
	sw := rule.Node{GUID: 0x2c90300001234, Description: `sw "1"`}
	byRoute, unknown := sw, rule.Node{Route: "0"}
	byRoute.Route = "0,1,3"
	all := packet.LIDAddr(0xFFFF)
	for _, c := range []struct {
		of   rule.Endpoint
		want string
	}{
		{rule.Endpoint{Addr: packet.LIDAddr(3), QPN: 1, QPNKnown: true}, "lid:3 QP 0x1"},
		{rule.Endpoint{Addr: packet.LIDAddr(3), Node: sw}, `lid:3 "sw \"1\"" GUID 0x0002c90300001234`},
		{rule.Endpoint{Addr: all, QPNKnown: true, Node: byRoute}, `"sw \"1\"" GUID 0x0002c90300001234 directed route 0,1,3 QP 0x0`},
		{rule.Endpoint{Addr: all, QPNKnown: true, Node: unknown}, "directed route 0 QP 0x0"},
		{rule.Endpoint{Addr: packet.LIDAddr(3), Node: rule.Node{GUID: 5}}, "lid:3 GUID 0x0000000000000005"},
		{rule.Endpoint{QPN: 7, QPNKnown: true}, "QP 0x7"},
		{rule.Endpoint{}, ""},
	} {
		if got := party(&c.of); got != c.want {
			t.Errorf("%+v: got %s, want %s", c.of, got, c.want)
		}
	}
}
