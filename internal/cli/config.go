package cli

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"go.yaml.in/yaml/v3"

	"ibwitness/internal/small"
	"ibwitness/internal/yamlfile"
)

// configFile is the flag that names a file of other flags: YAML, whose keys are their names. A flag on the command line wins over it.
type configFile string

// BeforeResolve has the file say what the command line does not.
func (configFile) BeforeResolve(ctx *kong.Context, trace *kong.Path) error {
	path := string(ctx.FlagValue(trace.Flag).(configFile))
	c := &config{path: path, values: map[string]any{}}
	var known []*kong.Flag
	for _, p := range ctx.Path {
		known = append(known, p.Flags...)
	}
	if err := c.read(known); err != nil {
		return err
	}
	ctx.AddResolver(c)
	return nil
}

// config is what a file says of flags.
type config struct {
	path   string
	values map[string]any
	errs   []error
}

// Validate finds nothing wrong: read has looked.
func (*config) Validate(*kong.Application) error { return nil }

// Resolve returns what the file says of a flag, if anything.
func (c *config) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	return c.values[flag.Name], nil
}

// read reads the file, which may set the known flags. All that is wrong is told at once.
func (c *config) read(known []*kong.Flag) error {
	raw, err := small.ReadFile(c.path, 1<<20)
	if err != nil {
		return fmt.Errorf("--config: %w", err)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(raw, &doc); err != nil {
		return fmt.Errorf("%s: %w", c.path, yamlfile.Explain(raw, err))
	}
	if doc.Kind == 0 {
		return nil // an empty file
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return fmt.Errorf("%s: give lines like repeats: 10, a flag and its value", c.path)
	}
	flags := map[string]*kong.Flag{}
	var names []string
	for _, f := range known {
		if f.Name != "help" && f.Name != "version" && f.Name != "config" && !f.Hidden {
			flags[f.Name] = f
			names = append(names, f.Name)
		}
	}
	for i := 0; i < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		f := flags[key.Value]
		if f == nil {
			c.fail(key, "unknown key %q%s", key.Value, alike(key.Value, names))
			continue
		}
		if _, twice := c.values[f.Name]; twice {
			c.fail(key, "%s is given twice", f.Name)
			continue
		}
		c.take(f, key, value)
	}
	return errors.Join(c.errs...)
}

func (c *config) fail(at *yaml.Node, format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf("%s:%d: "+format, append([]any{c.path, at.Line}, args...)...))
}

// take takes the value of a flag.
func (c *config) take(f *kong.Flag, key, value *yaml.Node) {
	var list []string
	switch {
	case value.Kind == yaml.ScalarNode && value.Tag != "!!null":
		list = append(list, value.Value)
	case value.Kind == yaml.SequenceNode && f.IsSlice() && len(value.Content) > 0:
		for _, n := range value.Content {
			if n.Kind != yaml.ScalarNode {
				c.fail(n, "%s: give a list of values", f.Name)
				return
			}
			list = append(list, n.Value)
		}
	default:
		c.fail(key, "%s: give a value", f.Name)
		return
	}
	v := kong.JoinEscaped(list, f.Tag.Sep)
	if !f.IsSlice() {
		v = list[0]
	}
	if err := f.Parse(kong.Scan().PushTyped(v, kong.FlagValueToken), reflect.New(f.Target.Type()).Elem()); err != nil {
		c.fail(key, "%s", strings.TrimPrefix(err.Error(), "--"))
		return
	}
	c.values[f.Name] = v
}

// alike asks whether one of the names was meant that are near to what is written, or says what names there are.
func alike(s string, names []string) string {
	s = strings.ReplaceAll(strings.ToLower(s), "_", "-")
	near := slices.DeleteFunc(slices.Clone(names), func(n string) bool {
		return distance(s, n) > 2 && !strings.HasPrefix(n, s) && !strings.HasPrefix(s, n)
	})
	if len(near) == 0 {
		return ": give any of " + strings.Join(names, ", ")
	}
	return ": did you mean " + strings.Join(near, " or ") + "?"
}

// distance is how many letters must be changed, put in or left out to make one word of the other.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		last := row[0]
		row[0] = i + 1
		for j := range len(b) {
			n := last
			if a[i] != b[j] {
				n = 1 + min(last, row[j], row[j+1])
			}
			last, row[j+1] = row[j+1], n
		}
	}
	return row[len(b)]
}
