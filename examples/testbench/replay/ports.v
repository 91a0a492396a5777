// The ports of a device, for a testbench that plays what it would do: nothing is behind them.
`timescale 1ns/1ps
module ports (
  input wire aclk, input wire aresetn,
  input wire [63:0] s_axis_tdata, input wire [7:0] s_axis_tkeep, input wire s_axis_tvalid, input wire s_axis_tlast,
  input wire [63:0] m_axis_tdata, input wire [7:0] m_axis_tkeep, input wire m_axis_tvalid, input wire m_axis_tlast
);
endmodule
