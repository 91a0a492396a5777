package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"ibwitness": main})
}

// mostInit is how many milliseconds a package may take at each start, whatever is done then.
const mostInit = 6

// TestStart: no package of the program has the user wait as it starts. A package takes the least of some starts, since other programs run too.
func TestStart(t *testing.T) {
	line := regexp.MustCompile(`(?m)^init (\S+) @\S+ ms, (\S+) ms clock`)
	least := map[string]float64{}
	slow := func() bool {
		for _, took := range least {
			if took > mostInit {
				return true
			}
		}
		return false
	}
	for n := 0; n < 5 || n < 50 && slow(); n++ { // the machine may be busy for a while
		c := exec.Command(os.Args[0], "-test.run=^$")
		c.Env = append(os.Environ(), "GODEBUG=inittrace=1")
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		for _, m := range line.FindAllStringSubmatch(string(out), -1) {
			took, err := strconv.ParseFloat(m[2], 64)
			if err != nil {
				t.Fatal(err)
			}
			if was, ok := least[m[1]]; !ok || took < was {
				least[m[1]] = took
			}
		}
	}
	if _, ok := least["ibwitness/packet"]; !ok {
		t.Fatalf("the runtime tells of no package: %v", least)
	}
	for name, took := range least {
		if took > mostInit {
			t.Errorf("%s takes %.1f ms", name, took)
		}
	}
}

// TestScript runs the sessions of testdata/script: what a user types, and what must come of it.
func TestScript(t *testing.T) {
	captures, err := filepath.Abs("../../testdata/captures")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("CAPTURES", captures)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "first": first, "spoil": spoil, "foreign": foreign,
		},
	})
}

// exits STATUS COMMAND… runs a command and compares its exit status with STATUS, which `! exec` does not.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS COMMAND [ARGUMENT...]")
	}
	status := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		failed, ok := err.(interface{ ExitCode() int })
		if !ok {
			ts.Fatalf("%v", err)
		}
		status = failed.ExitCode()
	}
	if strconv.Itoa(status) != args[0] {
		ts.Fatalf("exit status %d, want %s", status, args[0])
	}
}

// first N FROM TO copies the first N bytes of a file.
func first(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	whole, err := os.ReadFile(ts.MkAbs(args[1]))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), whole[:n], 0o644))
}

// spoil N FROM TO copies a file and overwrites it with 0xff from byte N on.
func spoil(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	whole, err := os.ReadFile(ts.MkAbs(args[1]))
	ts.Check(err)
	for i := n; i < len(whole); i++ {
		whole[i] = 0xff
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), whole, 0o644))
}

// foreign TO writes a good capture with one frame of another protocol, an ARP request.
func foreign(ts *testscript.TestScript, _ bool, args []string) {
	capture := []byte{
		0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0,
		0, 0xf1, 0x53, 0x65, 0, 0, 0, 0, 42, 0, 0, 0, 42, 0, 0, 0,
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 1, 8, 6,
		0, 1, 8, 0, 6, 4, 0, 1, 2, 0, 0, 0, 0, 1, 10, 0, 0, 1, 0, 0, 0, 0, 0, 0, 10, 0, 0, 2,
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), capture, 0o644))
}
