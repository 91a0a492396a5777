package remote

import (
	"os"
	"regexp"
	"slices"
	"testing"
)

// TestDocumented: docs/dut.md names the methods, all of them and no other.
func TestDocumented(t *testing.T) {
	b, err := os.ReadFile("../../docs/dut.md")
	if err != nil {
		t.Fatal(err)
	}
	var named []string
	for _, row := range regexp.MustCompile("(?m)^\\| (`[A-Z].*?) \\|").FindAllSubmatch(b, -1) {
		for _, m := range regexp.MustCompile("`(\\w+)`").FindAllSubmatch(row[1], -1) {
			named = append(named, string(m[1]))
		}
	}
	slices.Sort(named)
	if has := (&session{}).methods().Names(); !slices.Equal(has, named) {
		t.Errorf("the server has %v, documented are %v", has, named)
	}
}
