package replay

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ibwitness/packet"
)

// A step is what a testbench without a device does, 10 ns after the one before it, in SystemVerilog and Verilog, or in VHDL: verbs events and frames.
type step struct {
	call string // event, segment, post_send, post_recv or complete; beat
	args []arg
}

// arg is an argument in Verilog and in VHDL, where a number that may have 32 bits is a vector.
type arg struct{ verilog, vhdl string }

func number(x uint64) arg {
	return arg{fmt.Sprint(x), fmt.Sprint(x)}
}

func vector(x uint64) arg {
	text := fmt.Sprint(x)
	if x >= 1<<31 {
		text = fmt.Sprintf("32'h%x", x)
	}
	return arg{text, fmt.Sprintf(`x"%08x"`, x)}
}

func named(constant string) arg { return arg{constant, constant} }

func yes(set bool) arg {
	if set {
		return arg{"1", "true"}
	}
	return arg{"0", "false"}
}

func event(json string) step {
	return step{"event", []arg{{fmt.Sprintf("%q", json), `"` + strings.ReplaceAll(json, `"`, `""`) + `"`}}}
}

func segment(addr, length, lkey uint64) step {
	return step{"segment", []arg{vector(addr), number(length), vector(lkey)}}
}

// send posts a work request with one segment; more are the arguments after its L_Key.
func send(qpn, id uint64, operation string, addr, length, lkey uint64, more ...arg) step {
	return step{"post_send", append([]arg{number(qpn), vector(id), named(operation), named("IBW_SIGNALED"), vector(addr), number(length), vector(lkey)}, more...)}
}

func receive(qpn, id, addr, length, lkey uint64) step {
	return step{"post_recv", []arg{number(qpn), vector(id), vector(addr), number(length), vector(lkey)}}
}

func completed(qpn, id uint64, operation string, length uint64, more ...arg) step {
	return step{"complete", append([]arg{number(qpn), vector(id), number(0), named(operation), number(length)}, more...)}
}

// frame is a packet on InfiniBand that leaves the device or reaches it, in one beat of 64 lanes at most.
func frame(p *packet.Packet) step {
	p.Encap, p.PKey, p.AckReq = packet.Native, 0xFFFF, p.Opcode.Service() != packet.UD
	p.PayloadLen = len(p.Payload)
	p.Complete()
	data := p.Append(nil)
	var text strings.Builder // from the highest byte on, as a number is written
	for i := range data {
		fmt.Fprintf(&text, "%02x", data[len(data)-1-i])
	}
	way := "1"
	if p.Src == device {
		way = "2"
	}
	return step{"beat", []arg{
		named(way), {"512'h" + text.String(), `x"` + text.String() + `"`}, {fmt.Sprintf("64'h%x", uint64(1)<<len(data)-1), fmt.Sprintf("(%d downto 0 => '1')", len(data)-1)},
	}}
}

var device, peer = packet.LIDAddr(1), packet.LIDAddr(2)

// verilog are steps in SystemVerilog or Verilog: the functions have the prefix call, and do what else then says; beat is the call for a frame.
func verilog(steps []step, call, then, beat string) string {
	var b strings.Builder
	for _, s := range steps {
		var args []any
		list := "run"
		if s.call != "segment" {
			list += ", hca"
		}
		for _, a := range s.args {
			args = append(args, a.verilog)
			list += ", " + a.verilog
		}
		if s.call == "beat" {
			fmt.Fprintf(&b, "    #10 "+beat+"\n", args...)
		} else {
			fmt.Fprintf(&b, "    #10 %s%s(%s)%s;\n", call, s.call, list, then)
		}
	}
	return b.String()
}

