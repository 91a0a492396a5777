package replay

import (
	"os"
	"path/filepath"
	"testing"
)

// The UVM package and its example are good SystemVerilog over the UVM of Accellera, which UVM_HOME names: its folder src has uvm_pkg.sv. Debian 12 has neither that nor a
// Verilator that takes it: 5.048 does.
func TestUVM(t *testing.T) {
	uvm := os.Getenv("UVM_HOME")
	if uvm == "" {
		t.Skip("UVM_HOME is not set, so that nothing of UVM is tested")
	}
	built(t, "verilator")
	src := filepath.Join(uvm, "src")
	compile(t, t.TempDir(), "verilator", "--lint-only", "--timing", "--timescale", "1ns/1ps", "-Wno-lint", "-Wno-style", "-Wno-TIMESCALEMOD", "+define+UVM_NO_DPI", "+incdir+"+src, "--top", "replay",
		filepath.Join(src, "uvm_pkg.sv"), path(t, "attach/sv/ibwitness_pkg.sv"), path(t, "attach/sv/ibwitness_axis_if.sv"),
		path(t, "attach/sv/ibwitness_uvm_pkg.sv"), path(t, "examples/testbench/replay/replay_uvm.sv"))
}
