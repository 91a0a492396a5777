// Beats of an AXI4-Stream to bytes, lane 0 first. tkeep is contiguous from lane 0 on, and full in all beats but the last of a frame.
module axis_to_bytes #(
    parameter int W = 64
) (
    input  logic           clk,
    input  logic           resetn,
    input  logic           tvalid,
    output logic           tready,
    input  logic [  W-1:0] tdata,
    input  logic [W/8-1:0] tkeep,
    input  logic           tlast,
    input  logic           tuser,   // with tlast: the frame is damaged
    output logic           valid,
    input  logic           ready,
    output logic [    7:0] data,
    output logic           last,
    output logic           bad
);
  logic [  W-1:0] lanes;
  logic [W/8-1:0] keep, rest;
  logic busy, ends, damaged, empties;

  assign rest    = keep >> 1;
  assign valid   = busy;
  assign data    = lanes[7:0];
  assign last    = ends && rest == 0;
  assign bad     = damaged;
  assign empties = busy && ready && rest == 0;
  assign tready  = !busy || empties;

  always_ff @(posedge clk)
    if (!resetn) busy <= 0;
    else if (tready) begin
      busy    <= tvalid && tkeep != 0;
      lanes   <= tdata;
      keep    <= tkeep;
      ends    <= tlast;
      damaged <= tuser && tlast;
    end else if (ready) begin
      lanes <= lanes >> 8;
      keep  <= rest;
    end
endmodule
