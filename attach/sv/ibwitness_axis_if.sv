// An AXI4-Stream port for ibwitness_uvm_pkg::ibwitness_monitor. Bind it to the port, as ibwitness_axis_monitor, or connect it.
interface ibwitness_axis_if #(
  parameter int W = 64
) (
  input logic aclk,
  input logic aresetn,
  input logic tvalid,
  input logic tready,
  input logic [W-1:0] tdata,
  input logic [W/8-1:0] tkeep,
  input logic tlast,
  input logic tuser // at any beat: its sender gives the frame up
);
  clocking cb @(posedge aclk);
    input aresetn, tvalid, tready, tdata, tkeep, tlast, tuser;
  endclocking
endinterface
