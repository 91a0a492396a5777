// A monitor of an AXI4-Stream port of a device under test, in plain Verilog over ibwitness.vpi: each frame is judged at its last beat, and what is wrong is told then. It
// drives nothing but its own outputs. Instantiate it beside the device:
//
//   ibwitness_axis_monitor #(.W(64), .TAP("dut.tx"), .DIRECTION(2), .CONFIG("ibw.json")) ibw_tx (
//     .aclk(clk), .aresetn(rst_n), .tvalid(tx_tvalid), .tready(tx_tready), .tdata(tx_tdata), .tkeep(tx_tkeep), .tlast(tx_tlast), .tuser(1'b0));
//
// Plusargs: +ibwitness_config=FILE takes the place of CONFIG, +ibwitness_stop that of STOP.
module ibwitness_axis_monitor #(
  parameter W = 64,                // bits of tdata, a multiple of 8
  parameter TAP = "port",          // its name in the configuration
  parameter RUN = "run",           // monitors of one run share it
  parameter CONFIG = "",           // JSON, or the name of a file with it
  parameter DIRECTION = 0,         // 2: frames leave the device; 1: they reach it; 0: it follows from "near" and their addresses
  parameter BIG_ENDIAN = 0,        // 1: the first byte of a frame is in tdata[W-1:W-8], not in tdata[7:0]
  parameter STOP = 0,              // 1: the first error ends the simulation
  parameter OUTSTANDING = 1,       // 0: requests and work requests that are not done at the end do not fail the run
  parameter ADVANCE_NS = 1000      // how often the library is told the time where no frame comes
) (
  input wire aclk,
  input wire aresetn,              // of the device. A reset is told: its queue pairs begin anew
  input wire tvalid,
  input wire tready,
  input wire [W-1:0] tdata,
  input wire [W/8-1:0] tkeep,
  input wire tlast,
  input wire tuser,                // at any beat: its sender gives the frame up
  output reg violation,            // for one cycle after a beat that has shown an error
  output reg [255:0] rule_id,      // its rule, as text
  output reg [31:0] errors,        // of this monitor
  output reg [31:0] frames
);

  integer run, tap, n, told, more;
  reg running; // it has been out of reset
  reg [255:0] id;

  initial begin
    violation = 0;
    rule_id = 0;
    errors = 0;
    frames = 0;
    running = 0;
    run = $ibw_open(RUN, CONFIG, STOP);
    if (run == 0) $finish;
    tap = $ibw_tap(run, TAP);
    if (tap < 0) begin
      n = $ibw_tell(run, tap);
      $finish;
    end
    if (OUTSTANDING == 0) n = $ibw_lenient(run);
  end

  always @(posedge aclk) begin
    told = 0;
    if ($ibw_due(run, ADVANCE_NS) != 0) begin
      n = $ibw_advance(run);
      told = $ibw_tell(run, n, id);
    end
    if (aresetn !== 1'b1) begin
      if (running) begin
        n = $ibw_reset(run, tap);
        more = $ibw_tell(run, n, id);
        told = told + more;
      end
      running = 0;
    end else begin
      running = 1;
      if (tvalid === 1'b1 && tready === 1'b1) begin
        n = $ibw_beat(run, tap, DIRECTION, tdata, tkeep, tlast === 1'b1, tuser === 1'b1, BIG_ENDIAN);
        if (tlast === 1'b1) frames <= frames + 1;
        if (tlast === 1'b1 || n != 0) begin
          more = $ibw_tell(run, n, id);
          told = told + more;
        end
      end
    end
    violation <= told > 0;
    if (told > 0) begin
      errors <= errors + told;
      rule_id <= id;
    end
  end

endmodule
