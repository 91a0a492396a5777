// A monitor of what one port of an InfiniBand link sends, in plain Verilog over ibwitness.vpi: packets between their delimiters, which are not among the data, each judged
// at its last beat. A link has two ports, thus two monitors of one tap, whose link is "link" in the configuration. It drives nothing but its own outputs:
//
//   ibwitness_link_monitor #(.W(32), .TAP("link"), .PORT(0), .CONFIG("ibw.json")) ibw_link_tx (
//     .clk(clk), .valid(tx_valid), .data(tx_data), .keep(tx_keep), .last(tx_last), .ebp(1'b0), .link_packet(tx_is_link), .state(3'd5));
//
// Plusargs: +ibwitness_config=FILE takes the place of CONFIG, +ibwitness_stop that of STOP.
module ibwitness_link_monitor #(
  parameter W = 32,                // bits of data, a multiple of 8
  parameter TAP = "link",          // its name in the configuration
  parameter PORT = 0,              // of the link: 0 or 1
  parameter RUN = "run",           // monitors of one run share it
  parameter CONFIG = "",           // JSON, or the name of a file with it
  parameter BIG_ENDIAN = 0,        // 1: the first byte of a packet is in data[W-1:W-8], not in data[7:0]
  parameter STOP = 0,              // 1: the first error ends the simulation
  parameter ADVANCE_NS = 1000000   // how often the library is told the time where no packet comes
) (
  input wire clk,
  input wire valid,
  input wire [W-1:0] data,         // from LRH through VCRC, or a link packet with its LPCRC
  input wire [W/8-1:0] keep,
  input wire last,
  input wire ebp,                  // at any beat: the packet ends with EBP
  input wire link_packet,          // it is a link packet (SLP), and not a data packet (SDP)
  input wire [2:0] state,          // PortPhysicalState, 5 where the link is up; 0: it is not known
  output reg violation,            // for one cycle after a beat that has shown an error
  output reg [255:0] rule_id,      // its rule, as text
  output reg [31:0] errors,        // of this monitor
  output reg [31:0] packets
);

  integer run, tap, n, told, more;
  reg [255:0] id;
  reg [2:0] was;

  initial begin
    violation = 0;
    rule_id = 0;
    errors = 0;
    packets = 0;
    was = 0;
    run = $ibw_open(RUN, CONFIG, STOP);
    if (run == 0) $finish;
    tap = $ibw_tap(run, TAP);
    if (tap < 0) begin
      n = $ibw_tell(run, tap);
      $finish;
    end
  end

  always @(posedge clk) begin
    told = 0;
    if ($ibw_due(run, ADVANCE_NS) != 0) begin
      n = $ibw_advance(run);
      told = $ibw_tell(run, n, id);
    end
    if (^state !== 1'bx && state != was) begin
      was = state;
      if (state != 0) begin
        n = $ibw_port_state(run, tap, PORT, state);
        more = $ibw_tell(run, n, id);
        told = told + more;
      end
    end
    if (valid === 1'b1) begin
      n = $ibw_symbols(run, tap, PORT, link_packet === 1'b1, data, keep, last === 1'b1, ebp === 1'b1, BIG_ENDIAN);
      if (last === 1'b1) packets <= packets + 1;
      more = $ibw_tell(run, n, id);
      told = told + more;
    end
    violation <= told > 0;
    if (told > 0) begin
      errors <= errors + told;
      rule_id <= id;
    end
  end

endmodule
