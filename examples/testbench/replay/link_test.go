package replay

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ibwitness/attach"
	"ibwitness/link"
	"ibwitness/packet"
	"ibwitness/rule"
)

const linked = `{"taps": [{"name": "link", "link": "link"}], "reports": {"json": "report.json", "junit": "report.xml"}}`

// symbols are the beats of both ports of a link, four bytes wide: port 1 offers credits for less than what port 0 sends, one packet of port 0 ends with EBP, one is cut by a
// link packet, and in the end port 0 tells fewer blocks than it has sent. Each line has port, link packet, last and EBP as the bits of a digit, keep, and the lanes, the first to the right. told is what package attach finds, where
// the first beat passes at 15 ns, and each of the others 10 ns later; packets are what port 0 sent whole.
func symbols(t *testing.T) (beats string, rows int, told []string, packets int) {
	t.Helper()
	run, err := attach.Open([]byte(strings.Replace(linked, `, "reports": {"json": "report.json", "junit": "report.xml"}`, "", 1)))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	at := uint64(5000)
	judge := func(port, kind uint8, ebp bool, data []byte) {
		if _, err := run.Link(0, port, kind, ebp, at, data); err != nil {
			t.Fatal(err)
		}
		for f, ok := run.Next(); ok; f, ok = run.Next() {
			if f.Class == rule.Violation {
				told = append(told, fmt.Sprintf("%d %s", f.SeenPS, f.Text))
			}
		}
	}
	pass := func(port, kind uint8, ebp, whole bool, data []byte) {
		for i := 0; i < len(data); i += 4 {
			part := data[i:min(i+4, len(data))]
			last := whole && i+4 >= len(data)
			word := uint32(0)
			for j, b := range part {
				word |= uint32(b) << (8 * j)
			}
			flags := port<<3 | kind<<2 | packet.Bit(last)<<1 | packet.Bit(ebp && last)
			fmt.Fprintf(&text, "%x%x%08x\n", flags, 1<<len(part)-1, word)
			rows++
			at += 10000
		}
		if whole {
			judge(port, kind, ebp, data)
			packets += int(1 - port)
		}
	}
	judge(0, 2, false, []byte{link.LinkUp})
	judge(1, 2, false, []byte{link.LinkUp})
	for port := range uint8(2) {
		for _, op := range []link.Op{link.Init, link.Normal} {
			fc := link.FlowControl{Op: op, FCCL: 10}
			pass(port, uint8(link.Packet), false, true, fc.Append(nil))
		}
	}
	for i := range 12 {
		p := packet.Packet{
			Encap: packet.Native, Opcode: packet.Op(packet.RC, packet.SendOnly), PKey: 0xFFFF, DestQP: 5, PSN: packet.PSN(i), Src: packet.LIDAddr(1), Dst: packet.LIDAddr(2),
			Payload: make([]byte, 64),
		}
		if i == 11 {
			p.Opcode, p.SE, p.Payload = packet.Op(packet.RC, packet.SendFirst), true, make([]byte, 256)
		}
		p.PayloadLen = len(p.Payload)
		p.Complete()
		data := p.Append(nil)
		switch i {
		case 1:
			data[40]++
			pass(0, uint8(link.Data), true, true, data)
		case 2:
			pass(0, uint8(link.Data), false, false, data)
			fc := link.FlowControl{FCTBS: uint16(2 * link.Blocks(len(data))), FCCL: 10}
			pass(0, uint8(link.Packet), false, true, fc.Append(nil))
		default:
			pass(0, uint8(link.Data), false, true, data)
		}
	}
	fc := link.FlowControl{FCTBS: 1, FCCL: 10}
	pass(0, uint8(link.Packet), false, true, fc.Append(nil))
	if len(told) != 3 || !strings.Contains(told[0], " LNK-FCP-007 ") || !strings.Contains(told[1], " BTH-012 ") || !strings.Contains(told[2], " LNK-FCP-004 ") {
		t.Fatalf("%q is what package attach finds", told)
	}
	return text.String(), rows, told, packets
}

// links runs a testbench that plays them, which must tell the same at the same times.
func (s *simulation) links() {
	s.t.Helper()
	beats, _, told, packets := symbols(s.t)
	write(s.t, filepath.Join(s.dir, "link.txt"), beats)
	write(s.t, filepath.Join(s.dir, "ibw.json"), linked)
	out, status := s.run()
	var got []string
	for _, m := range s.error.FindAllStringSubmatch(out, -1) {
		if s.ns {
			m[1] += "000"
		}
		got = append(got, m[1]+" "+m[2])
	}
	if !slices.Equal(got, told) || status != 1 {
		s.t.Errorf("exit status %d, %q were told, and %q should have been:\n%s", status, got, told, out)
	}
	if got := s.reported(); len(got) != len(told) {
		s.t.Errorf("the report has %q", got)
	}
	if want := fmt.Sprintf("port 0: BTH-012, errors 1, packets %d\n", packets); !strings.Contains(out, want) {
		s.t.Errorf("it should say %q:\n%s", want, out)
	}
}

