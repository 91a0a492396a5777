package replay

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestDocumentedMain: the commands that docs/attach.md has for a main in C++ make one that hands over the frames of a device in Verilator.
func TestDocumentedMain(t *testing.T) {
	if testing.Short() {
		t.Skip("compiling takes long")
	}
	lib := built(t, "verilator", "g++", "bash")
	text, err := os.ReadFile(root + "/docs/attach.md")
	if err != nil {
		t.Fatal(err)
	}
	_, script, found := strings.Cut(string(text), "\n```bash\nverilator --cc")
	if !found {
		t.Fatal("docs/attach.md has no command with verilator --cc")
	}
	script, _, _ = strings.Cut("verilator --cc"+script, "\n```")
	dir := t.TempDir()
	for name, content := range map[string]string{
		"dut.sv": `module dut(input logic clk, output logic [7:0] sent = 0); always_ff @(posedge clk) sent <= sent + 1; endmodule`,
		"main.cpp": `#include "Vdut.h"
#include "ibwitness.h"
#include <cstdio>
int main() {
  Vdut dut;
  char err[512];
  ibw *run = ibw_open(R"({"taps": [{"name": "dut.tx"}]})", err, sizeof err);
  if (!run) return 2;
  for (int cycle = 1; cycle <= 3; cycle++) {
    dut.clk = 1, dut.eval(), dut.clk = 0, dut.eval();
    unsigned char frame[64] = {0};
    frame[0] = dut.sent;
    if (ibw_frame(run, 0, IBW_OUT, 1000 * cycle, frame, sizeof frame, 0) < 0) return 3;
  }
  int errors = ibw_end(run, 4000);
  printf("errors %d, time %llu\n", errors, (unsigned long long)ibw_now(run));
  return ibw_close(run);
}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(lib, "libibwitness.so"), filepath.Join(dir, "libibwitness.so")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("bash", "-ec", script+"\nobj_dir/Vdut")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "IBW="+path(t, "."), "LD_LIBRARY_PATH="+dir, "MAKEFLAGS=OPT_FAST=-O0")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "errors 0, time 4000\n") {
		t.Fatalf("%v\n%s", err, out)
	}
}
