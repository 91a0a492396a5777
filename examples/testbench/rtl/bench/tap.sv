// A tap at the ports of a device: writes the frames of both directions to a pcap with stamps in nanoseconds, each when it is whole.
`timescale 1ns / 1ns
module tap #(
    parameter int W = 64,
    parameter FILE = "tap.pcap",
    parameter logic [63:0] EPOCH = 0  // of the stamps
) (
    input logic           clk,
    input logic           stop,       // closes the file
    input logic           tx_tvalid,
    input logic           tx_tready,
    input logic [  W-1:0] tx_tdata,
    input logic [W/8-1:0] tx_tkeep,
    input logic           tx_tlast,
    input logic           rx_tvalid,
    input logic           rx_tready,
    input logic [  W-1:0] rx_tdata,
    input logic [W/8-1:0] rx_tkeep,
    input logic           rx_tlast
);
  logic [7:0] sent[0:8191];
  logic [7:0] received[0:8191];
  int n_sent = 0, n_received = 0;
  int file, i;
  int head[0:5];

  task u32(input logic [31:0] value);
    $fwrite(file, "%c%c%c%c", value[7:0], value[15:8], value[23:16], value[31:24]);
  endtask

  task record(input int n);
    logic [63:0] t;
    begin
      t = EPOCH + $time;
      u32(32'(t / 64'd1000000000));
      u32(32'(t % 64'd1000000000));
      u32(n);
      u32(n);
    end
  endtask

  initial begin
    file = $fopen(FILE, "wb");
    // The file header comes from variables, as Verilator leaves the zero bytes of constants out.
    head[0] = 32'ha1b23c4d;  // nanoseconds
    head[1] = 32'h00040002;
    head[2] = 0;
    head[3] = 0;
    head[4] = 65535;
    head[5] = 1;  // Ethernet
    for (i = 0; i < 6; i = i + 1) u32(head[i]);
  end

  always @(posedge stop) $fclose(file);

  always @(posedge clk) begin
    if (tx_tvalid && tx_tready) begin
      for (i = 0; i < W / 8; i = i + 1)
        if (tx_tkeep[i]) begin
          sent[n_sent] = tx_tdata[i*8+:8];
          n_sent = n_sent + 1;
        end
      if (tx_tlast) begin
        record(n_sent);
        for (i = 0; i < n_sent; i = i + 1) $fwrite(file, "%c", sent[i]);
        n_sent = 0;
      end
    end
    if (rx_tvalid && rx_tready) begin
      for (i = 0; i < W / 8; i = i + 1)
        if (rx_tkeep[i]) begin
          received[n_received] = rx_tdata[i*8+:8];
          n_received = n_received + 1;
        end
      if (rx_tlast) begin
        record(n_received);
        for (i = 0; i < n_received; i = i + 1) $fwrite(file, "%c", received[i]);
        n_received = 0;
      end
    end
  end
endmodule
