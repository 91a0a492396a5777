package replay

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// analysed is a testbench in GHDL: files of the repository, and one of its folder.
func analysed(t *testing.T, top string, files ...string) *simulation {
	t.Helper()
	built(t, "ghdl")
	s := &simulation{t: t, dir: t.TempDir(), plus: "-g", ns: true, error: regexp.MustCompile(`:@(\d+)ns:\(report (?:error|failure)\): .*ibwitness: violation (\S+)`)}
	args := []string{"ghdl", "-a", "--std=08", path(t, "attach/vhdl/ibwitness_pkg.vhd"), path(t, "attach/vhdl/ibwitness_axis_monitor.vhd")}
	compile(t, s.dir, append(args, files...)...)
	compile(t, s.dir, "ghdl", "-e", "--std=08", top)
	s.command = []string{"ghdl", "-r", "--std=08", top}
	return s
}

func TestGHDL(t *testing.T) {
	s := analysed(t, "replay", path(t, "examples/testbench/replay/replay.vhd"))
	for _, p := range []play{clean, odd, silence} {
		s.plays(p)
	}
	s.load(odd)
	const pulse = "violation at dut.tx: BTH-006, errors 1, frames 6\n"
	if out, _ := s.run(); strings.Count(out, "violation at") != 1 || !strings.Contains(out, pulse) {
		t.Errorf("the waveform should show %q once:\n%s", pulse, out)
	}
	// A testbench that does not end its run: the end of the program does.
	out, status := s.run("FINISH=false")
	if status != 1 || !slices.Equal(s.errors(out), odd.told) || !strings.Contains(out, "\nError: ibwitness: 1 error\n") || !slices.Equal(s.reported(), []string{"BTH-006"}) {
		t.Errorf("exit status %d:\n%s", status, out)
	}
	s.load(clean)
	if out, status := s.run("FINISH=false"); status != 0 || strings.Contains(out, "ibwitness") {
		t.Errorf("exit status %d:\n%s", status, out)
	}
	s.doubts()
	s.falls("RESET_AT=500000", "HALF=500", "IDLE=40000000")
	s.stops("STOP=true")
	s.again("FATAL_AT=16000", "HANG=true")
}

// Any width, and the first byte of a frame at either end of a beat.
func TestGHDLWidths(t *testing.T) {
	s := analysed(t, "replay", path(t, "examples/testbench/replay/replay.vhd"))
	for _, c := range []struct {
		width int
		order string
		told  string
	}{{8, "false", "32347000 BTH-006"}, {64, "true", "15733000 BTH-006"}, {1032, "true", "15703000 BTH-006"}} {
		s.command = []string{"ghdl", "-r", "--std=08", "replay", fmt.Sprintf("-gW=%d", c.width), "-gBIG_ENDIAN=" + c.order}
		s.plays(clean)
		s.plays(play{odd.name, odd.from, []string{c.told}})
	}
}

// Verbs events by value, a reset, and mistakes, by a testbench without a monitor.
func TestGHDLTasks(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/tasks.vhd", `library ieee;
use ieee.std_logic_1164.all;
use work.ibwitness_pkg.all;

entity tasks is
end entity;

architecture bench of tasks is
begin
  process
    constant run : integer := ibw_open("", "ibw.json");
    constant hca : integer := ibw_hca(run, "dut");
  begin
    ibw_event(run, hca, "{""ev"":""create_qp"",""qpn"":17,""type"":""rc"",""max_send_wr"":1}");
    wait for 100 ns;
    ibw_event(run, hca, "{""ev"":""modify_qp"",""qpn"":17,""to"":""INIT"",""pkey"":65535,""port_num"":1,""qp_access_flags"":0}");
    wait for 100 ns;
    ibw_event(run, hca, "{""ev"":""modify_qp"",""qpn"":17,""to"":""RTR"",""path_mtu"":256,""dest_qp_num"":18,""rq_psn"":1,""max_dest_rd_atomic"":2," &
      """min_rnr_timer"":1,""dgid"":""10.0.0.2""}");
    wait for 100 ns;
    ibw_event(run, hca, "{""ev"":""modify_qp"",""qpn"":17,""to"":""RTS"",""sq_psn"":5,""timeout"":8,""retry_cnt"":7,""rnr_retry"":7,""max_rd_atomic"":2}");
    wait for 100 ns;
    ibw_post_recv(run, hca, 17, x"01", x"1000", 64, x"09");
    wait for 100 ns;
    ibw_post_send(run, hca, 17, x"000000000000004d", IBW_SEND, IBW_SIGNALED, x"1000", 64, x"09");
    wait for 100 ns;
    report "outstanding: " & integer'image(ibw_outstanding_count(run)) & " " & ibw_words(run, IBW_OUTSTANDING);
    wait for 100 ns;
    ibw_complete(run, hca, 17, x"4e", 0, IBW_WC_SEND, 0);
    wait for 100 ns;
    ibw_tell(run, ibw_reset(run, ibw_tap(run, "dut.tx")), "reset");
    wait for 100 ns;
    report "outstanding: " & integer'image(ibw_outstanding_count(run)) & ", errors " & integer'image(ibw_errors(run));
    wait for 100 ns;
    ibw_event(run, 5, "{}");
    ibw_tell(9, ibw_errors(9), "other");
    ibw_tell(run, ibw_beat(run, 0, IBW_IN, x"0000", "1X", 1), "X");
    ibw_finish(run);
    std.env.finish;
  end process;
end architecture;
`)
	s := analysed(t, "tasks", dir+"/tasks.vhd")
	s.config()
	out, status := s.run()
	var said strings.Builder
	for _, line := range strings.SplitAfter(out, "\n") {
		if _, text, ok := strings.Cut(line, ":@"); ok {
			said.WriteString(text)
		}
	}
	const want = `600ns:(report note): outstanding: 1 [{"qp":"10.0.0.1 QP 0x11","peer":"10.0.0.2 QP 0x12","what":"a completion","count":1,"since_ps":500000,"wr_id":77}]
700ns:(report error): ibw_complete: ibwitness: violation CPL-ORD-002 completion-once, 10.0.0.1 QP 0x11: expected a completion of a request that was posted, actual request 78, which was not [10.8†]
900ns:(report note): outstanding: 0, errors 1
1us:(report error): ibw_event: attach: there is no HCA 5: the configuration names 1 as "hcas", counted from 0
1us:(report error): other: ibwitness: there is no run 9: use the number that the open function has returned, which is 0 where it failed
1us:(report warning): ibwitness: a beat has bits that are neither 0 nor 1, which are taken for 0
1us:(report warning): ibw_finish: ibwitness: no whole frame has come at "dut.tx": look at what its monitor is connected to, its reset and its last beat among it
1us:(report warning): ibw_finish: ibwitness: none of the frames that have come is of InfiniBand or RoCE: look at the order of their bytes, and whether they begin with the link header
1us:(report error): ibw_finish: ibwitness: 1 error
`
	if said.String() != want || status != 1 {
		t.Errorf("exit status %d, and it said\n%s\nnot\n%s", status, out, want)
	}
}
