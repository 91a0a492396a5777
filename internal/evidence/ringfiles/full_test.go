//go:build unix

package ringfiles_test

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"ibwitness/internal/evidence/ringfiles"
	"ibwitness/internal/testkit/traffic"
)

// TestFull: where nothing can be written, the files that there are stay, none is left empty, and that is told once.
func TestFull(t *testing.T) {
	const inside = "IBWITNESS_TEST_FULL"
	if os.Getenv(inside) == "" { // in a process of its own, as the limit is for all that one writes
		cmd := exec.Command(os.Args[0], "-test.run", "^TestFull$")
		cmd.Env = append(os.Environ(), inside+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	path := filepath.Join(t.TempDir(), "flight.pcapng")
	shape := traffic.Small(60)
	shape.Faults = 300
	o := ringfiles.Options{Path: path, Size: 1 << 14, Files: 3, Packets: 16}
	watch(t, shape, 30_000, o, nil)
	before := files(t, path)

	signal.Ignore(syscall.SIGXFSZ)
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	for _, k := range []struct {
		name  string
		bytes uint64
		fresh int // files that are new
	}{{"not even the header", 100, 0}, {"some frames", 2000, 1}} {
		small := limit
		small.Cur = k.bytes
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &small); err != nil {
			t.Fatal(err)
		}
		failed := 0
		o.Failed = func(error) { failed++ }
		_, stats := watch(t, shape, 30_000, o, nil)
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
			t.Fatal(err)
		}
		after := files(t, path)
		if d := cmp.Diff(before[k.fresh:], after[:len(after)-k.fresh]); d != "" || len(after) != len(before) {
			t.Errorf("%s: files before (-) and after (+):\n%s", k.name, d)
		}
		if failed != 1 || stats.Failed == 0 || stats.Written != 0 && k.fresh == 0 {
			t.Errorf("%s: told %d times, %+v", k.name, failed, stats)
		}
		for _, f := range after {
			if i, err := os.Stat(f); err != nil || i.Size() == 0 {
				t.Errorf("%s: %v, %v", k.name, i, err)
			}
			judge(t, f)
		}
	}

	// Where there is room again, it goes on, in the file that it was at.
	small := limit
	small.Cur = 2000
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &small); err != nil {
		t.Fatal(err)
	}
	failed := 0
	o.Size, o.Failed = 1<<20, func(error) {
		failed++
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
			t.Error(err)
		}
	}
	_, stats := watch(t, shape, 30_000, o, nil)
	after := files(t, path)
	if failed != 1 || stats.Failed == 0 || stats.Written < stats.Failed {
		t.Errorf("with room again: told %d times, %+v", failed, stats)
	}
	judge(t, after[len(after)-1])
}
