// Send requests of every queue pair, and which PSNs they have been given. A request is addressed by queue pair and slot.
module send_queue
  import roce_pkg::*;
#(
    parameter int N_QP  = 4,
    parameter int DEPTH = 16,
    parameter int D = 4,  // bits of a slot
    parameter int Q = 2
) (
    input  logic         clk,
    input  cmd_t         cmd,
    input  logic         post,       // cmd goes into this slot of its queue pair
    input  logic [D-1:0] post_slot,
    input  logic [Q-1:0] qp,
    input  logic [D-1:0] slot,       // what is shown
    output cmd_t         wqe,
    output logic [ 23:0] first_psn,
    output logic [ 23:0] count,
    input  logic         assign_psn, // the request that is shown gets its PSNs
    input  logic [ 23:0] new_psn,
    input  logic [ 23:0] new_count
);
  cmd_t requests[0:N_QP*DEPTH-1];
  logic [47:0] psns[0:N_QP*DEPTH-1];

  assign wqe = requests[{qp, slot}];
  assign {first_psn, count} = psns[{qp, slot}];

  always_ff @(posedge clk) begin
    if (post) requests[{cmd.qp[Q-1:0], post_slot}] <= cmd;
    if (assign_psn) psns[{qp, slot}] <= {new_psn, new_count};
  end
endmodule
