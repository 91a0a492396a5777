package yamlfile

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestExplain: what is wrong is said once, in the right line, and without names of the program.
func TestExplain(t *testing.T) {
	type inner struct {
		Count int
		Names []string
	}
	type outer struct {
		Inner inner
		Flag  bool
	}
	for text, want := range map[string]string{
		"inner: {count: 1}\n":                             "",
		"inner:\n  cuont: 1\nflog: true\n":                `line 2: there is no key "cuont"; line 3: there is no key "flog"`,
		"inner:\n  count: many\n":                         `line 2: "many" cannot be here: give a number`,
		"inner:\n  count: 1\n  names: {}\n":               `line 3: keys and values cannot be here: give a list`,
		"inner: []\n":                                     `line 1: a list cannot be here: give keys and values`,
		"flag: 3.5\n":                                     `line 1: "3.5" cannot be here: give true or false`,
		"inner:\n  - a\n\tb: 3\n":                         `line 3, column 1: found character '\t' that cannot start any token`,
		"flag: [true\ninner: x\n":                         `line 2, column 1: ',' or ']' must be specified`,
		"flag: *x\n":                                      `unknown anchor 'x' referenced`, // words: the message of the library
		"flag: " + strings.Repeat("[", 20_000):            `lists or keys are nested more than 10,000 deep: remove what is not meant`,
		"flag:\n" + strings.Repeat("- ", 100_000) + "1\n": `lists or keys are nested more than 10,000 deep: remove what is not meant`,
		"flag: [" + strings.Repeat("x, ", 1<<20) + "\n":   `line 1: did not find expected node content`,
	} {
		var v outer
		d := yaml.NewDecoder(strings.NewReader(text))
		d.KnownFields(true)
		got := ""
		if err := Explain([]byte(text), d.Decode(&v)); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%.100q: %q, not %q", text, got, want)
		}
	}
}
