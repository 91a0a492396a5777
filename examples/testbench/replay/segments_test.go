package replay

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ibwitness/packet"
)

const nativeConfig = `{"taps": [{"name": "hca", "link": "infiniband", "near": "lid:1"}], "hcas": [{"name": "dut", "gid": "lid:1"}], "reports": {"json": "report.json", "junit": "report.xml"}}`

// readied are the events that make QP 17 of the device ready.
var readied = []string{
	`{"ev":"reg_mr","mr":1,"addr":4096,"length":65536,"lkey":9,"rkey":9,"access":1}`,
	`{"ev":"create_qp","qpn":17,"type":"rc"}`,
	`{"ev":"modify_qp","qpn":17,"to":"INIT","pkey":65535,"port_num":1,"qp_access_flags":0}`,
	`{"ev":"modify_qp","qpn":17,"to":"RTR","path_mtu":256,"dest_qp_num":18,"rq_psn":9,"max_dest_rd_atomic":2,"min_rnr_timer":1,"dgid":"lid:2"}`,
	`{"ev":"modify_qp","qpn":17,"to":"RTS","sq_psn":5,"timeout":8,"retry_cnt":7,"rnr_retry":7,"max_rd_atomic":2}`,
}

// sent is a SEND of 16 bytes that QP 17 sends, or that it gets: from the highest byte on, as a number in Verilog and VHDL is written, and its length.
func sent(psn uint32, in bool) (string, int) {
	p := packet.Packet{
		Encap: packet.Native, Opcode: packet.Op(packet.RC, packet.SendOnly), PKey: 0xFFFF, DestQP: 18, PSN: packet.PSN(psn), AckReq: true, Src: packet.LIDAddr(1), Dst: packet.LIDAddr(2),
		Payload: make([]byte, 16),
	}
	if in {
		p.DestQP, p.Src, p.Dst = 17, p.Dst, p.Src
	}
	p.PayloadLen = len(p.Payload)
	p.Complete()
	var text strings.Builder
	data := p.Append(nil)
	for i := range data {
		fmt.Fprintf(&text, "%02x", data[len(data)-1-i])
	}
	return text.String(), len(data)
}

// segmented runs a testbench that posts work requests of several segments: a SEND of three that make up its 16 bytes, one of two that are 20, and a receive request of two for a
// SEND of 16. Only what the second sends is wrong.
func (s *simulation) segmented() {
	s.t.Helper()
	write(s.t, filepath.Join(s.dir, "ibw.json"), nativeConfig)
	out, status := s.run()
	want := "CPL-LEN-004 message-length, requester lid:1 QP 0x11: expected 20 bytes in 1 packets, actual 16 bytes in 1 packets; work request 2 [10.7†] (frame 2)"
	if status != 1 || strings.Count(out, "ibwitness: violation ") != 1 || !strings.Contains(out, want) {
		s.t.Errorf("exit status %d, and it should say %q only:\n%s", status, want, out)
	}
}

// verilog is what the benches in SystemVerilog and Verilog have in common. The functions have the prefix call, and do what else then says.
func verilog(call, then, beat string) string {
	var b strings.Builder
	for _, e := range readied {
		fmt.Fprintf(&b, "    #10 %sevent(run, hca, %q)%s;\n", call, e, then)
	}
	frame := func(way int, psn uint32, in bool) {
		text, n := sent(psn, in)
		fmt.Fprintf(&b, "    #10 "+beat+"\n", way, text, uint64(1)<<n-1)
	}
	fmt.Fprintf(&b, "    #10 %[1]ssegment(run, 4096, 8, 9)%[2]s; %[1]ssegment(run, 8192, 4, 9)%[2]s; %[1]spost_send(run, hca, 17, 1, IBW_SEND, IBW_SIGNALED, 12288, 4, 9)%[2]s;\n", call, then)
	frame(2, 5, false)
	fmt.Fprintf(&b, "    #10 %[1]ssegment(run, 4096, 8, 9)%[2]s; %[1]spost_send(run, hca, 17, 2, IBW_SEND, IBW_SIGNALED, 12288, 12, 9)%[2]s;\n", call, then)
	frame(2, 6, false)
	fmt.Fprintf(&b, "    #10 %[1]ssegment(run, 4096, 8, 9)%[2]s; %[1]ssegment(run, 4096, 8, 9)%[2]s; %[1]spost_recv(run, hca, 17, 3, 0, 0, 0)%[2]s;\n", call, then)
	frame(1, 9, true)
	fmt.Fprintf(&b, "    #10 %[1]scomplete(run, hca, 17, 3, 0, IBW_WC_RECV, 16)%[2]s;\n", call, then)
	return b.String()
}

