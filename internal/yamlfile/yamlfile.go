// Package yamlfile says in plain words what is wrong with a YAML file, and in which line.
package yamlfile

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/parser"
)

var (
	unknown = regexp.MustCompile(`^(line \d+): field (\S+) not found in type \S+$`)
	other   = regexp.MustCompile(`^(line \d+): cannot unmarshal !!(\w+) (?:` + "`(.*)` )?" + `into (\S+)$`)
)

// kinds are the values of YAML, and the Go types that take one, in words.
var kinds = map[string]string{
	"seq": "a list", "map": "keys and values", "str": "text", "int": "a number", "float": "a number", "bool": "true or false", "null": "nothing", "timestamp": "a date",
}

// mostParsed is how long a text may be to be read again for a better word, bytes: that takes some hundred times as much memory.
const mostParsed = 1 << 20

// Explain says what err, which a YAML decoder returned for a text, means for who has written the text: without names of the program, and in which line.
func Explain(text []byte, err error) error {
	if err == nil {
		return nil
	}
	if strings.Contains(err.Error(), "exceeded max depth") {
		return errors.New("lists or keys are nested more than 10,000 deep: remove what is not meant")
	}
	if len(text) <= mostParsed {
		if at := mistake(text); at != nil {
			return at
		}
	}
	said := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "yaml: "), "unmarshal errors:\n")
	lines := strings.Split(said, "\n")
	for i, l := range lines {
		l = strings.TrimSpace(l)
		if m := unknown.FindStringSubmatch(l); m != nil {
			l = fmt.Sprintf("%s: there is no key %q", m[1], m[2])
		} else if m := other.FindStringSubmatch(l); m != nil {
			l = m[1] + ": " + given(m[2], m[3]) + " cannot be here: give " + wanted(m[4])
		}
		lines[i] = l
	}
	return errors.New(strings.Join(lines, "; "))
}

// mistake is where a text is no YAML, and why; nil: that is not known.
func mistake(text []byte) error {
	_, err := parser.ParseBytes(text, 0)
	var at yaml.Error
	if err == nil || !errors.As(err, &at) || at.GetToken() == nil || at.GetToken().Position == nil {
		return nil
	}
	p := at.GetToken().Position
	return fmt.Errorf("line %d, column %d: %s", p.Line, p.Column, strings.ReplaceAll(at.GetMessage(), "\t", `\t`))
}

// given is a value as it is written.
func given(kind, value string) string {
	if value != "" {
		return fmt.Sprintf("%q", value)
	}
	if s := kinds[kind]; s != "" {
		return s
	}
	return "this"
}

// wanted is what a Go type takes.
func wanted(t string) string {
	switch {
	case strings.HasPrefix(t, "[]"):
		return "a list"
	case strings.HasPrefix(t, "map["), strings.Contains(t, "."):
		return "keys and values"
	case strings.Contains(t, "int"), strings.Contains(t, "float"):
		return "a number"
	case t == "bool":
		return "true or false"
	}
	return "text"
}
