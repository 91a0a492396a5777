package cli

import (
	"fmt"
	"io"
	"strings"
)

// fish writes one complete line for each word.
func fish(out io.Writer, w *syntax) error {
	var b strings.Builder
	b.WriteString("# fish completion for ibwitness\ncomplete -c ibwitness -f\n")
	none := "not __fish_seen_subcommand_from " + strings.Join(w.names(), " ")
	for _, o := range w.global {
		fishOption(&b, "", o)
	}
	for _, c := range w.commands {
		fmt.Fprintf(&b, "complete -c ibwitness -n %s -a %s -d %s\n", fishQuoted(none), c.name, fishQuoted(firstSentence(c.help)))
		here := "__fish_seen_subcommand_from " + c.name
		for _, sub := range c.commands {
			fmt.Fprintf(&b, "complete -c ibwitness -n %s -a %s -d %s\n", fishQuoted(here+"; and not __fish_seen_subcommand_from "+strings.Join(c.subcommands(), " ")), sub.name, fishQuoted(firstSentence(sub.help)))
			fishArguments(&b, here+"; and __fish_seen_subcommand_from "+sub.name, sub)
		}
		fishArguments(&b, here, c)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// fishArguments completes the options and arguments of a command.
func fishArguments(b *strings.Builder, here string, c command) {
	for _, o := range c.options {
		fishOption(b, here, o)
	}
	switch {
	case c.arguments.files:
		fmt.Fprintf(b, "complete -c ibwitness -n %s -F\n", fishQuoted(here))
	case len(c.arguments.words) > 0:
		fmt.Fprintf(b, "complete -c ibwitness -n %s -a %s\n", fishQuoted(here), fishQuoted(strings.Join(c.arguments.words, " ")))
	}
}

func fishOption(b *strings.Builder, when string, o option) {
	b.WriteString("complete -c ibwitness")
	if when != "" {
		b.WriteString(" -n " + fishQuoted(when))
	}
	b.WriteString(" -l " + strings.TrimLeft(o.name, "-"))
	if o.short != "" {
		b.WriteString(" -s " + strings.TrimLeft(o.short, "-"))
	}
	switch {
	case o.file:
		b.WriteString(" -r -F")
	case o.value:
		b.WriteString(" -x")
	}
	if len(o.values) > 0 {
		b.WriteString(" -a " + fishQuoted(strings.Join(o.values, " ")))
	}
	b.WriteString(" -d " + fishQuoted(o.help) + "\n")
}

// fishQuoted is s inside single quotes of fish.
func fishQuoted(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}
