// ibwitness over VPI, for Icarus, with eight taps: monitors at the ports of both devices, in one run that is near both, "both", and in one for each device.
module attach #(
    parameter int W = 64
);
  integer run[0:2], hca[0:5], n, i;

  initial begin
    run[0] = $ibw_open("both", "both.json");
    run[1] = $ibw_open("a", "a.json");
    run[2] = $ibw_open("b", "b.json");
    for (i = 0; i < 3; i = i + 1) begin
      hca[2*i]   = $ibw_hca(run[i], "a");
      hca[2*i+1] = $ibw_hca(run[i], "b");
    end
  end

  task verbs(input int side, input string line);
    for (i = 0; i < 3; i = i + 1) begin
      n = $ibw_event(run[i], hca[2*i+side], line);
      n = $ibw_tell(run[i], n);
    end
  endtask

  ibwitness_axis_monitor #(.W(W), .RUN("both"), .TAP("a.rx"), .DIRECTION(1), .CONFIG("both.json")) both_a_rx (
      .aclk(bench.clk), .aresetn(bench.resetn), .tvalid(bench.a_rx_tvalid), .tready(bench.a_rx_tready), .tdata(bench.a_rx_tdata), .tkeep(bench.a_rx_tkeep),
      .tlast(bench.a_rx_tlast), .tuser(1'b0));
  ibwitness_axis_monitor #(.W(W), .RUN("both"), .TAP("a.tx"), .DIRECTION(2), .CONFIG("both.json")) both_a_tx (
      .aclk(bench.clk), .aresetn(bench.resetn), .tvalid(bench.a_tx_tvalid), .tready(bench.a_tx_tready), .tdata(bench.a_tx_tdata), .tkeep(bench.a_tx_tkeep),
      .tlast(bench.a_tx_tlast), .tuser(bench.a_tx_tuser));
  ibwitness_axis_monitor #(.W(W), .RUN("both"), .TAP("b.rx"), .DIRECTION(1), .CONFIG("both.json")) both_b_rx (
      .aclk(bench.clk), .aresetn(bench.resetn), .tvalid(bench.b_rx_tvalid), .tready(bench.b_rx_tready), .tdata(bench.b_rx_tdata), .tkeep(bench.b_rx_tkeep),
      .tlast(bench.b_rx_tlast), .tuser(1'b0));
  ibwitness_axis_monitor #(.W(W), .RUN("both"), .TAP("b.tx"), .DIRECTION(2), .CONFIG("both.json")) both_b_tx (
      .aclk(bench.clk), .aresetn(bench.resetn), .tvalid(bench.b_tx_tvalid), .tready(bench.b_tx_tready), .tdata(bench.b_tx_tdata), .tkeep(bench.b_tx_tkeep),
      .tlast(bench.b_tx_tlast), .tuser(bench.b_tx_tuser));
  ibwitness_axis_monitor #(.W(W), .RUN("a"), .TAP("a.rx"), .DIRECTION(1), .CONFIG("a.json")) a_rx (
      .aclk(bench.clk), .aresetn(bench.resetn), .tvalid(bench.a_rx_tvalid), .tready(bench.a_rx_tready), .tdata(bench.a_rx_tdata), .tkeep(bench.a_rx_tkeep),
      .tlast(bench.a_rx_tlast), .tuser(1'b0));
  ibwitness_axis_monitor #(.W(W), .RUN("a"), .TAP("a.tx"), .DIRECTION(2), .CONFIG("a.json")) a_tx (
      .aclk(bench.clk), .aresetn(bench.resetn), .tvalid(bench.a_tx_tvalid), .tready(bench.a_tx_tready), .tdata(bench.a_tx_tdata), .tkeep(bench.a_tx_tkeep),
      .tlast(bench.a_tx_tlast), .tuser(bench.a_tx_tuser));
  ibwitness_axis_monitor #(.W(W), .RUN("b"), .TAP("b.rx"), .DIRECTION(1), .CONFIG("b.json")) b_rx (
      .aclk(bench.clk), .aresetn(bench.resetn), .tvalid(bench.b_rx_tvalid), .tready(bench.b_rx_tready), .tdata(bench.b_rx_tdata), .tkeep(bench.b_rx_tkeep),
      .tlast(bench.b_rx_tlast), .tuser(1'b0));
  ibwitness_axis_monitor #(.W(W), .RUN("b"), .TAP("b.tx"), .DIRECTION(2), .CONFIG("b.json")) b_tx (
      .aclk(bench.clk), .aresetn(bench.resetn), .tvalid(bench.b_tx_tvalid), .tready(bench.b_tx_tready), .tdata(bench.b_tx_tdata), .tkeep(bench.b_tx_tkeep),
      .tlast(bench.b_tx_tlast), .tuser(bench.b_tx_tuser));
endmodule
