package web

import (
	"regexp"
	"strings"
	"testing"
)

var named = regexp.MustCompile(`(?m)^(?:const|let|function|async function|class) +(\w+)`)

// TestBundle sees to what makes one script of the modules: nothing is named twice, and no import or export is left.
func TestBundle(t *testing.T) {
	script := bundle("main.js")
	seen := map[string]bool{}
	for _, m := range named.FindAllStringSubmatch(script, -1) {
		if seen[m[1]] {
			t.Errorf("%s is named in two modules", m[1])
		}
		seen[m[1]] = true
	}
	for _, name := range []string{"openSource", "drawLadder", "Grid"} {
		if !seen[name] {
			t.Errorf("%s is not in the bundle", name)
		}
	}
	if left := regexp.MustCompile(`(?m)^(import|export)\b.*`).FindString(script); left != "" {
		t.Errorf("the bundle has %q", left)
	}
	if strings.Contains(script, "</script") {
		t.Error("the bundle would end its own element")
	}
}

// TestNothingElsewhere: the page asks nobody else for anything, and makes no markup from text.
func TestNothingElsewhere(t *testing.T) {
	all := read("index.html") + read("style.css") + bundle("main.js")
	for _, bad := range []string{"https://", "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "@import"} {
		if strings.Contains(all, bad) {
			t.Errorf("the page has %s", bad)
		}
	}
	for _, m := range regexp.MustCompile(`http://[^"' )]*`).FindAllString(all, -1) {
		if !strings.HasPrefix(m, "http://www.w3.org/2000/svg") { // a name, not an address
			t.Errorf("the page refers to %s", m)
		}
	}
}
