// Nothing is attached: the bench writes captures and logs only.
module attach #(
    parameter int W = 64
);
  task verbs(input int side, input string line);
  endtask
endmodule
