package named

import (
	"errors"
	"strings"
	"testing"
)

// TestEach: entries are found in the order of the names, and a name that there is not is an error that lists those that there are.
func TestEach(t *testing.T) {
	none, table, got := errors.New("none"), []string{"a", "b", "c"}, ""
	same := func(s string) string { return s }
	found := func(s string) { got += s }
	if err := Each([]string{"c", "a"}, table, same, none, found); err != nil || got != "ca" {
		t.Errorf("%q, %v", got, err)
	}
	if err := Each([]string{"b", "d"}, table, same, none, found); !errors.Is(err, none) || !strings.Contains(err.Error(), `"d"; give one of a, b, c`) {
		t.Error(err)
	}
}
