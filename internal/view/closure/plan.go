package closure

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"ibwitness/coverage"
)

// Plan names what must be covered.
type Plan struct {
	goals map[string]uint64 // by item: how often it must be seen
	out   map[string]string // items that are left out, and why
}

// ReadPlan reads a plan, YAML or JSON. Errors say which line is wrong and what to do, and name no file.
func ReadPlan(r io.Reader) (*Plan, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	p := &Plan{map[string]uint64{}, map[string]string{}}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var root yaml.Node
	if err := dec.Decode(&root); errors.Is(err, io.EOF) {
		return nil, errors.New("closure: the plan is empty: name what must be covered, as in \"cover: [opcode/rc]\"")
	} else if err != nil {
		return nil, fmt.Errorf("closure: the plan is neither YAML nor JSON: %w", err)
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, errors.New("closure: there is more after the plan: give one document a file")
	}
	if err := fields(root.Content[0], "a plan", map[string]func(*yaml.Node) error{
		"cover": func(n *yaml.Node) error {
			return each(n, func(n *yaml.Node) error { return p.cover(n) })
		},
		"exclude": func(n *yaml.Node) error {
			return each(n, func(n *yaml.Node) error { return p.exclude(n) })
		},
	}); err != nil {
		return nil, err
	}
	for name := range p.out {
		delete(p.goals, name)
	}
	if len(p.goals) == 0 {
		return nil, errors.New("closure: the plan covers nothing: name what must be covered, as in \"cover: [opcode/rc]\"")
	}
	return p, nil
}

// cover reads an entry of what must be covered: a pattern, or patterns and how often.
func (p *Plan) cover(n *yaml.Node) error {
	names, least := []string(nil), uint64(1)
	if n.Kind == yaml.ScalarNode {
		found, err := match(n)
		if err != nil {
			return err
		}
		names = found
	} else if err := fields(n, "an entry of cover", map[string]func(*yaml.Node) error{
		"items": func(n *yaml.Node) (err error) {
			names, err = matches(n)
			return err
		},
		"at-least": func(n *yaml.Node) error {
			v, err := strconv.ParseUint(n.Value, 10, 63)
			if err != nil || v == 0 || n.Kind != yaml.ScalarNode {
				return at(n, "at-least is %q: give how often an item must be seen, 1 or more", n.Value)
			}
			least = v
			return nil
		},
	}); err != nil {
		return err
	}
	if names == nil {
		return at(n, "an entry of cover has no items: name some, as in \"items: opcode/rc\"")
	}
	for _, name := range names {
		p.goals[name] = max(p.goals[name], least)
	}
	return nil
}

// exclude reads an entry of what is left out.
func (p *Plan) exclude(n *yaml.Node) error {
	var names []string
	reason := ""
	if err := fields(n, "an entry of exclude", map[string]func(*yaml.Node) error{
		"items": func(n *yaml.Node) (err error) {
			names, err = matches(n)
			return err
		},
		"reason": func(n *yaml.Node) error {
			reason = strings.TrimSpace(n.Value)
			return nil
		},
	}); err != nil {
		return err
	}
	switch {
	case names == nil:
		return at(n, "an entry of exclude has no items: name some, as in \"items: opcode/xrc\"")
	case reason == "":
		return at(n, "an entry of exclude has no reason: say why it need not be covered")
	}
	for _, name := range names {
		p.out[name] = reason
	}
	return nil
}

// at is an error in a line of a plan.
func at(n *yaml.Node, format string, args ...any) error {
	return fmt.Errorf("closure: line %d: "+format, append([]any{n.Line}, args...)...)
}

// fields reads a mapping whose keys are known.
func fields(n *yaml.Node, what string, known map[string]func(*yaml.Node) error) error {
	if n.Kind != yaml.MappingNode {
		return at(n, "%s has fields: %s", what, keys(known))
	}
	had := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		read, ok := known[key.Value]
		switch {
		case !ok:
			return at(key, "%s has no field %q: it has %s", what, key.Value, keys(known))
		case had[key.Value]:
			return at(key, "%s has %s twice: give one", what, key.Value)
		}
		had[key.Value] = true
		if err := read(n.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

func keys(known map[string]func(*yaml.Node) error) string {
	var list []string
	for _, k := range []string{"cover", "exclude", "items", "at-least", "reason"} {
		if known[k] != nil {
			list = append(list, k)
		}
	}
	return strings.Join(list, " and ")
}

// each reads a list, or one entry in place of a list.
func each(n *yaml.Node, read func(*yaml.Node) error) error {
	if n.Kind != yaml.SequenceNode {
		return read(n)
	}
	for _, c := range n.Content {
		if err := read(c); err != nil {
			return err
		}
	}
	return nil
}

// matches returns the items that patterns name, one or a list of them.
func matches(n *yaml.Node) (names []string, err error) {
	err = each(n, func(n *yaml.Node) error {
		found, err := match(n)
		names = append(names, found...)
		return err
	})
	return names, err
}

// match returns the items that a pattern names: an item, all below a part of names, or, with *, all that fit.
func match(n *yaml.Node) ([]string, error) {
	if n.Kind != yaml.ScalarNode || n.Value == "" {
		return nil, at(n, "items are named by a word, or by a list of words: \"opcode/rc\", [pmtu, wrap/rc/*]")
	}
	if found := Match(n.Value); len(found) > 0 {
		return found, nil
	}
	hint := "`ibwitness coverage list` names all"
	if near := nearest(n.Value); near != "" {
		hint = fmt.Sprintf("did you mean %q? ", near) + hint
	}
	return nil, at(n, "there is no item %q: %s", n.Value, hint)
}

// Match returns the names of the items of a pattern: an item, all below a part of names ("opcode/rc"), or, with * for any text, all that fit. Case does not matter.
func Match(pattern string) (names []string) {
	parts := strings.Split(strings.ToLower(pattern), "*")
	for i := range coverage.Items() {
		name := coverage.Items()[i].Name
		if fits(strings.ToLower(name), parts) {
			names = append(names, name)
		}
	}
	return names
}

// fits reports whether a name has the parts of a pattern in their order. A pattern of one part also fits names that go on below it.
func fits(name string, parts []string) bool {
	rest, ok := strings.CutPrefix(name, parts[0])
	if !ok {
		return false
	}
	if len(parts) == 1 {
		return rest == "" || rest[0] == '/' || parts[0] != "" && strings.HasSuffix(parts[0], "/")
	}
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(rest, part)
		if i < 0 {
			return false
		}
		rest = rest[i+len(part):]
	}
	last := parts[len(parts)-1]
	return strings.HasSuffix(rest, last)
}

// nearest returns the name that a word was perhaps meant to be, or nothing.
func nearest(word string) (name string) {
	word = strings.ToLower(word)
	least := min(len(word)/3, 4) + 1
	for i := range coverage.Items() {
		full := coverage.Items()[i].Name
		for end := range len(full) + 1 {
			if end < len(full) && full[end] != '/' {
				continue
			}
			if d := distance(word, strings.ToLower(full[:end]), least); d < least {
				least, name = d, full[:end]
			}
		}
	}
	return name
}

// distance is how many letters have to be changed to make b of a, as far as that is less than most.
func distance(a, b string, most int) int {
	if max(len(a)-len(b), len(b)-len(a)) >= most {
		return most
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
