package yamlfile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// LineError is what is wrong with a line of a file, and what to do.
type LineError struct {
	Package string // that reads the file: the first word of the error
	File    string
	Line    int
	Message string
}

func (e *LineError) Error() string {
	return fmt.Sprintf("%s: %s, line %d: %s", e.Package, e.File, e.Line, e.Message)
}

// Reader goes through the nodes of a file and collects what is wrong with them.
type Reader struct {
	Package string // that reads the file: errors begin with it
	File    string // as errors shall show it

	errs []error
}

// Document parses the only document of a text, whose content it returns. holds says of an empty one where it is told what such a file holds. The error names the file;
// that there is a second document is collected as a mistake.
func (r *Reader) Document(text []byte, holds string) (*yaml.Node, error) {
	d := yaml.NewDecoder(bytes.NewReader(text))
	var doc, more yaml.Node
	if err := d.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("it is empty; " + holds)
		} else {
			err = Explain(text, err)
		}
		return nil, fmt.Errorf("%s: %s: %w", r.Package, r.File, err)
	}
	if d.Decode(&more) != io.EOF {
		r.Fail(more.Line, "a second document: give each %s a file of its own", r.Package)
	}
	return doc.Content[0], nil
}

// Fail notes a mistake in a line.
func (r *Reader) Fail(line int, format string, args ...any) {
	r.errs = append(r.errs, &LineError{r.Package, r.File, line, fmt.Sprintf(format, args...)})
}

// Failed reports whether a mistake was noted.
func (r *Reader) Failed() bool { return len(r.errs) > 0 }

// Err is all mistakes, each a *LineError, in the order of their lines; nil where there are none.
func (r *Reader) Err() error {
	line := func(err error) (n int) {
		if le := (*LineError)(nil); errors.As(err, &le) {
			n = le.Line
		}
		return n
	}
	slices.SortStableFunc(r.errs, func(a, b error) int { return cmp.Compare(line(a), line(b)) })
	return errors.Join(r.errs...)
}

// Setter takes the value of a key.
type Setter func(*yaml.Node)

// Resolve is the node that an alias names, or the node itself.
func Resolve(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// Pairs calls f with each key of a mapping and its value.
func (r *Reader) Pairs(n *yaml.Node, what string, f func(key, value *yaml.Node)) {
	n = Resolve(n)
	if n.Kind != yaml.MappingNode {
		r.Fail(n.Line, "%s is no mapping: write it as {key: value, …} or as indented lines of key: value", what)
		return
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		if at, again := seen[k.Value]; again {
			r.Fail(k.Line, "%s has %q twice, first in line %d: remove one", what, k.Value, at)
			continue
		}
		seen[k.Value] = k.Line
		f(k, Resolve(n.Content[i+1]))
	}
}

// Fields takes a mapping whose keys are known.
func (r *Reader) Fields(n *yaml.Node, what string, set map[string]Setter) {
	r.Pairs(n, what, func(k, v *yaml.Node) {
		if f, ok := set[k.Value]; ok {
			f(v)
			return
		}
		r.Fail(k.Line, "%s has no key %q: give one of %s", what, k.Value, strings.Join(slices.Sorted(maps.Keys(set)), ", "))
	})
}

// List takes a sequence.
func (r *Reader) List(n *yaml.Node, what string, f func(*yaml.Node)) {
	if n.Kind != yaml.SequenceNode {
		r.Fail(n.Line, "%s is no list: begin each item on a line of its own with a dash", what)
		return
	}
	for _, x := range n.Content {
		f(Resolve(x))
	}
}

// Scalar returns a plain value; false where there is none.
func (r *Reader) Scalar(n *yaml.Node, want string) (string, bool) {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		r.Fail(n.Line, "a value is missing here: give %s", want)
		return "", false
	}
	return n.Value, true
}

// Text takes a text, without the spaces around it.
func (r *Reader) Text(to *string) Setter {
	return func(n *yaml.Node) {
		if s, ok := r.Scalar(n, "a text"); ok {
			*to = strings.TrimSpace(s)
		}
	}
}

