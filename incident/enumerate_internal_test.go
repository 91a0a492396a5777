package incident

import (
	"strings"
	"testing"
)

func TestEnumerate(t *testing.T) {
	letters := strings.Split("abcdefghijklmnopqrstuvwxyz", "")
	for n, want := range map[int]string{
		0: "", 1: "a", 2: "a and b", 12: "a, b, c, d, e, f, g, h, i, j, k and l", 13: "a, b, c, d, e, f, g, h, i, j and 3 more", 26: "a, b, c, d, e, f, g, h, i, j and 16 more",
	} {
		if got := enumerate(letters[:n]); got != want {
			t.Errorf("enumerate of %d = %q, want %q", n, got, want)
		}
	}
}
