package cli

import (
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestConform: what is printed and written of runs, and how they exit.
func TestConform(t *testing.T) {
	status, out, errs := run(t, "conform", "run", "--seed", "1", "C09_1")
	if status != 0 || errs != "" || !strings.HasPrefix(out, "PASSED  2 tests of the device soft: 2 pass; order by seed 1\n") {
		t.Errorf("exit status %d: %s%s", status, errs, out)
	}
	dir := t.TempDir()
	junit, packets := filepath.Join(dir, "x.xml"), filepath.Join(dir, "made", "packets")
	args := []string{"conform", "run", "--fault", "retry-forever", "--junit", junit, "--pcapng", packets, "--log", "C09_142_01"}
	status, out, errs = run(t, args...)
	for _, want := range []string{"FAILED  1 test of the device soft with the fault retry-forever: 1 fail", "v1c09-142#01", "expected  2 retries", "frames    5, 6", "RC-RTY-001"} {
		if !strings.Contains(out, want) {
			t.Errorf("lacks %q: %s", want, out)
		}
	}
	if status != 1 || errs != "" {
		t.Errorf("exit status %d: %s", status, errs)
	}
	b, err := os.ReadFile(junit)
	if err != nil || xml.Unmarshal(b, new(any)) != nil || !strings.Contains(string(b), `tests="7" failures="2" errors="0" skipped="3"`) {
		t.Errorf("%v: %s", err, b)
	}
	if status, out, errs = run(t, "check", "-q", "--near", "10.0.0.1", filepath.Join(packets, "C09_142_01.pcapng")); status == 2 {
		t.Errorf("exit status %d: %s%s", status, errs, out)
	}
	_, out, _ = run(t, append(args, "--format", "json")...)
	var one struct {
		Test, Outcome string
		Assertions    []struct {
			ID, Outcome string
			Frames      []uint64
		}
	}
	if err := json.Unmarshal([]byte(out), &one); err != nil || one.Outcome != "fail" || one.Assertions[0].ID != "v1c09-142#01" || len(one.Assertions[0].Frames) != 2 {
		t.Errorf("%v: %+v", err, one)
	}
	if status, out, _ = run(t, "conform", "run", "--fault", "rnr-late-psn", "C09_130_01"); status != 2 || !strings.HasPrefix(out, "INCONCLUSIVE") {
		t.Errorf("exit status %d: %s", status, out)
	}
}

// TestConformSwitch: a switch is tested by subnet management packets, whose frames are InfiniBand's; tests of the other kind of device are not applicable.
func TestConformSwitch(t *testing.T) {
	packets := t.TempDir()
	for args, want := range map[string]string{
		"--device switch C14_024_08_04":                                 "PASSED  1 test of the device soft: 1 pass",
		"--device switch --ports 254 --sample C14_024_08_04":            "204 of 64770 pairs",
		"--enhanced-port0 --ports 2 --log C14_024_08_04":                " 166  SLtoVLMappingTable not supported",
		"--device channel-adapter C14_024_06":                           "3 pass, 3 not applicable",
		"--device switch --random C14_024_1":                            "5 pass, 3 not applicable",
		"--device channel-adapter --plain --sltovl C14_024_09_CA --all": "v1c14-024.1.1#09.04",
		"--device switch --sltovl --optimized-sltovl --all X14_010":     "all input ports, all output ports",
		"--device adapter C14":                                          "NOT APPLICABLE",
		"--sltovl --all C14_024_08_04":                                  "NOT APPLICABLE",
		"--device switch C09_130_01":                                    "NOT APPLICABLE",
		"--skip C14_024_05 C14_024_0":                                   "PASSED  17 tests",
		"--fault sltovl-invalid-value C14_024_08_04":                    "80 requests were refused with status code 7",
		"--faults": "sltovl-answers",
		"--fault sltovl-answers --pcapng " + packets + " C14_024_08_04": "FAILED  1 test of the device soft with the fault sltovl-answers: 1 fail",
	} {
		status, out, errs := run(t, append([]string{"conform", "run", "--seed", "1"}, strings.Fields(args)...)...)
		if !strings.Contains(out, want) || errs != "" || (status != 0) != strings.HasPrefix(want, "FAILED") {
			t.Errorf("%s: exit status %d, lacks %q: %s%s", args, status, want, out, errs)
		}
	}
	file := filepath.Join(packets, "C14_024_08_04.pcapng")
	b, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(b), "C14_024_08_04 v1c14-024.1.1#08.01 fails: expected a status code other than 0, actual status 0 to Get") {
		t.Errorf("no comment: %v", err)
	}
	if status, out, errs := run(t, "check", file); status == 2 || !strings.Contains(out, "SMP-SV-002") {
		t.Errorf("exit status %d: %s%s", status, out, errs)
	}
	status, out, _ := run(t, "conform", "explain", "C14_024_08_04")
	for _, want := range []string{"\n    the device is of kind switch\n", "\n    v1c14-024.1.1#08.02  VLCap of each port"} {
		if status != 0 || !strings.Contains(out, want) {
			t.Errorf("exit status %d, lacks %q: %s", status, want, out)
		}
	}
}

// TestConformPages: lists and pages.
func TestConformPages(t *testing.T) {
	status, out, _ := run(t, "conform", "list", "c09_142")
	if status != 0 || !strings.Contains(out, "C09_142_01  C9-142 ✓, C9-143 ✓           6  timeout and retry counter\n") {
		t.Errorf("exit status %d: %s", status, out)
	}
	status, out, _ = run(t, "conform", "explain", "C09_142_01")
	for _, want := range []string{"\n  Procedure\n     1  Have the device post a READ", "\n    v1c09-143#01  After the last try", "\n  The original page, and what was decided\n"} {
		if status != 0 || !strings.Contains(out, want) {
			t.Errorf("exit status %d, lacks %q: %s", status, want, out)
		}
	}
	status, out, _ = run(t, "conform", "list", "--format", "json")
	for line := range strings.Lines(out) {
		if status != 0 || !json.Valid([]byte(line)) {
			t.Errorf("exit status %d: %s", status, line)
		}
	}
}

// TestConformRefuses: what is wrong with a command line is told, with what to do.
func TestConformRefuses(t *testing.T) {
	for args, want := range map[string]string{
		"conform run C99":                                    `there is no test \"C99\": `,
		"conform explain nothing":                            "`ibwitness conform list` without a pattern lists all",
		"conform run --skip C99":                             `there is no test \"C99\": `,
		"conform run --fault slow C09_130_01":                "`ibwitness simulate --faults` lists those of adapters",
		"conform run --fault sltovl-silent --device adapter": "`ibwitness conform run --faults` those of switches",
		"conform run --ports 255 --device switch":            "255 ports; give 1 to 254",
		"conform run --ports 0":                              "give 1 to 254",
		"conform run --psn 0x1000000":                        "--psn 0x1000000: give a number of 24 bits",
		"conform run --workers=-2":                           "--workers -2: give 0 for all cores",
		"conform run --dut ibsim:x --secret f":               "leave them out",
		"conform run --dut ibsim:x --sm-key k":               "--sm-key k: give a number of 64 bits",
		"conform run --dut ibsim:x --scenario f":             "--scenario is of adapters",
		"conform run --pcapng /dev/null/x C09_1":             "give a folder that can be written",
		"conform run --junit /dev/null/x C09_1":              "give a file that can be written",
		"conform":                                            "expected one of",
	} {
		if status, _, errs := run(t, strings.Fields(args)...); status != 2 || !strings.Contains(errs, want) {
			t.Errorf("%s: exit status %d: %s", args, status, errs)
		}
	}
}
