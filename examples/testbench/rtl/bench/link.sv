// One direction of a link: takes whole frames, loses those that it is told to, and gives each out DELAY cycles after it was whole. It has
// room for all that the bench lets be in flight, and never makes the sender wait, so that two devices do not block each other.
module link #(
    parameter int W = 64,
    parameter int BEATS = 16384,
    parameter int DELAY = 50
) (
    input  logic           clk,
    input  logic           resetn,
    input  logic           in_tvalid,
    output logic           in_tready,
    input  logic [  W-1:0] in_tdata,
    input  logic [W/8-1:0] in_tkeep,
    input  logic           in_tlast,
    output logic           out_tvalid,
    input  logic           out_tready,
    output logic [  W-1:0] out_tdata,
    output logic [W/8-1:0] out_tkeep,
    output logic           out_tlast,
    output logic [   31:0] frames,      // that have come so far
    input  logic [   31:0] drop_at,     // the first that is lost, counted as frames is
    input  logic [   31:0] drop_count   // how many are
);
  localparam int FRAMES = 256;

  logic [W+W/8:0] beats[0:BEATS-1];
  logic [31:0] due[0:FRAMES-1];  // the cycle in which a frame may begin to leave
  logic [31:0] now, head, tail, frame, whole, left;
  logic lose;

  assign in_tready  = 1;
  assign lose       = frames >= drop_at && frames < drop_at + drop_count;
  assign out_tvalid = left != whole && due[left%FRAMES] <= now;
  assign {out_tlast, out_tkeep, out_tdata} = beats[head%BEATS];

  always_ff @(posedge clk)
    if (!resetn) begin
      now    <= 0;
      head   <= 0;
      tail   <= 0;
      frame  <= 0;
      whole  <= 0;
      left   <= 0;
      frames <= 0;
    end else begin
      now <= now + 1;
      if (in_tvalid) begin
        beats[tail%BEATS] <= {in_tlast, in_tkeep, in_tdata};
        tail <= tail + 1;
        if (in_tlast) begin
          frames <= frames + 1;
          if (lose) tail <= frame;
          else begin
            frame <= tail + 1;
            due[whole%FRAMES] <= now + 32'(DELAY);
            whole <= whole + 1;
          end
        end
      end
      if (out_tvalid && out_tready) begin
        head <= head + 1;
        if (out_tlast) left <= left + 1;
      end
    end
endmodule
