package cli

import (
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"ibwitness/conform"
	"ibwitness/coverage"
	"ibwitness/hcaagent/cma"
	"ibwitness/hcaagent/soft"
	"ibwitness/rule"
	"ibwitness/subnet/sa"
	"ibwitness/subnet/sma"
	"ibwitness/verifier"
)

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"One of ${enum}."`
}

// Help is below the flags' summary in --help.
func (completionCommand) Help() string {
	return `To use it now:

    source <(ibwitness completion bash)
    source <(ibwitness completion zsh)
    ibwitness completion fish | source

To use it always:

    echo 'source <(ibwitness completion bash)' >> ~/.bashrc
    echo 'source <(ibwitness completion zsh)' >> ~/.zshrc
    echo 'ibwitness completion fish | source' >> ~/.config/fish/config.fish`
}

// Run prints the script.
func (c *completionCommand) Run(s *session, ctx *kong.Context) error {
	write := map[string]func(io.Writer, *syntax) error{"bash": bash, "zsh": zsh, "fish": fish}[c.Shell]
	return write(s.stdout, syntaxOf(ctx.Model))
}

// syntax is the grammar as completion sees it.
type syntax struct {
	global   []option
	commands []command
}

type command struct {
	name, help string
	options    []option
	arguments  arguments
	commands   []command // of which one follows the name
}

// arguments says what the positional arguments of a command are: files, or one of these words, or nothing.
type arguments struct {
	files bool
	words []string
}

type option struct {
	name   string // "--format"
	short  string // "-q", or nothing
	help   string
	value  bool     // takes a value
	values []string // which one, where there is a choice
	file   bool     // the value is a file
	again  bool     // may be repeated
}

func syntaxOf(model *kong.Application) *syntax {
	w := &syntax{global: optionsOf(model.Flags)}
	for _, node := range model.Children {
		if node.Hidden {
			continue
		}
		c := command{name: node.Name, help: node.Help, options: optionsOf(node.Flags), arguments: argumentsOf(node)}
		for _, sub := range node.Children {
			c.commands = append(c.commands, command{name: sub.Name, help: sub.Help, options: optionsOf(sub.Flags), arguments: argumentsOf(sub)})
		}
		w.commands = append(w.commands, c)
	}
	return w
}

// subcommands names the commands of which one follows the name of c.
func (c *command) subcommands() (names []string) {
	for _, sub := range c.commands {
		names = append(names, sub.name)
	}
	return names
}

// flat lists all commands; one that follows another is named by both: "coverage-merge".
func (w *syntax) flat() (list []command) {
	for _, c := range w.commands {
		if len(c.commands) > 0 {
			c.arguments.words = c.subcommands()
		}
		list = append(list, c)
		for _, sub := range c.commands {
			sub.name = c.name + "-" + sub.name
			list = append(list, sub)
		}
	}
	return list
}

func argumentsOf(node *kong.Node) (a arguments) {
	for _, p := range node.Positional {
		switch p.Tag.Get("complete") {
		case "file":
			a.files = true
		case "rule":
			for _, id := range slices.Concat(rule.Rules(), rule.Events()) {
				a.words = append(a.words, id.String())
			}
		case "test":
			for _, t := range conform.Tests() {
				a.words = append(a.words, t.ID)
			}
		case "item":
			for _, i := range coverage.Items() {
				a.words = append(a.words, i.Name)
			}
		}
		if p.Enum != "" {
			a.words = p.EnumSlice()
		}
	}
	return a
}

func optionsOf(flags []*kong.Flag) (list []option) {
	for _, f := range flags {
		if f.Hidden {
			continue
		}
		o := option{name: "--" + f.Name, help: firstSentence(f.Help), value: !f.IsBool(), again: f.IsCumulative()}
		if f.Short != 0 {
			o.short = "-" + string(f.Short)
		}
		if f.Enum != "" {
			o.values = f.EnumSlice()
		}
		switch f.Tag.Get("complete") {
		case "profile":
			o.values = verifier.ProfileNames()
		case "fault":
			o.values = soft.FaultNames()
			for _, f := range sma.Faults() {
				o.values = append(o.values, f.Name)
			}
			for _, f := range cma.Faults() {
				o.values = append(o.values, f.Name)
			}
			for _, f := range sa.Faults() {
				o.values = append(o.values, f.Name)
			}
		case "file":
			o.file = true
		}
		list = append(list, o)
	}
	return list
}

// firstSentence is as much of a help text as fits beside a completion.
func firstSentence(s string) string {
	for _, end := range []string{": ", ". ", " ("} {
		s, _, _ = strings.Cut(s, end)
	}
	return strings.TrimSuffix(s, ".")
}

func (w *syntax) names() (names []string) {
	for _, c := range w.commands {
		names = append(names, c.name)
	}
	return names
}

// flags lists all spellings of options.
func flags(options []option) (names []string) {
	for _, o := range options {
		names = append(names, o.name)
		if o.short != "" {
			names = append(names, o.short)
		}
	}
	return names
}
