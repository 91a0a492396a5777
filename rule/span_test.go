package rule

import "testing"

func TestSpan(t *testing.T) {
	for ns, want := range map[int64]string{
		0: "0s", 7: "7ns", 4096: "4.1µs", 51234567: "51.2ms", -51234567: "-51.2ms", 999999: "1ms", 2990364338: "2.99s", 1048576: "1.05ms", 8796093022208: "2h26m36s", 61e9 + 5: "1m1s",
	} {
		if got := Span(ns); got != want {
			t.Errorf("%d ns: got %s, want %s", ns, got, want)
		}
	}
}
