package replay

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// verilated is the testbench in Verilator, with ports of so many bits.
func verilated(t *testing.T, width int, order string, flags ...string) *simulation {
	t.Helper()
	dir := built(t, "verilator", "g++")
	s := &simulation{t: t, dir: t.TempDir(), plus: "+", error: regexp.MustCompile(`\[(\d+)\] %Error: .*: ibwitness: violation (\S+)`)}
	args := slices.Concat([]string{
		"verilator", "--binary", "--timing", "-j", "2", "--timescale", "1ns/1ps", "--top", "replay", "-Mdir", "obj", fmt.Sprintf("-GW=%d", width), "-GBIG_ENDIAN=" + order,
		"-MAKEFLAGS", "OPT_FAST=-O0", "-LDFLAGS", "-L" + dir + " -libwitness",
	}, flags, []string{path(t, "attach/sv/ibwitness_pkg.sv"), path(t, "attach/sv/ibwitness_axis_monitor.sv"), path(t, "examples/testbench/replay/replay.sv")})
	compile(t, s.dir, args...)
	s.command = []string{filepath.Join(s.dir, "obj", "Vreplay"), "+ibwitness_config=ibw.json"}
	return s
}

func TestVerilator(t *testing.T) {
	if testing.Short() {
		t.Skip("compiling takes long")
	}
	s := verilated(t, 512, "0")
	for _, p := range []play{clean, odd, silence} {
		s.plays(p)
	}
	s.load(odd)
	const pulse = "violation at dut.tx: BTH-006, errors 1, frames 6\n"
	if out, _ := s.run(); strings.Count(out, "violation at") != 1 || !strings.Contains(out, pulse) {
		t.Errorf("the waveform should show %q once:\n%s", pulse, out)
	}
	s.doubts()
	s.falls("reset_at=500000", "slow", "idle=40000000")
	s.stops("ibwitness_stop")
	s.again("fatal_at=16000", "hang")
}

// Any width, and the first byte of a frame at either end of a beat.
func TestVerilatorWidths(t *testing.T) {
	if testing.Short() {
		t.Skip("compiling takes long")
	}
	for _, c := range []struct {
		width int
		order string
		told  string
	}{{64, "1", "15733000 BTH-006"}, {1032, "1", "15703000 BTH-006"}} {
		s := verilated(t, c.width, c.order)
		s.plays(clean)
		s.plays(play{odd.name, odd.from, []string{c.told}})
	}
}

// Verbs events by value, a reset, and mistakes, by a testbench without a monitor.
func TestVerilatorTasks(t *testing.T) {
	if testing.Short() {
		t.Skip("compiling takes long")
	}
	dir := built(t, "verilator", "g++")
	s := &simulation{t: t, dir: t.TempDir(), plus: "+", error: regexp.MustCompile(`\[(\d+)\] %Error: .*: ibwitness: violation (\S+)`)}
	s.config()
	write(t, filepath.Join(s.dir, "tasks.sv"), `module tasks;
  import ibwitness_pkg::*;
  int run, hca, status;
  string id;
  initial begin
    run = ibw_open("", "ibw.json");
    hca = ibw_sv_hca(run, "dut");
    ibw_event(run, hca, "{\"ev\":\"create_qp\",\"qpn\":17,\"type\":\"rc\",\"max_send_wr\":1}");
    #10 ibw_event(run, hca, "{\"ev\":\"modify_qp\",\"qpn\":17,\"to\":\"INIT\",\"pkey\":65535,\"port_num\":1,\"qp_access_flags\":0}");
    #10 ibw_event(run, hca, "{\"ev\":\"modify_qp\",\"qpn\":17,\"to\":\"RTR\",\"path_mtu\":256,\"dest_qp_num\":18,\"rq_psn\":1,\"max_dest_rd_atomic\":2,\"min_rnr_timer\":1,\"dgid\":\"10.0.0.2\"}");
    #10 ibw_event(run, hca, "{\"ev\":\"modify_qp\",\"qpn\":17,\"to\":\"RTS\",\"sq_psn\":5,\"timeout\":8,\"retry_cnt\":7,\"rnr_retry\":7,\"max_rd_atomic\":2}");
    #10 ibw_post_recv(run, hca, 17, 1, 4096, 64, 9);
    #10 ibw_post_send(run, hca, 17, 77, IBW_SEND, IBW_SIGNALED, 4096, 64, 9);
    #10 $display("outstanding: %0d %s", ibw_sv_outstanding(run), ibw_sv_outstanding_text(run));
    #10 ibw_complete(run, hca, 17, 78, 0, IBW_WC_SEND, 0);
    #10 void'(ibw_tell(run, ibw_sv_reset(run, ibw_sv_tap(run, "dut.tx"), ibw_now()), "reset", id));
    #10 $display("outstanding: %0d", ibw_sv_outstanding(run));
    #10 ibw_event(run, hca, "{\"ev\":\"nonsense\"}");
    #10 ibw_event(run, 5, "{}");
    #10 status = ibw_sv_tap(run, "other");
    $display("%0d %s", status, ibw_sv_message(run));
    status = ibw_sv_errors(9);
    $display("%0d %s", status, ibw_sv_message(9));
    $finish;
  end
  final ibw_finish(run, "final");
endmodule
`)
	compile(t, s.dir, "verilator", "--binary", "--timing", "--timescale", "10ns/100ps", "--top", "tasks", "-Mdir", "obj", "-MAKEFLAGS", "OPT_FAST=-O0", "-LDFLAGS",
		"-L"+dir+" -libwitness", path(t, "attach/sv/ibwitness_pkg.sv"), "tasks.sv")
	s.command = []string{filepath.Join(s.dir, "obj", "Vtasks")}
	out, status := s.run()
	const want = `outstanding: 1 [{"qp":"10.0.0.1 QP 0x11","peer":"10.0.0.2 QP 0x12","what":"a completion","count":1,"since_ps":500000,"wr_id":77}]
[7000] %Error: ibw_complete: ibwitness: violation CPL-ORD-002 completion-once, 10.0.0.1 QP 0x11: expected a completion of a request that was posted, actual request 78, which was not [10.8†]
outstanding: 0
[10000] %Error: ibw_event: attach: event of 10.0.0.1: unknown event "nonsense": docs/events.md lists them
[11000] %Error: ibw_event: attach: there is no HCA 5: the configuration names 1 as "hcas", counted from 0
-1 attach: no tap has the name "other": the configuration names "dut.rx", "dut.tx"
-2 ibwitness: there is no run 9: use the number that the open function has returned, which is 0 where it failed
- tasks.sv:24: Verilog $finish
[12000] %Warning: final: ibwitness: no whole frame has come at "dut.rx": look at what its monitor is connected to, its reset and its last beat among it
[12000] %Warning: final: ibwitness: no whole frame has come at "dut.tx": look at what its monitor is connected to, its reset and its last beat among it
[12000] %Error: final: ibwitness: 1 error
`
	if !strings.HasPrefix(out, want) || status != 1 { // newer versions go on with a report of their own
		t.Errorf("exit status %d, and it said\n%s\nnot\n%s", status, out, want)
	}
}
