// A monitor of what one port of an InfiniBand link sends: packets between their delimiters, which are not among the data, each judged at its last beat. A link has two
// ports, thus two monitors of one tap, whose link is "link" in the configuration. It drives nothing but its own outputs, and can be bound:
//
//   bind my_hca ibwitness_link_monitor #(.W(32), .TAP("link"), .PORT(0), .CONFIG("ibw.json")) ibw_link_tx (
//     .clk(clk), .valid(tx_valid), .data(tx_data), .keep(tx_keep), .last(tx_last), .ebp(1'b0), .link_packet(tx_is_link), .state(3'd5),
//     .violation(), .rule_id(), .errors(), .packets());
//
// Plusargs: +ibwitness_config=FILE takes the place of CONFIG, +ibwitness_stop that of STOP.
module ibwitness_link_monitor
  import ibwitness_pkg::*;
#(
  parameter int W = 32,                     // bits of data, a multiple of 8, at most 512
  parameter string TAP = "link",            // its name in the configuration
  parameter int PORT = 0,                   // of the link: 0 or 1
  parameter string RUN = "",                // monitors of one run share it
  parameter string CONFIG = "",             // JSON, or the name of a file with it
  parameter int BIG_ENDIAN = 0,             // 1: the first byte of a packet is in data[W-1:W-8], not in data[7:0]
  parameter int STOP = 0,                   // 1: the first error ends the simulation
  parameter int ADVANCE_NS = 1_000_000      // how often the library is told the time where no packet comes
) (
  input logic clk,
  input logic valid,
  input logic [W-1:0] data,                 // from LRH through VCRC, or a link packet with its LPCRC
  input logic [W/8-1:0] keep,
  input logic last,
  input logic ebp,                          // at any beat: the packet ends with EBP
  input logic link_packet,                  // it is a link packet (SLP), and not a data packet (SDP)
  input logic [2:0] state,                  // PortPhysicalState, 5 where the link is up; 0: it is not known
  output logic violation,                   // for one cycle after a beat that has shown an error
  output logic [255:0] rule_id,             // its rule, as text
  output int unsigned errors,               // of this monitor
  output int unsigned packets
);

  string path;
  int run = 0;
  int tap = 0;
  int told; // errors at this edge
  string id; // the rule of the first
  logic [2:0] was = '0; // state

  function automatic void attach();
    path = $sformatf("%m");
    path = path.substr(0, path.len() - 8); // less the name of this function
    if (W > 512) $fatal(1, "%m: ibwitness: data has %0d bits, and may have 512", W);
    run = ibw_open(RUN, CONFIG, STOP != 0);
    tap = ibw_sv_tap(run, TAP);
    if (tap < 0) $fatal(1, "%m: %s", ibw_sv_message(run));
  endfunction

  function automatic int beat(input longint unsigned ps);
    bit [511:0] lanes = '0;
    bit [63:0] lane = '0;
    int flags = (BIG_ENDIAN != 0 ? IBW_BIG_ENDIAN : 0) | (ebp === 1'b1 ? IBW_BAD : 0) | (last === 1'b1 ? IBW_LAST : 0);
    if (BIG_ENDIAN != 0) begin
      lanes[512-W +: W] = data;
      lane[64-W/8 +: W/8] = keep;
    end else begin
      lanes[0 +: W] = data;
      lane[0 +: W/8] = keep;
    end
    return ibw_sv_symbols(run, tap, PORT, link_packet === 1'b1 ? IBW_LINK_PACKET : IBW_DATA_PACKET, ps, lanes, lane, flags);
  endfunction

  // Tells what a call has found, of which n is the result.
  function automatic void tell(input int n);
    string first;
    int more = ibw_tell(run, n, path, first);
    if (told == 0) id = first;
    told += more;
  endfunction

  initial begin
    violation = 0;
    rule_id = '0;
    errors = 0;
    packets = 0;
    if (run == 0) attach();
  end

  always @(posedge clk) begin : watch
    longint unsigned ps;
    told = 0;
    if (run == 0) attach();
    ps = ibw_now();
    if (ibw_sv_due(run, ps, 64'd1000 * 64'(ADVANCE_NS)) == 1) tell(ibw_sv_advance(run, ps));
    if (!$isunknown(state) && state != was) begin
      was = state;
      if (state != '0) tell(ibw_sv_port_state(run, tap, PORT, int'(state), ps));
    end
    if (valid === 1'b1) begin
      tell(beat(ps));
      if (last === 1'b1) packets <= packets + 1;
    end
    violation <= told > 0;
    if (told > 0) begin
      errors <= errors + told;
      for (int i = 0; i < 32; i++) rule_id[8*i +: 8] <= i < id.len() ? id[id.len()-1-i] : 8'd0;
    end
  end

  final if (run != 0) ibw_finish(run, path);

endmodule
