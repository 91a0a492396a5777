// A testbench that plays what frames/main.go has written: what would be a device here is two AXI4-Stream ports that nothing drives but the file. The monitors are
// bound to them below, as they would be to those of a device.
//
//   +replay=FILE   what is played: replay.txt
//   +slow          a clock of 1 us, not of 2 ns
//   +idle=NS       how long nothing comes after it
//   +reset_at=NS   resets the device then
//   +fatal_at=NS   ends with $fatal at that time, +hang never ends
module ports #(
  parameter int W = 512,
  parameter int BIG_ENDIAN = 0
) (
  input logic clk, input logic rst_n,
  input logic [W-1:0] rx_tdata, input logic [W/8-1:0] rx_tkeep, input logic rx_tvalid, input logic rx_tlast,
  input logic [W-1:0] tx_tdata, input logic [W/8-1:0] tx_tkeep, input logic tx_tvalid, input logic tx_tlast
);
endmodule

module replay #(
  parameter int W = 512,
  parameter int BIG_ENDIAN = 0
);
  timeunit 1ns; timeprecision 1ps;
  import ibwitness_pkg::*;

  logic clk = 0, rst_n = 0;
  logic [W-1:0] tdata [1:2];
  logic [W/8-1:0] tkeep [1:2];
  logic [2:1] tvalid = '0, tlast = '0;
  int run, hca;

  bit slow = $test$plusargs("slow") != 0;
  always begin
    if (slow) #500;
    else #1;
    clk = ~clk;
  end

  ports #(.W(W), .BIG_ENDIAN(BIG_ENDIAN)) dut (
    .clk, .rst_n, .rx_tdata(tdata[1]), .rx_tkeep(tkeep[1]), .rx_tvalid(tvalid[1]), .rx_tlast(tlast[1]),
    .tx_tdata(tdata[2]), .tx_tkeep(tkeep[2]), .tx_tvalid(tvalid[2]), .tx_tlast(tlast[2]));

  // What a waveform shows.
  always @(posedge clk) if (dut.ibw_tx.violation)
    $display("violation at dut.tx: %0s, errors %0d, frames %0d", dut.ibw_tx.rule_id, dut.ibw_tx.errors, dut.ibw_tx.frames);

  // send plays a frame of n bytes at port p, which follow in the file. What drives the ports changes between the edges that monitors look at.
  task automatic send(input int file, input int p, input int n);
    int got, b;
    for (int at = 0; at < n; at += W / 8) begin
      logic [W-1:0] data = '0;
      logic [W/8-1:0] keep = '0;
      for (int i = 0; i < W / 8 && at + i < n; i++) begin
        int lane = BIG_ENDIAN != 0 ? W / 8 - 1 - i : i;
        got = $fscanf(file, "%h", b);
        data[8*lane +: 8] = b[7:0];
        keep[lane] = 1;
      end
      tdata[p] = data;
      tkeep[p] = keep;
      tvalid[p] = 1;
      tlast[p] = at + W / 8 >= n;
      @(negedge clk);
    end
    tvalid[p] = 0;
    tlast[p] = 0;
  endtask

  initial begin
    string name, line;
    int file, kind, n;
    longint at;
    if (!$value$plusargs("replay=%s", name)) name = "replay.txt";
    file = $fopen(name, "r");
    if (file == 0) $fatal(1, "%s cannot be read", name);
    run = ibw_open();
    hca = ibw_sv_hca(run, "dut");
    repeat (4) @(negedge clk);
    rst_n = 1;
    @(negedge clk);
    while ($fscanf(file, "%d %d", at, kind) == 2) begin
      while ($time < at + 20) @(negedge clk);
      if (kind == 0) begin
        n = $fgets(line, file);
        ibw_event(run, hca, line);
      end else begin
        void'($fscanf(file, "%d", n));
        send(file, kind, n);
      end
    end
    if (!$value$plusargs("idle=%d", at)) at = 0;
    at += $time + 8;
    while ($time < at) @(negedge clk);
    if ($test$plusargs("hang") == 0) $finish;
  end

  initial begin
    longint at;
    if ($value$plusargs("reset_at=%d", at)) begin
      while ($time < at) @(negedge clk);
      rst_n = 0;
      repeat (4) @(negedge clk);
      rst_n = 1;
    end
  end

  initial begin
    longint at;
    if ($value$plusargs("fatal_at=%d", at)) begin
      while ($time < at) @(posedge clk);
      $fatal(1, "as was wanted");
    end
  end
endmodule

bind ports ibwitness_axis_monitor #(.W(W), .TAP("dut.rx"), .DIRECTION(ibwitness_pkg::IBW_IN), .BIG_ENDIAN(BIG_ENDIAN)) ibw_rx (
  .aclk(clk), .aresetn(rst_n), .tvalid(rx_tvalid), .tready(1'b1), .tdata(rx_tdata), .tkeep(rx_tkeep), .tlast(rx_tlast), .tuser(1'b0),
  .violation(), .rule_id(), .errors(), .frames());
bind ports ibwitness_axis_monitor #(.W(W), .TAP("dut.tx"), .DIRECTION(ibwitness_pkg::IBW_OUT), .BIG_ENDIAN(BIG_ENDIAN)) ibw_tx (
  .aclk(clk), .aresetn(rst_n), .tvalid(tx_tvalid), .tready(1'b1), .tdata(tx_tdata), .tkeep(tx_tkeep), .tlast(tx_tlast), .tuser(1'b0),
  .violation(), .rule_id(), .errors(), .frames());
