// Copies the payload of the packet that is being handled from the packet buffer into memory, a byte a cycle.
module rx_writer #(
    parameter int AW = 16
) (
    input  logic          clk,
    input  logic          resetn,
    input  logic          start,
    input  logic [  31:0] addr,
    input  logic [  12:0] len,
    output logic          done,       // one cycle; also after a copy of nothing
    output logic [  12:0] buf_raddr,
    input  logic [   7:0] buf_rdata,
    output logic          mem_we,
    output logic [AW-1:0] mem_waddr,
    output logic [   7:0] mem_wdata
);
  logic busy, read;
  logic [12:0] n, count;  // byte that is being read; bytes in all
  logic [AW-1:0] base;

  assign buf_raddr = n;
  assign mem_wdata = buf_rdata;
  assign mem_we    = read;

  always_ff @(posedge clk)
    if (!resetn) begin
      busy <= 0;
      read <= 0;
      done <= 0;
    end else begin
      done <= busy && n == count;
      read <= busy && n != count;
      mem_waddr <= base + AW'(n);
      if (start) begin
        busy  <= 1;
        n     <= 0;
        count <= len;
        base  <= addr[AW-1:0];
      end else if (busy) begin
        if (n == count) busy <= 0;
        else n <= n + 1;
      end
    end
endmodule