func vhdl(steps []step) string {
	var b strings.Builder
	for _, s := range steps {
		list := "run"
		if s.call != "segment" {
			list += ", hca"
		}
		for _, a := range s.args {
			list += ", " + a.vhdl
		}
		b.WriteString("    wait for 10 ns;\n")
		if s.call == "beat" {
			fmt.Fprintf(&b, "    ibw_tell(run, ibw_beat(run, 0, %s, %s, %s, 1), \"beat\");\n", s.args[0].vhdl, s.args[1].vhdl, s.args[2].vhdl)
		} else {
			fmt.Fprintf(&b, "    ibw_%s(%s);\n", s.call, list)
		}
	}
	return b.String()
}

const benchConfig = `{"taps": [{"name": "hca", "link": "infiniband", "near": "lid:1"}], "hcas": [{"name": "dut", "gid": "lid:1"}], "reports": {"json": "report.json", "junit": "report.xml"}}`

// benches are the simulators that steps run in.
var benches = map[string]func(t *testing.T, steps []step) *simulation{"Verilator": inVerilator, "Icarus": inIcarus, "GHDL": inGHDL}

var findings = regexp.MustCompile(`ibwitness: ((?:violation|warning) .*)`)

// tells runs steps in each simulator: these findings, violations among them, and no other must be told.
func tells(t *testing.T, steps []step, want ...string) {
	t.Helper()
	for name, bench := range benches {
		t.Run(name, func(t *testing.T) {
			s := bench(t, steps)
			write(t, filepath.Join(s.dir, "ibw.json"), benchConfig)
			out, status := s.run()
			var told []string
			for _, m := range findings.FindAllStringSubmatch(out, -1) {
				told = append(told, m[1])
			}
			if status != 1 || !slices.Equal(told, want) {
				t.Errorf("exit status %d, it tells\n%s\nand not\n%s\n%s", status, strings.Join(told, "\n"), strings.Join(want, "\n"), out)
			}
		})
	}
}

func inVerilator(t *testing.T, steps []step) *simulation {
	t.Helper()
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
`+verilog(steps, "ibw_", "", "void'(ibw_tell(run, ibw_sv_beat64(run, 0, %s, ibw_now(), %s, %s, IBW_LAST), \"beat\", id));")+`    #10 $finish;
  end
  final ibw_finish(run, "final");
endmodule
`)
	compile(t, s.dir, "verilator", "--binary", "--timing", "--timescale", "1ns/1ps", "--top", "bench", "-Mdir", "obj", "-MAKEFLAGS", "OPT_FAST=-O0", "-LDFLAGS",
		"-L"+dir+" -libwitness", path(t, "attach/sv/ibwitness_pkg.sv"), "bench.sv")
	s.command = []string{filepath.Join(s.dir, "obj", "Vbench")}
	return s
}

func inIcarus(t *testing.T, steps []step) *simulation {
	t.Helper()
	file := filepath.Join(t.TempDir(), "bench.sv")
	write(t, file, "`timescale 1ns/1ps\n"+`module bench;
  localparam IBW_SEND = 2, IBW_SEND_WITH_INV = 9, IBW_SIGNALED = 2, IBW_WC_RECV = 128;
  integer run, hca, n;
  initial begin
    run = $ibw_open("", "ibw.json");
    hca = $ibw_hca(run, "dut");
    n = $ibw_lenient(run);
`+verilog(steps, "n = $ibw_", "; n = $ibw_tell(run, n)", "n = $ibw_beat(run, 0, %s, %s, %s, 1'b1, 1'b0); n = $ibw_tell(run, n);")+`  end
endmodule
`)
	return icarus(t, []string{file})
}

func inGHDL(t *testing.T, steps []step) *simulation {
	t.Helper()
	file := filepath.Join(t.TempDir(), "bench.vhd")
	write(t, file, `library ieee;
use ieee.std_logic_1164.all;
use work.ibwitness_pkg.all;

entity bench is
end entity;

architecture steps of bench is
begin
  process
    constant run : integer := ibw_open("", "ibw.json");
    constant hca : integer := ibw_hca(run, "dut");
  begin
    ibw_lenient(run);
`+vhdl(steps)+`    wait for 10 ns;
    ibw_finish(run);
    std.env.finish;
  end process;
end architecture;
`)
	return analysed(t, "bench", file)
}