// Boolean takes true or false.
func (r *Reader) Boolean(to *bool) Setter {
	return func(n *yaml.Node) {
		if s, ok := r.Scalar(n, "true or false"); ok {
			v, err := strconv.ParseBool(s)
			if err != nil {
				r.Fail(n.Line, "%q: give true or false", s)
			}
			*to = v
		}
	}
}

// Unsigned is any type of number that is not negative.
type Unsigned interface {
	~int | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// units are what a number may end with.
var units = []struct {
	suffix string
	factor uint64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}}

// ParseNumber reads a number: decimal, 0x…, with KiB, MiB, GiB, k, M or G. It is false where s is none, or one below least or above most.
func ParseNumber(s string, least, most uint64) (v uint64, ok bool) {
	digits, factor := s, uint64(1)
	for _, u := range units {
		if rest, found := strings.CutSuffix(s, u.suffix); found {
			digits, factor = strings.TrimSpace(rest), u.factor
			break
		}
	}
	v, err := strconv.ParseUint(strings.ReplaceAll(digits, "_", ""), 0, 64)
	if err != nil || v > most/factor || v*factor < least {
		return 0, false
	}
	return v * factor, true
}

// Number takes a number from least to most, as ParseNumber reads it.
func Number[T Unsigned](r *Reader, to *T, least, most uint64) Setter {
	want := fmt.Sprintf("a number from %d to %d", least, most)
	return func(n *yaml.Node) {
		s, ok := r.Scalar(n, want)
		if !ok {
			return
		}
		v, ok := ParseNumber(s, least, most)
		if !ok {
			r.Fail(n.Line, "%q: give %s", s, want)
			return
		}
		*to = T(v)
	}
}

// Duration takes a duration such as 5us, in nanoseconds.
func (r *Reader) Duration(to *int64) Setter {
	return func(n *yaml.Node) {
		if s, ok := r.Scalar(n, "a duration such as 5us, 20ms or 1s"); ok {
			d, err := time.ParseDuration(s)
			if err != nil || d < 0 {
				r.Fail(n.Line, "%q: give a duration such as 5us, 20ms or 1s", s)
			}
			*to = int64(d)
		}
	}
}

// Probability takes a probability above 0.
func (r *Reader) Probability(to *float64) Setter {
	return func(n *yaml.Node) {
		if s, ok := r.Scalar(n, "a probability above 0 and up to 1"); ok {
			v, err := strconv.ParseFloat(s, 64)
			if err != nil || !(v > 0 && v <= 1) {
				r.Fail(n.Line, "%q: give a probability above 0 and up to 1", s)
			}
			*to = v
		}
	}
}

// Choice takes one of several words.
func Choice[T any](r *Reader, to *T, words map[string]T) Setter {
	list := strings.Join(slices.Sorted(maps.Keys(words)), ", ")
	return func(n *yaml.Node) {
		if s, ok := r.Scalar(n, "one of "+list); ok {
			v, known := words[s]
			if !known {
				r.Fail(n.Line, "%q: give one of %s", s, list)
				return
			}
			*to = v
		}
	}
}

// Words takes a word, or a list of them.
func (r *Reader) Words(to *[]string) Setter {
	return func(n *yaml.Node) {
		*to = []string{}
		if n.Kind != yaml.SequenceNode {
			if s, ok := r.Scalar(n, "a name, or a list of names"); ok {
				*to = append(*to, s)
			}
			return
		}
		for _, x := range n.Content {
			if s, ok := r.Scalar(Resolve(x), "a name"); ok {
				*to = append(*to, s)
			}
		}
	}
}

// Numbers takes a number, or a list of them.
func Numbers[T Unsigned](r *Reader, to *[]T, most uint64) Setter {
	return func(n *yaml.Node) {
		*to = nil
		take := func(x *yaml.Node) {
			var v T
			Number(r, &v, 0, most)(x)
			*to = append(*to, v)
		}
		if n.Kind != yaml.SequenceNode {
			take(n)
			return
		}
		for _, x := range n.Content {
			take(Resolve(x))
		}
	}
}
