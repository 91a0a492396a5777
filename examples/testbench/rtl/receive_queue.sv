// Receive requests, in order, of every queue pair.
module receive_queue
  import roce_pkg::*;
#(
    parameter int N_QP  = 4,
    parameter int DEPTH = 16
) (
    input  logic        clk,
    input  logic        resetn,
    input  cmd_t        cmd,
    input  logic        cmd_valid,
    output logic        full,       // no room for the queue pair of cmd
    input  logic [ 7:0] qp,         // whose oldest request is shown
    output logic        empty,
    output logic [31:0] wr_id,
    output logic [31:0] laddr,
    output logic [31:0] length,
    input  logic        pop
);
  localparam int Q = $clog2(N_QP);
  localparam int D = $clog2(DEPTH);

  logic [95:0] entries[0:N_QP*DEPTH-1];
  logic [D:0] head[0:N_QP-1];
  logic [D:0] tail[0:N_QP-1];
  logic [D:0] h, t, ct, held;
  logic [Q-1:0] q, cq;
  integer i;

  assign q     = qp[Q-1:0];
  assign cq    = cmd.qp[Q-1:0];
  assign h     = head[q];
  assign t     = tail[q];
  assign ct    = tail[cq];
  assign held  = ct - head[cq];
  assign full  = held == (D + 1)'(DEPTH);
  assign empty = h == t;
  assign {wr_id, laddr, length} = entries[{q, h[D-1:0]}];

  always_ff @(posedge clk)
    if (!resetn)
      for (i = 0; i < N_QP; i = i + 1) begin
        head[i] <= 0;
        tail[i] <= 0;
      end
    else begin
      if (pop) head[q] <= h + 1;
      if (cmd_valid && cmd.op == CMD_POST_RECV) begin
        entries[{cq, ct[D-1:0]}] <= {cmd.wr_id, cmd.laddr, cmd.length};
        tail[cq] <= ct + 1;
      end
      if (cmd_valid && cmd.op == CMD_MODIFY_QP && cmd.attr == ATTR_STATE && cmd.value[2:0] == QP_RESET) begin
        head[cq] <= 0;
        tail[cq] <= 0;
      end
    end
endmodule
