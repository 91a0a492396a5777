package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ibwitness/internal/testkit/programs"
)

// TestCompletedFiles: in each shell the value of an option that takes a file is completed to the name of one, after a space and after =. The option names the
// capture then, which is refused by its name.
func TestCompletedFiles(t *testing.T) {
	script := programs.Find(t, "script")
	for _, shell := range []string{"bash", "zsh", "fish"} {
		line := "source <(ibwitness completion " + shell + ")"
		if shell == "fish" {
			line = "ibwitness completion fish | source"
		}
		for _, option := range []string{"--html ", "--html="} {
			t.Run(shell+" "+option, func(t *testing.T) {
				b := newBench(t)
				if err := os.WriteFile(filepath.Join(b.dir, "the capture.pcap"), nil, 0o600); err != nil {
					t.Fatal(err)
				}
				input := line + "\nibwitness check " + option + "the\t the\\ capture.pcap\nexit 0\n"
				out, _, status := b.command(input, script, "-qec", programs.Find(t, shell)+" -i", "/dev/null")
				if status != 0 || !strings.Contains(out, "would overwrite") {
					t.Errorf("exit status %d, and the name is not completed:\n%s", status, out)
				}
			})
		}
	}
}

// TestCompletedCommands: in bash and fish what follows coverage is completed: its commands, and the options of each.
func TestCompletedCommands(t *testing.T) {
	b := newBench(t)
	for typed, want := range map[string]string{"coverage ": "merge", "coverage merge --pl": "--plan", "coverage merge --format ": "verilator", "coverage list wrap/rc/m": "wrap/rc/msn"} {
		for shell, line := range map[string]string{
			"bash": `source <(ibwitness completion bash); COMP_WORDS=(ibwitness ` + strings.TrimSuffix(typed, " ") + `); [[ "` + typed + `" == *" " ]] && COMP_WORDS+=(""); COMP_CWORD=$((${#COMP_WORDS[@]}-1)); _ibwitness; printf '%s\n' "${COMPREPLY[@]}"`,
			"fish": `ibwitness completion fish | source; complete -C "ibwitness ` + typed + `"`,
		} {
			out, log, _ := b.command("", programs.Find(t, shell), "-c", line)
			if !strings.Contains("\n"+strings.ReplaceAll(out, "\t", "\n"), "\n"+want+"\n") {
				t.Errorf("%s completes %q to %q %s", shell, typed, out, log)
			}
		}
	}
}