const linkBench = `module bench;
  logic clk = 0, valid = 0, port = 0, last = 0, ebp = 0, link_packet = 0;
  logic [31:0] data = 0;
  logic [3:0] keep = 0;
  logic [39:0] beats [0:%[1]d-1];
  integer i;
  always #5 clk = ~clk;
  ibwitness_link_monitor #(.PORT(0), .CONFIG("ibw.json")) a (.clk(clk), .valid(valid && !port), .data(data), .keep(keep), .last(last), .ebp(ebp), .link_packet(link_packet),
    .state(3'd5)%[2]s);
  ibwitness_link_monitor #(.PORT(1), .CONFIG("ibw.json")) b (.clk(clk), .valid(valid && port), .data(data), .keep(keep), .last(last), .ebp(ebp), .link_packet(link_packet),
    .state(3'd5)%[2]s);
  initial begin
    $readmemh("link.txt", beats);
    for (i = 0; i < %[1]d; i = i + 1) begin
      @(negedge clk);
      {port, link_packet, last, ebp, keep, data} = beats[i];
      valid = 1;
    end
    @(negedge clk);
    valid = 0;
    @(negedge clk);
    $display("port 0: %%0s, errors %%0d, packets %%0d", a.rule_id, a.errors, a.packets);
    $finish;
  end
endmodule
`

func TestVerilatorLink(t *testing.T) {
	if testing.Short() {
		t.Skip("compiling takes long")
	}
	dir := built(t, "verilator", "g++")
	s := &simulation{t: t, dir: t.TempDir(), plus: "+", error: regexp.MustCompile(`\[(\d+)\] %\w+: .*?: ibwitness: ((?:violation|warning) .*)`)}
	_, rows, _, _ := symbols(t)
	write(t, filepath.Join(s.dir, "bench.sv"), fmt.Sprintf(linkBench, rows, ", .violation(), .rule_id(), .errors(), .packets()"))
	compile(t, s.dir, "verilator", "--binary", "--timing", "--timescale", "1ns/1ps", "--top", "bench", "-Mdir", "obj", "-MAKEFLAGS", "OPT_FAST=-O0", "-LDFLAGS",
		"-L"+dir+" -libwitness", path(t, "attach/sv/ibwitness_pkg.sv"), path(t, "attach/sv/ibwitness_link_monitor.sv"), "bench.sv")
	s.command = []string{filepath.Join(s.dir, "obj", "Vbench")}
	s.links()
}

func TestIcarusLink(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bench.sv")
	_, rows, _, _ := symbols(t)
	write(t, file, "`timescale 1ns/1ps\n"+fmt.Sprintf(linkBench, rows, ""))
	s := icarus(t, []string{path(t, "attach/verilog/ibwitness_link_monitor.v"), file})
	s.error = regexp.MustCompile(`\[(\d+) ps\] \w+: .*?: ibwitness: ((?:violation|warning) .*)`)
	s.links()
}

func TestGHDLLink(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bench.vhd")
	write(t, file, `library ieee;
use ieee.std_logic_1164.all;
use std.textio.all;
use work.ibwitness_pkg.all;

entity bench is
end entity;

architecture link of bench is
  signal clk, last, ebp, link_packet : std_logic := '0';
  signal valid : std_logic_vector(0 to 1) := "00";
  signal data : std_logic_vector(31 downto 0);
  signal keep : std_logic_vector(3 downto 0);
  signal rule_id : string(1 to 32);
  signal errors, packets : natural;
begin
  clk <= not clk after 5 ns;
  a : entity work.ibwitness_link_monitor generic map (PORT_NUMBER => 0, CONFIG => "ibw.json")
    port map (clk => clk, valid => valid(0), data => data, keep => keep, last => last, ebp => ebp, link_packet => link_packet, state => "101", rule_id => rule_id, errors => errors,
      packets => packets);
  b : entity work.ibwitness_link_monitor generic map (PORT_NUMBER => 1, CONFIG => "ibw.json")
    port map (clk => clk, valid => valid(1), data => data, keep => keep, last => last, ebp => ebp, link_packet => link_packet, state => "101");
  process
    file played : text open read_mode is "link.txt";
    variable l : line;
    variable beat : std_logic_vector(39 downto 0);
  begin
    while not endfile(played) loop
      wait until falling_edge(clk);
      readline(played, l);
      hread(l, beat);
      valid <= not beat(39) & beat(39);
      (link_packet, last, ebp) <= beat(38 downto 36);
      keep <= beat(35 downto 32);
      data <= beat(31 downto 0);
    end loop;
    wait until falling_edge(clk);
    valid <= "00";
    wait until falling_edge(clk);
    report "port 0: " & rule_id(1 to 7) & ", errors " & integer'image(errors) & ", packets " & integer'image(packets);
    ibw_finish(ibw_open("run", ""));
    std.env.finish;
  end process;
end architecture;
`)
	s := analysed(t, "bench", path(t, "attach/vhdl/ibwitness_link_monitor.vhd"), file)
	s.error = regexp.MustCompile(`:@(\d+)ns:\(report \w+\): .*?: ibwitness: ((?:violation|warning) .*)`)
	s.links()
}
