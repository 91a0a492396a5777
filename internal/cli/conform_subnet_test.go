package cli

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"ibwitness/internal/testkit/programs"
)

// TestConformManager: the tests of subnet administration run against a real subnet manager that comes to the fabric.
func TestConformManager(t *testing.T) {
	opensm, library := programs.Need(t, "opensm"), programs.Need(t, "/usr/lib/*/umad2sim/libumad2sim.so")
	name, dir := fmt.Sprintf("ibwitness-%d-cli", os.Getpid()), t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	c := exec.CommandContext(ctx, opensm, "-e", "-f", "opensm.log") // it waits for the fabric
	c.Dir, c.WaitDelay = dir, time.Second
	c.Env = append(os.Environ(), "LD_PRELOAD="+library, "IBSIM_SOCKNAME="+name, "SIM_HOST=manager", "OSM_CACHE_DIR="+dir, "OSM_TMP_DIR="+dir)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		cancel()
		_ = c.Wait()
	}()
	status, out, errs := run(t, "conform", "run", "--seed", "1", "--dut", "ibsim:"+name, "X15_002", "X15_006", "C15_0_1_012_17", "C09_142_01")
	for _, want := range []string{
		"PASSED  6 tests of the device the subnet manager of " + name + ": 4 pass, 2 not applicable", "pass            X15_002", "pass            C15_0_1_012_17_02_3", "not applicable  C09_142_01",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if status != 0 || !strings.Contains(errs, "IBSIM_SOCKNAME="+name) {
		t.Errorf("status %d: %s", status, errs)
	}
}