func TestVerilatorSegments(t *testing.T) {
	if testing.Short() {
		t.Skip("compiling takes long")
	}
	dir := built(t, "verilator", "g++")
	s := &simulation{t: t, dir: t.TempDir(), plus: "+", error: regexp.MustCompile(`\[(\d+)\] %Error: .*: ibwitness: violation (\S+)`)}
	write(t, filepath.Join(s.dir, "bench.sv"), `module bench;
  import ibwitness_pkg::*;
  int run, hca;
  string id;
  initial begin
    run = ibw_open("", "ibw.json");
    hca = ibw_sv_hca(run, "dut");
    ibw_sv_lenient(run);
`+verilog("ibw_", "", "void'(ibw_tell(run, ibw_sv_beat64(run, 0, %d, ibw_now(), 512'h%s, 64'h%x, IBW_LAST), \"beat\", id));")+`    #10 $finish;
  end
  final ibw_finish(run, "final");
endmodule
`)
	compile(t, s.dir, "verilator", "--binary", "--timing", "--timescale", "1ns/1ps", "--top", "bench", "-Mdir", "obj", "-MAKEFLAGS", "OPT_FAST=-O0", "-LDFLAGS",
		"-L"+dir+" -libwitness", path(t, "attach/sv/ibwitness_pkg.sv"), "bench.sv")
	s.command = []string{filepath.Join(s.dir, "obj", "Vbench")}
	s.segmented()
}

func TestIcarusSegments(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bench.sv")
	write(t, file, "`timescale 1ns/1ps\n"+`module bench;
  localparam IBW_SEND = 2, IBW_SIGNALED = 2, IBW_WC_RECV = 128;
  integer run, hca, n;
  initial begin
    run = $ibw_open("", "ibw.json");
    hca = $ibw_hca(run, "dut");
    n = $ibw_lenient(run);
`+verilog("n = $ibw_", "; n = $ibw_tell(run, n)", "n = $ibw_beat(run, 0, %d, 512'h%s, 64'h%x, 1'b1, 1'b0); n = $ibw_tell(run, n);")+`  end
endmodule
`)
	s := icarus(t, []string{file})
	s.segmented()
}

func TestGHDLSegments(t *testing.T) {
	var b strings.Builder
	for _, e := range readied {
		fmt.Fprintf(&b, "    wait for 10 ns;\n    ibw_event(run, hca, %q);\n", strings.ReplaceAll(e, `"`, "'"))
	}
	body := strings.ReplaceAll(strings.ReplaceAll(b.String(), `'`, `""`), `\`, ``)
	frame := func(way string, psn uint32, in bool) string {
		text, n := sent(psn, in)
		return fmt.Sprintf("    wait for 10 ns;\n    ibw_tell(run, ibw_beat(run, 0, %s, x\"%s\", (%d downto 0 => '1'), 1), \"beat\");\n    wait for 10 ns;\n", way, text, n-1)
	}
	body += `    ibw_segment(run, x"1000", 8, x"9");
    ibw_segment(run, x"2000", 4, x"9");
    ibw_post_send(run, hca, 17, x"1", IBW_SEND, IBW_SIGNALED, x"3000", 4, x"9");
` + frame("IBW_OUT", 5, false) + `    ibw_segment(run, x"1000", 8, x"9");
    ibw_post_send(run, hca, 17, x"2", IBW_SEND, IBW_SIGNALED, x"3000", 12, x"9");
` + frame("IBW_OUT", 6, false) + `    ibw_segment(run, x"1000", 8, x"9");
    ibw_segment(run, x"1000", 8, x"9");
    ibw_post_recv(run, hca, 17, x"3", x"0", 0, x"0");
` + frame("IBW_IN", 9, true) + `    ibw_complete(run, hca, 17, x"3", 0, IBW_WC_RECV, 16);
`
	file := filepath.Join(t.TempDir(), "bench.vhd")
	write(t, file, `library ieee;
use ieee.std_logic_1164.all;
use work.ibwitness_pkg.all;

entity bench is
end entity;

architecture segments of bench is
begin
  process
    constant run : integer := ibw_open("", "ibw.json");
    constant hca : integer := ibw_hca(run, "dut");
  begin
    ibw_lenient(run);
`+body+`    ibw_finish(run);
    std.env.finish;
  end process;
end architecture;
`)
	s := analysed(t, "bench", file)
	s.segmented()
}
