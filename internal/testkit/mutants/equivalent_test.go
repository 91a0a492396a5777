package main

import (
	"regexp"
	"testing"
)

// TestEquivalents: every change that is said to change nothing is still there, and says why.
func TestEquivalents(t *testing.T) {
	t.Chdir("../../..")
	c, err := load(mutated, regexp.MustCompile(""))
	if err != nil {
		t.Fatal(err)
	}
	if err := excuse(c.sites(), func(string) bool { return true }); err != nil {
		t.Error(err)
	}
	for k, why := range parseEquivalents(equivalents) {
		if why == "" {
			t.Errorf("%v: no reason", k)
		}
	}
}
