// ibwitness over DPI-C: monitors bound to the ports of the device under test, and the verbs events of both devices.
module attach #(
    parameter int W = 64
);
  import ibwitness_pkg::*;

  int run, hca[0:1];

  initial begin
    run    = ibw_open("", "ibw.json");
    hca[0] = ibw_sv_hca(run, "a");
    hca[1] = ibw_sv_hca(run, "b");
  end

  task verbs(input int side, input string line);
    ibw_event(run, hca[side], line);
  endtask
endmodule

// A bind would name the device, and not the bench, but that Verilator 5.006 binds to all instances of a module: the peer is one too.
bind bench ibwitness_axis_monitor #(.W(W), .TAP("a.rx"), .DIRECTION(ibwitness_pkg::IBW_IN), .CONFIG("ibw.json")) ibw_rx (
    .aclk(clk), .aresetn(resetn), .tvalid(a_rx_tvalid), .tready(a_rx_tready), .tdata(a_rx_tdata), .tkeep(a_rx_tkeep), .tlast(a_rx_tlast), .tuser(1'b0),
    .violation(), .rule_id(), .errors(), .frames()
);
bind bench ibwitness_axis_monitor #(.W(W), .TAP("a.tx"), .DIRECTION(ibwitness_pkg::IBW_OUT), .CONFIG("ibw.json")) ibw_tx (
    .aclk(clk), .aresetn(resetn), .tvalid(a_tx_tvalid), .tready(a_tx_tready), .tdata(a_tx_tdata), .tkeep(a_tx_tkeep), .tlast(a_tx_tlast), .tuser(a_tx_tuser),
    .violation(), .rule_id(), .errors(), .frames()
);
