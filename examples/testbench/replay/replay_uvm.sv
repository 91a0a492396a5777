// replay.sv in UVM: plays a file at two AXI4-Stream ports, which monitors watch. +waive=RULE makes an error of a rule an information, as a test would.
package replay_uvm_pkg;
  import uvm_pkg::*;
  import ibwitness_pkg::*;
  import ibwitness_uvm_pkg::*;
  `include "uvm_macros.svh"

  class replay_test extends uvm_test;
    ibwitness_monitor #(512) rx, tx;
    ibwitness_subscriber ibwitness;
    static event played;

    `uvm_component_utils(replay_test)

    function new(string name, uvm_component parent);
      super.new(name, parent);
    endfunction

    virtual function void build_phase(uvm_phase phase);
      super.build_phase(phase);
      rx = ibwitness_monitor#(512)::type_id::create("rx", this);
      tx = ibwitness_monitor#(512)::type_id::create("tx", this);
      ibwitness = ibwitness_subscriber::type_id::create("ibwitness", this);
      uvm_config_db#(string)::set(this, "rx", "tap", "dut.rx");
      uvm_config_db#(int)::set(this, "rx", "way", IBW_IN);
      uvm_config_db#(string)::set(this, "tx", "tap", "dut.tx");
      uvm_config_db#(int)::set(this, "tx", "way", IBW_OUT);
      uvm_config_db#(string)::set(this, "ibwitness", "settings", "ibw.json");
    endfunction

    virtual function void connect_phase(uvm_phase phase);
      string id;
      super.connect_phase(phase);
      rx.ap.connect(ibwitness.analysis_export);
      tx.ap.connect(ibwitness.analysis_export);
      if ($value$plusargs("waive=%s", id)) ibwitness.set_report_severity_id_override(UVM_ERROR, id, UVM_INFO);
    endfunction

    virtual task run_phase(uvm_phase phase);
      phase.raise_objection(this);
      @played;
      phase.drop_objection(this);
    endtask
  endclass
endpackage

module replay;
  timeunit 1ns; timeprecision 1ps;
  import uvm_pkg::*;
  import replay_uvm_pkg::*;

  logic clk = 0, rst_n = 0;
  logic [511:0] tdata = '0;
  logic [63:0] tkeep = '0;
  logic tlast = 0;
  logic [2:1] tvalid = '0;

  always #1 clk = ~clk;

  ibwitness_axis_if #(512) rx (.aclk(clk), .aresetn(rst_n), .tvalid(tvalid[1]), .tready(1'b1), .tdata, .tkeep, .tlast, .tuser(1'b0));
  ibwitness_axis_if #(512) tx (.aclk(clk), .aresetn(rst_n), .tvalid(tvalid[2]), .tready(1'b1), .tdata, .tkeep, .tlast, .tuser(1'b0));

  initial begin
    int file, kind, n, b;
    longint at;
    file = $fopen("replay.txt", "r");
    if (file == 0) $fatal(1, "replay.txt cannot be read");
    repeat (4) @(negedge clk);
    rst_n = 1;
    @(negedge clk);
    while ($fscanf(file, "%d %d %d", at, kind, n) == 3) begin
      while ($time < at + 20) @(negedge clk);
      for (int i = 0; i < n; i += 64) begin
        tkeep = '0;
        for (int j = 0; j < 64 && i + j < n; j++) begin
          void'($fscanf(file, "%h", b));
          tdata[8*j +: 8] = b[7:0];
          tkeep[j] = 1;
        end
        tvalid[kind] = 1;
        tlast = i + 64 >= n;
        @(negedge clk);
      end
      tvalid = '0;
    end
    repeat (4) @(negedge clk);
    ->replay_test::played;
  end

  initial begin
    uvm_config_db#(virtual ibwitness_axis_if #(512))::set(null, "uvm_test_top.rx", "vif", rx);
    uvm_config_db#(virtual ibwitness_axis_if #(512))::set(null, "uvm_test_top.tx", "vif", tx);
    run_test("replay_test");
  end
endmodule
