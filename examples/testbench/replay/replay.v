// replay.sv in Verilog: plays what frames/main.go has written at two AXI4-Stream ports that monitors watch.
//
//   +replay=FILE   what is played: replay.txt
//   +slow          a clock of 1 us, not of 2 ns
//   +idle=NS       how long nothing comes after it
//   +reset_at=NS   resets the device then
//   +fatal_at=NS   ends with $fatal at that time, +hang never ends
`timescale 1ns/1ps
module replay;
  parameter W = 512;
  parameter BIG_ENDIAN = 0;

  reg clk = 0, rst_n = 0;
  reg [W-1:0] tdata;
  reg [W/8-1:0] tkeep;
  reg [2:1] tvalid = 0;
  reg tlast = 0;
  reg [8*256-1:0] name;
  reg [8*4096-1:0] line;
  integer file, kind, n, at, ends, i, j, lane, b, run, hca, got, half, resets;

  initial half = $test$plusargs("slow") ? 500 : 1;
  always #(half) clk = ~clk;

  ibwitness_axis_monitor #(.W(W), .TAP("dut.rx"), .DIRECTION(1), .BIG_ENDIAN(BIG_ENDIAN), .CONFIG("ibw.json")) ibw_rx (
    .aclk(clk), .aresetn(rst_n), .tvalid(tvalid[1]), .tready(1'b1), .tdata(tdata), .tkeep(tkeep), .tlast(tlast), .tuser(1'b0));
  ibwitness_axis_monitor #(.W(W), .TAP("dut.tx"), .DIRECTION(2), .BIG_ENDIAN(BIG_ENDIAN), .CONFIG("ibw.json")) ibw_tx (
    .aclk(clk), .aresetn(rst_n), .tvalid(tvalid[2]), .tready(1'b1), .tdata(tdata), .tkeep(tkeep), .tlast(tlast), .tuser(1'b0));

  // What a waveform shows.
  always @(posedge clk) if (ibw_tx.violation)
    $display("violation at dut.tx: %0s, errors %0d, frames %0d", ibw_tx.rule_id, ibw_tx.errors, ibw_tx.frames);

  // What drives the ports changes between the edges that monitors look at.
  initial begin
    if (!$value$plusargs("replay=%s", name)) name = "replay.txt";
    file = $fopen(name, "r");
    if (file == 0) begin
      $display("%0s cannot be read", name);
      $finish;
    end
    run = $ibw_open("run", "ibw.json");
    hca = $ibw_hca(run, "dut");
    repeat (4) @(negedge clk);
    rst_n = 1;
    @(negedge clk);
    while ($fscanf(file, "%d %d", at, kind) == 2) begin
      while ($time < at + 20) @(negedge clk);
      if (kind == 0) begin
        got = $fgets(line, file);
        n = $ibw_event(run, hca, line);
        n = $ibw_tell(run, n);
      end else begin
        got = $fscanf(file, "%d", n);
        for (i = 0; i < n; i = i + W / 8) begin
          tdata = 0;
          tkeep = 0;
          for (j = 0; j < W / 8 && i + j < n; j = j + 1) begin
            lane = BIG_ENDIAN ? W / 8 - 1 - j : j;
            got = $fscanf(file, "%h", b);
            tdata[8*lane +: 8] = b;
            tkeep[lane] = 1;
          end
          tvalid[kind] = 1;
          tlast = i + W / 8 >= n;
          @(negedge clk);
        end
        tvalid = 0;
        tlast = 0;
      end
    end
    if (!$value$plusargs("idle=%d", at)) at = 0;
    at = at + $time + 8;
    while ($time < at) @(negedge clk);
    if (!$test$plusargs("hang")) $finish;
  end

  initial if ($value$plusargs("reset_at=%d", resets)) begin
    while ($time < resets) @(negedge clk);
    rst_n = 0;
    repeat (4) @(negedge clk);
    rst_n = 1;
  end

  initial if ($value$plusargs("fatal_at=%d", ends)) #(ends) $fatal(1, "as was wanted");
endmodule
