// Bytes to beats of an AXI4-Stream, the first into lane 0. A beat leaves when it is full, or with the last byte of its frame.
module bytes_to_axis #(
    parameter int W = 64
) (
    input  logic           clk,
    input  logic           resetn,
    input  logic           valid,
    output logic           ready,
    input  logic [    7:0] data,
    input  logic           last,
    output logic           tvalid,
    input  logic           tready,
    output logic [  W-1:0] tdata,
    output logic [W/8-1:0] tkeep,
    output logic           tlast
);
  localparam int LANES = W / 8;
  localparam int BITS = LANES > 1 ? $clog2(LANES) : 1;

  logic [BITS-1:0] lane;
  logic full;
  integer i;

  assign full  = lane == BITS'(LANES - 1);
  assign ready = !tvalid || tready;

  always_ff @(posedge clk)
    if (!resetn) begin
      tvalid <= 0;
      tkeep  <= 0;
      tlast  <= 0;
      lane   <= 0;
    end else if (ready) begin
      tvalid <= valid && (full || last);
      if (valid) begin
        for (i = 0; i < LANES; i = i + 1)
          if (lane == BITS'(i)) begin
            tdata[i*8+:8] <= data;
            tkeep[i]      <= 1;
          end else if (lane == 0) begin
            tdata[i*8+:8] <= 0;
            tkeep[i]      <= 0;
          end
        tlast <= last;
        lane  <= full || last ? 0 : lane + 1;
      end
    end
endmodule
