// ibwitness over VPI, for Icarus, which has no bind: monitors at the ports of the device under test, and the verbs events of both devices.
module attach #(
    parameter int W = 64
);
  integer run, hca[0:1], n;

  initial begin
    run    = $ibw_open("run", "ibw.json");
    hca[0] = $ibw_hca(run, "a");
    hca[1] = $ibw_hca(run, "b");
  end

  task verbs(input int side, input string line);
    n = $ibw_event(run, hca[side], line);
    n = $ibw_tell(run, n);
  endtask

  ibwitness_axis_monitor #(.W(W), .TAP("a.rx"), .DIRECTION(1), .CONFIG("ibw.json")) ibw_rx (
      .aclk(bench.clk), .aresetn(bench.resetn), .tvalid(bench.a_rx_tvalid), .tready(bench.a_rx_tready), .tdata(bench.a_rx_tdata),
      .tkeep(bench.a_rx_tkeep), .tlast(bench.a_rx_tlast), .tuser(1'b0)
  );
  ibwitness_axis_monitor #(.W(W), .TAP("a.tx"), .DIRECTION(2), .CONFIG("ibw.json")) ibw_tx (
      .aclk(bench.clk), .aresetn(bench.resetn), .tvalid(bench.a_tx_tvalid), .tready(bench.a_tx_tready), .tdata(bench.a_tx_tdata),
      .tkeep(bench.a_tx_tkeep), .tlast(bench.a_tx_tlast), .tuser(bench.a_tx_tuser)
  );
endmodule
