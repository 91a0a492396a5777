// A monitor of an AXI4-Stream port of a device under test: each frame is judged at its last beat, and what is wrong is told then. It drives nothing but its own
// outputs, and can be bound to the port:
//
//   bind my_nic ibwitness_axis_monitor #(.W(512), .TAP("dut.tx"), .DIRECTION(ibwitness_pkg::IBW_OUT), .CONFIG("ibw.json")) ibw_tx (
//     .aclk(clk), .aresetn(rst_n), .tvalid(tx_tvalid), .tready(tx_tready), .tdata(tx_tdata), .tkeep(tx_tkeep), .tlast(tx_tlast), .tuser(1'b0),
//     .violation(), .rule_id(), .errors(), .frames());
//
// Plusargs: +ibwitness_config=FILE takes the place of CONFIG, +ibwitness_stop that of STOP.
module ibwitness_axis_monitor
  import ibwitness_pkg::*;
#(
  parameter int W = 64,                     // bits of tdata, a multiple of 8
  parameter string TAP = "port",            // its name in the configuration
  parameter string RUN = "",                // monitors of one run share it
  parameter string CONFIG = "",             // JSON, or the name of a file with it
  parameter int DIRECTION = IBW_UNKNOWN,    // IBW_OUT: frames leave the device; IBW_IN: they reach it; IBW_UNKNOWN: it follows from "near" and their addresses
  parameter int BIG_ENDIAN = 0,             // 1: the first byte of a frame is in tdata[W-1:W-8], not in tdata[7:0]
  parameter int STOP = 0,                   // 1: the first error ends the simulation
  parameter int OUTSTANDING = 1,            // 0: requests and work requests that are not done at the end do not fail the run
  parameter int ADVANCE_NS = 1_000          // how often the library is told the time where no frame comes
) (
  input logic aclk,
  input logic aresetn,                      // of the device. A reset is told: its queue pairs begin anew
  input logic tvalid,
  input logic tready,
  input logic [W-1:0] tdata,
  input logic [W/8-1:0] tkeep,
  input logic tlast,
  input logic tuser,                        // at any beat: its sender gives the frame up
  output logic violation,                   // for one cycle after a beat that has shown an error
  output logic [255:0] rule_id,             // its rule, as text
  output int unsigned errors,               // of this monitor
  output int unsigned frames
);

  localparam int CHUNK = W <= 64 ? 64 : 512; // bits that a call takes
  localparam int CHUNKS = (W + CHUNK - 1) / CHUNK;
  localparam int PAD = CHUNKS * CHUNK - W;

  string path;
  int run = 0;
  int tap = 0;
  bit running = 0; // it has been out of reset
  int told; // errors at this edge
  string id; // the rule of the first

  function automatic void attach();
    path = $sformatf("%m");
    path = path.substr(0, path.len() - 8); // less the name of this function
    run = ibw_open(RUN, CONFIG, STOP != 0);
    tap = ibw_sv_tap(run, TAP);
    if (tap < 0) $fatal(1, "%m: %s", ibw_sv_message(run));
    if (OUTSTANDING == 0) ibw_sv_lenient(run);
  endfunction

  // One beat, in as many calls as its width needs.
  function automatic int beat(input longint unsigned ps, input bit last, input bit bad);
    logic [CHUNKS*CHUNK-1:0] lanes;
    logic [CHUNKS*CHUNK/8-1:0] keep;
    int n = 0;
    lanes = '0;
    keep = '0;
    if (BIG_ENDIAN != 0) begin
      lanes[PAD +: W] = tdata;
      keep[PAD/8 +: W/8] = tkeep;
    end else begin
      lanes[0 +: W] = tdata;
      keep[0 +: W/8] = tkeep;
    end
    for (int i = 0; i < CHUNKS && n >= 0; i++) begin
      int at, flags;
      at = BIG_ENDIAN != 0 ? CHUNKS - 1 - i : i;
      flags = (BIG_ENDIAN != 0 ? IBW_BIG_ENDIAN : 0) | (bad ? IBW_BAD : 0) | (last && i == CHUNKS - 1 ? IBW_LAST : 0);
      if (CHUNK == 64) n = ibw_sv_beat8(run, tap, DIRECTION, ps, lanes[at*CHUNK +: 64], keep[at*CHUNK/8 +: 8], flags);
      else n = ibw_sv_beat64(run, tap, DIRECTION, ps, 512'(lanes[at*CHUNK +: CHUNK]), 64'(keep[at*CHUNK/8 +: CHUNK/8]), flags);
    end
    return n;
  endfunction

  // Tells what a call has found, of which n is the result.
  function automatic void tell(input int n);
    string first;
    int more = ibw_tell(run, n, path, first);
    if (told == 0) id = first;
    told += more;
  endfunction

  // Bits that are neither 0 nor 1, where they count.
  function automatic bit unknown();
    bit x = $isunknown(tkeep) || $isunknown(tlast) || $isunknown(tuser);
    for (int i = 0; i < W / 8; i++) x |= tkeep[i] === 1'b1 && $isunknown(tdata[8*i +: 8]);
    return x;
  endfunction

  initial begin
    violation = 0;
    rule_id = '0;
    errors = 0;
    frames = 0;
    if (run == 0) attach();
  end

  always @(posedge aclk) begin : watch
    int n;
    longint unsigned ps;
    told = 0;
    if (run == 0) attach();
    ps = ibw_now();
    if (ibw_sv_due(run, ps, 64'd1000 * 64'(ADVANCE_NS)) == 1) tell(ibw_sv_advance(run, ps));
    if (aresetn !== 1'b1) begin
      if (running) tell(ibw_sv_reset(run, tap, ps));
      running = 0;
    end else begin
      running = 1;
      if (tvalid === 1'b1 && tready === 1'b1) begin
        if (unknown()) $warning("%m: ibwitness: a beat has bits that are neither 0 nor 1, which are taken for 0");
        n = beat(ps, tlast === 1'b1, tuser === 1'b1);
        if (tlast === 1'b1) frames <= frames + 1;
        if (tlast === 1'b1 || n != 0) tell(n);
      end
    end
    violation <= told > 0;
    if (told > 0) begin
      errors <= errors + told;
      for (int i = 0; i < 32; i++) rule_id[8*i +: 8] <= i < id.len() ? id[id.len()-1-i] : 8'd0;
    end
  end

  final if (run != 0) ibw_finish(run, path);

endmodule
