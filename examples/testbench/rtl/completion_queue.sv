// Completions of requester and responder, in one queue, to the consumer.
module completion_queue
  import roce_pkg::*;
#(
    parameter int DEPTH = 16
) (
    input  logic clk,
    input  logic resetn,
    input  logic send_valid,
    input  cqe_t send,
    output logic send_ready,
    input  logic recv_valid,
    input  cqe_t recv,
    output logic recv_ready,
    output logic valid,
    output cqe_t cqe,
    input  logic ready
);
  localparam int D = $clog2(DEPTH);
  cqe_t entries[0:DEPTH-1];
  logic [D:0] head, tail, held;

  assign held       = tail - head;
  assign recv_ready = held != (D + 1)'(DEPTH);
  assign send_ready = recv_ready && !recv_valid;
  assign valid      = held != 0;
  assign cqe        = entries[head[D-1:0]];

  always_ff @(posedge clk)
    if (!resetn) begin
      head <= 0;
      tail <= 0;
    end else begin
      if (valid && ready) head <= head + 1;
      if (recv_ready && (recv_valid || send_valid)) begin
        entries[tail[D-1:0]] <= recv_valid ? recv : send;
        tail <= tail + 1;
      end
    end
endmodule
