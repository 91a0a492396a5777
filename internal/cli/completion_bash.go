package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// bashFiles answers with the files whose names begin as typed.
const bashFiles = `compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$cur")`

// bash writes a script that needs nothing but bash 4.
func bash(out io.Writer, w *syntax) error {
	var b strings.Builder
	b.WriteString(`# bash completion for ibwitness
_ibwitness() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} cmd= i
    COMPREPLY=()
    # bash takes --option=value apart at the =
    if [[ $cur == = ]]; then
        cur=
    elif [[ $prev == = ]]; then
        prev=${COMP_WORDS[COMP_CWORD-2]}
    fi
    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
`)
	fmt.Fprintf(&b, "            %s) cmd=${COMP_WORDS[i]}; break ;;\n        esac\n    done\n", strings.Join(w.names(), "|"))
	for _, c := range w.commands {
		if len(c.commands) > 0 {
			fmt.Fprintf(&b, `    if [[ $cmd == %s ]]; then
        for ((i++; i < COMP_CWORD; i++)); do
            case ${COMP_WORDS[i]} in
            %s) cmd+=-${COMP_WORDS[i]}; break ;;
            esac
        done
    fi
`, c.name, strings.Join(c.subcommands(), "|"))
		}
	}
	b.WriteString("    case $prev in\n")
	seen := map[string]bool{}
	value := func(options []option, command string) {
		for _, o := range options {
			if !o.value || seen[command+o.name] {
				continue
			}
			seen[command+o.name] = true
			fmt.Fprintf(&b, "        %s)\n", o.name)
			answer := "return"
			switch {
			case o.file:
				answer = bashFiles + "; return"
			case len(o.values) > 0:
				answer = fmt.Sprintf(`COMPREPLY=($(compgen -W '%s' -- "$cur")); return`, strings.Join(o.values, " "))
			}
			if command != "" {
				answer = fmt.Sprintf("if [[ $cmd == %s ]]; then %s; fi", command, answer)
			}
			fmt.Fprintf(&b, "            %s\n            ;;&\n", answer)
		}
	}
	value(w.global, "")
	for _, c := range w.flat() {
		value(c.options, c.name)
	}
	b.WriteString("    esac\n    case $cmd in\n")
	arm := func(pattern string, options []option, a arguments) {
		fmt.Fprintf(&b, "        %s)\n            if [[ $cur == -* ]]; then\n", pattern)
		fmt.Fprintf(&b, "                COMPREPLY=($(compgen -W '%s' -- \"$cur\"))\n", strings.Join(flags(options), " "))
		switch {
		case a.files:
			fmt.Fprintf(&b, "            else\n                %s\n", bashFiles)
		case len(a.words) > 0:
			fmt.Fprintf(&b, "            else\n                COMPREPLY=($(compgen -W '%s' -- \"$cur\"))\n", strings.Join(a.words, " "))
		}
		b.WriteString("            fi\n            ;;\n")
	}
	for _, c := range w.flat() {
		arm(c.name, slices.Concat(c.options, w.global), c.arguments)
	}
	arm("*", w.global, arguments{words: w.names()})
	b.WriteString("    esac\n}\ncomplete -F _ibwitness ibwitness\n")
	_, err := io.WriteString(out, b.String())
	return err
}
