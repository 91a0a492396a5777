// The memory behind the device, byte by byte: one port writes, one reads, with the data a cycle later.
module memory #(
    parameter int AW = 16  // two to its power: bytes
) (
    input  logic          clk,
    input  logic          we,
    input  logic [AW-1:0] waddr,
    input  logic [   7:0] wdata,
    input  logic [AW-1:0] raddr,
    output logic [   7:0] rdata
);
  logic [7:0] mem[0:(1<<AW)-1];

  always_ff @(posedge clk) begin
    if (we) mem[waddr] <= wdata;
    rdata <= mem[raddr];
  end
endmodule
