package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// zsh writes a script that may be sourced, or be the file _ibwitness in a folder of $fpath.
func zsh(out io.Writer, w *syntax) error {
	var b strings.Builder
	b.WriteString("#compdef ibwitness\n# zsh completion for ibwitness\n_ibwitness() {\n    local context state state_descr line\n" +
		"    typeset -A opt_args\n    _arguments -C \\\n")
	for _, o := range w.global {
		zshOption(&b, "        ", o)
	}
	b.WriteString("        '1:command:->command' \\\n        '*::argument:->argument'\n    case $state in\n    command)\n        local -a commands=(\n")
	for _, c := range w.commands {
		fmt.Fprintf(&b, "            %s\n", quoted(c.name+":"+firstSentence(c.help)))
	}
	b.WriteString("        )\n        _describe command commands\n        ;;\n    argument)\n        case $line[1] in\n")
	for _, c := range w.commands {
		fmt.Fprintf(&b, "        %s)\n            _arguments \\\n", c.name)
		options := c.options
		for _, sub := range c.commands {
			options = append(options, sub.options...)
		}
		for _, o := range slices.Concat(options, w.global) {
			zshOption(&b, "                ", o)
		}
		switch {
		case len(c.commands) > 0:
			fmt.Fprintf(&b, "                %s \\\n                '*:file:_files'\n", quoted("1:command:("+strings.Join(c.subcommands(), " ")+")"))
		case c.arguments.files:
			b.WriteString("                '*:capture:_files'\n")
		case len(c.arguments.words) > 0:
			fmt.Fprintf(&b, "                %s\n", quoted("*:argument:("+strings.Join(c.arguments.words, " ")+")"))
		default:
			b.WriteString("                '*: :'\n")
		}
		b.WriteString("            ;;\n")
	}
	b.WriteString(`        esac
        ;;
    esac
}
if [[ $funcstack[1] == _ibwitness ]]; then
    _ibwitness "$@"
else
    (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
    compdef _ibwitness ibwitness
fi
`)
	_, err := io.WriteString(out, b.String())
	return err
}

func zshOption(b *strings.Builder, indent string, o option) {
	help := "[" + strings.NewReplacer("[", "(", "]", ")").Replace(o.help) + "]"
	tail := ""
	if o.value {
		tail = ":" + strings.TrimLeft(o.name, "-") + ":"
		switch {
		case o.file:
			tail += "_files"
		case len(o.values) > 0:
			tail += "(" + strings.Join(o.values, " ") + ")"
		}
		help = "=" + help
	}
	repeat := ""
	if o.again {
		repeat = "*"
	}
	fmt.Fprintf(b, "%s%s \\\n", indent, quoted(repeat+o.name+help+tail))
	if o.short != "" {
		fmt.Fprintf(b, "%s%s \\\n", indent, quoted(repeat+o.short+strings.TrimPrefix(help, "=")+tail))
	}
}

// quoted is s inside single quotes of a shell.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
