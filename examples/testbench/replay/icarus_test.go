package replay

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// icarus is a Verilog testbench in Icarus Verilog, from files of the repository or of its folder.
func icarus(t *testing.T, files []string, flags ...string) *simulation {
	t.Helper()
	dir := built(t, "iverilog", "vvp", "gcc")
	s := &simulation{t: t, dir: t.TempDir(), plus: "+", error: regexp.MustCompile(`\[(\d+) ps\] Error: .*ibwitness: violation (\S+)`)}
	compile(t, s.dir, "gcc", "-Wall", "-Wextra", "-Werror", "-g", "-shared", "-fPIC", "-I/usr/include/iverilog", "-o", "ibwitness.vpi", path(t, "attach/c/vpi.c"), "-L"+dir, "-libwitness")
	compile(t, s.dir, append(append([]string{"iverilog", "-g2012", "-Wall", "-Wno-timescale", "-o", "bench.vvp"}, flags...), files...)...)
	s.command = []string{"vvp", "-n", "-M.", "-mibwitness", "bench.vvp"}
	return s
}

func played(t *testing.T, width, order int) *simulation {
	return icarus(t, []string{path(t, "attach/verilog/ibwitness_axis_monitor.v"), path(t, "examples/testbench/replay/replay.v")},
		fmt.Sprintf("-Preplay.W=%d", width), fmt.Sprintf("-Preplay.BIG_ENDIAN=%d", order))
}

func TestIcarus(t *testing.T) {
	s := played(t, 512, 0)
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
func TestIcarusWidths(t *testing.T) {
	for _, c := range []struct {
		width, order int
		told         string
	}{{8, 0, "32347000 BTH-006"}, {64, 1, "15733000 BTH-006"}, {1032, 1, "15703000 BTH-006"}} {
		s := played(t, c.width, c.order)
		s.plays(clean)
		s.plays(play{odd.name, odd.from, []string{c.told}})
	}
}

// Verbs events by value, a reset, and mistakes, by a testbench without a monitor and with a time unit of its own.
func TestIcarusTasks(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tasks.v")
	write(t, file, "`timescale 10ns/100ps\n"+`module tasks;
  integer run, hca, n, tone;
  reg [8*32-1:0] id;
  reg [8*512-1:0] text;
  reg [63:0] data;
  initial begin
    run = $ibw_open("", "ibw.json");
    hca = $ibw_hca(run, "dut");
    n = $ibw_event(run, hca, "{\"ev\":\"create_qp\",\"qpn\":17,\"type\":\"rc\",\"max_send_wr\":1}");
    #10 n = $ibw_event(run, hca, "{\"ev\":\"modify_qp\",\"qpn\":17,\"to\":\"INIT\",\"pkey\":65535,\"port_num\":1,\"qp_access_flags\":0}");
    #10 n = $ibw_event(run, hca, "{\"ev\":\"modify_qp\",\"qpn\":17,\"to\":\"RTR\",\"path_mtu\":256,\"dest_qp_num\":18,\"rq_psn\":1,\"max_dest_rd_atomic\":2,\"min_rnr_timer\":1,\"dgid\":\"10.0.0.2\"}");
    #10 n = $ibw_event(run, hca, "{\"ev\":\"modify_qp\",\"qpn\":17,\"to\":\"RTS\",\"sq_psn\":5,\"timeout\":8,\"retry_cnt\":7,\"rnr_retry\":7,\"max_rd_atomic\":2}");
    #10 n = $ibw_post_recv(run, hca, 17, 1, 4096, 64, 9);
    #10 n = $ibw_post_send(run, hca, 17, 77, 2, 2, 4096, 64, 9);
    #10 $display("outstanding: %0d", $ibw_outstanding(run));
    #10 n = $ibw_complete(run, hca, 17, 78, 0, 0, 0);
    while ($ibw_next(run, tone, id, text)) $display("%0d %0s: %0s", tone, id, text);
    #10 n = $ibw_reset(run, 1);
    #10 $display("outstanding: %0d, errors %0d", $ibw_outstanding(run), $ibw_errors(run));
    #10 n = $ibw_tell(run, $ibw_event(run, 5, "{}"));
    n = $ibw_message(9, text);
    n = $ibw_errors(9);
    n = $ibw_message(9, text);
    $display("%0s", text);
    n = $ibw_beat(run, 0, 1, 7'd0, 1'b1, 1'b1, 1'b0);
    n = $ibw_beat(run, 0, 1, data, 8'h3, 1'b1, 1'b0);
    n = $ibw_finish(run);
    $display("%0d %0d", n, $ibw_exercised(run, "CPL-ORD-002"));
    n = $ibw_report(run, "text", "report.txt");
    n = $ibw_tell(run, $ibw_report(run, "nonsense", "report.txt"));
  end
endmodule
`)
	s := icarus(t, []string{file})
	s.config()
	out, status := s.run()
	const want = `outstanding: 1
2 CPL-ORD-002: violation CPL-ORD-002 completion-once, 10.0.0.1 QP 0x11: expected a completion of a request that was posted, actual request 78, which was not [10.8†]
outstanding: 0, errors 1
[1000000 ps] Error: tasks: attach: there is no HCA 5: the configuration names 1 as "hcas", counted from 0
ibwitness: there is no run 9: use the number that the open function has returned, which is 0 where it failed
[1000000 ps] Error: tasks: ibwitness: $ibw_beat: give data of whole bytes, 32768 bits at most, and keep with a bit for each byte
[1000000 ps] Warning: tasks: ibwitness: a beat has bits that are neither 0 nor 1, which are taken for 0
[1000000 ps] Warning: tasks: ibwitness: no whole frame has come at "dut.tx": look at what its monitor is connected to, its reset and its last beat among it
[1000000 ps] Warning: tasks: ibwitness: none of the frames that have come is of InfiniBand or RoCE: look at the order of their bytes, and whether they begin with the link header
[1000000 ps] Error: tasks: ibwitness: 1 error
1 1
[1000000 ps] Error: tasks: attach: there is no format "nonsense": give one of `
	if !strings.HasPrefix(out, want) || status != 1 {
		t.Errorf("exit status %d, and it said\n%s\nnot\n%s", status, out, want)
	}
}
