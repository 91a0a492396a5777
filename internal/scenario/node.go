package scenario

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// LineError is what is wrong with a line of a scenario, and what to do.
type LineError struct {
	File    string
	Line    int
	Message string
}

func (e *LineError) Error() string {
	return fmt.Sprintf("scenario: %s, line %d: %s", e.File, e.Line, e.Message)
}

// parser goes through the nodes of a file and collects what is wrong with them.
type parser struct {
	file string
	errs []error
}

func (p *parser) fail(line int, format string, args ...any) {
	p.errs = append(p.errs, &LineError{p.file, line, fmt.Sprintf(format, args...)})
}

// err is all mistakes, in the order of their lines.
func (p *parser) err() error {
	line := func(err error) (n int) {
		if le := (*LineError)(nil); errors.As(err, &le) {
			n = le.Line
		}
		return n
	}
	slices.SortStableFunc(p.errs, func(a, b error) int { return cmp.Compare(line(a), line(b)) })
	return errors.Join(p.errs...)
}

// setter takes the value of a key.
type setter func(*yaml.Node)

func resolve(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// pairs calls f with each key of a mapping and its value.
func (p *parser) pairs(n *yaml.Node, what string, f func(key, value *yaml.Node)) {
	n = resolve(n)
	if n.Kind != yaml.MappingNode {
		p.fail(n.Line, "%s is no mapping: write it as {key: value, …} or as indented lines of key: value", what)
		return
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		if at, again := seen[k.Value]; again {
			p.fail(k.Line, "%s has %q twice, first in line %d: remove one", what, k.Value, at)
			continue
		}
		seen[k.Value] = k.Line
		f(k, resolve(n.Content[i+1]))
	}
}

// fields takes a mapping whose keys are known.
func (p *parser) fields(n *yaml.Node, what string, set map[string]setter) {
	p.pairs(n, what, func(k, v *yaml.Node) {
		if f, ok := set[k.Value]; ok {
			f(v)
			return
		}
		p.fail(k.Line, "%s has no key %q: give one of %s", what, k.Value, strings.Join(slices.Sorted(maps.Keys(set)), ", "))
	})
}

// list takes a sequence.
func (p *parser) list(n *yaml.Node, what string, f func(*yaml.Node)) {
	if n.Kind != yaml.SequenceNode {
		p.fail(n.Line, "%s is no list: begin each item on a line of its own with a dash", what)
		return
	}
	for _, x := range n.Content {
		f(resolve(x))
	}
}

// scalar returns a plain value; false where there is none.
func (p *parser) scalar(n *yaml.Node, want string) (string, bool) {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		p.fail(n.Line, "a value is missing here: give %s", want)
		return "", false
	}
	return n.Value, true
}

func (p *parser) text(to *string) setter {
	return func(n *yaml.Node) {
		if s, ok := p.scalar(n, "a text"); ok {
			*to = strings.TrimSpace(s)
		}
	}
}

func (p *parser) boolean(to *bool) setter {
	return func(n *yaml.Node) {
		if s, ok := p.scalar(n, "true or false"); ok {
			v, err := strconv.ParseBool(s)
			if err != nil {
				p.fail(n.Line, "%q: give true or false", s)
			}
			*to = v
		}
	}
}

// unsigned is any type of number that is not negative.
type unsigned interface {
	~int | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// units are what a number may end with.
var units = []struct {
	suffix string
	factor uint64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}}

// number takes a number from least to most: decimal, 0x…, with KiB, MiB, GiB, k, M or G.
func number[T unsigned](p *parser, to *T, least, most uint64) setter {
	want := fmt.Sprintf("a number from %d to %d", least, most)
	return func(n *yaml.Node) {
		s, ok := p.scalar(n, want)
		if !ok {
			return
		}
		digits, factor := s, uint64(1)
		for _, u := range units {
			if rest, found := strings.CutSuffix(s, u.suffix); found {
				digits, factor = strings.TrimSpace(rest), u.factor
				break
			}
		}
		v, err := strconv.ParseUint(strings.ReplaceAll(digits, "_", ""), 0, 64)
		if err != nil || v > most/factor || v*factor < least {
			p.fail(n.Line, "%q: give %s", s, want)
			return
		}
		*to = T(v * factor)
	}
}

func (p *parser) duration(to *int64) setter {
	return func(n *yaml.Node) {
		if s, ok := p.scalar(n, "a duration such as 5us, 20ms or 1s"); ok {
			d, err := time.ParseDuration(s)
			if err != nil || d < 0 {
				p.fail(n.Line, "%q: give a duration such as 5us, 20ms or 1s", s)
			}
			*to = int64(d)
		}
	}
}

func (p *parser) probability(to *float64) setter {
	return func(n *yaml.Node) {
		if s, ok := p.scalar(n, "a probability above 0 and up to 1"); ok {
			v, err := strconv.ParseFloat(s, 64)
			if err != nil || !(v > 0 && v <= 1) {
				p.fail(n.Line, "%q: give a probability above 0 and up to 1", s)
			}
			*to = v
		}
	}
}

// choice takes one of several words.
func choice[T any](p *parser, to *T, words map[string]T) setter {
	list := strings.Join(slices.Sorted(maps.Keys(words)), ", ")
	return func(n *yaml.Node) {
		if s, ok := p.scalar(n, "one of "+list); ok {
			v, known := words[s]
			if !known {
				p.fail(n.Line, "%q: give one of %s", s, list)
				return
			}
			*to = v
		}
	}
}

// words takes a word, or a list of them.
func (p *parser) words(to *[]string) setter {
	return func(n *yaml.Node) {
		*to = []string{}
		if n.Kind != yaml.SequenceNode {
			if s, ok := p.scalar(n, "a name, or a list of names"); ok {
				*to = append(*to, s)
			}
			return
		}
		for _, x := range n.Content {
			if s, ok := p.scalar(resolve(x), "a name"); ok {
				*to = append(*to, s)
			}
		}
	}
}

// numbers takes a number, or a list of them.
func numbers[T unsigned](p *parser, to *[]T, most uint64) setter {
	return func(n *yaml.Node) {
		*to = nil
		take := func(x *yaml.Node) {
			var v T
			number(p, &v, 0, most)(x)
			*to = append(*to, v)
		}
		if n.Kind != yaml.SequenceNode {
			take(n)
			return
		}
		for _, x := range n.Content {
			take(resolve(x))
		}
	}
}
