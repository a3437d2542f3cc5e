// The noise of Gumbel-max sampling for a slice of ids (docs/numbers.md §11): a random number per id (lpu_philox), and
// its noise (lpu_noise), 16 fraction bits. 47 cycles after the ids: it depends on seed, position and id only, so the
// core starts it that much before the logits need it. A slice a cycle; ids from row_i on, a multiple of Lanes.
// Relies on lpu_philox, lpu_noise, lpu_delay; nothing to reset.
module lpu_gumbel #(
  parameter int Lanes = 2
) (
  input  logic                clk_i,
  input  logic [63:0]         seed_i,      // constant while a token is chosen
  input  logic [31:0]         position_i,
  input  logic [19:0]         row_i,
  output logic [Lanes*32-1:0] noise_o      // signed
);
  localparam int Groups = (Lanes + 3) / 4;
  localparam int PhiloxCycles = 30;

  if (Lanes < 2 || Lanes > 32 || Lanes != 1 << $clog2(Lanes)) 
    $error("lpu_gumbel: Lanes must be a power of two, 2 to 32");

  // ---- random numbers, 31 cycles
  logic [Groups*128-1:0] words;
  logic                  upper;  // two lanes: the second half of the four numbers
  for (genvar g = 0; g < Groups; g++) begin : gen_group
    lpu_philox u_philox (
      .clk_i, .seed_i, .group_i({14'd0, row_i[19:2]} + 32'(g)), .position_i, .words_o(words[g*128+:128])
    );
  end
  lpu_delay #(.Width(1), .Cycles(PhiloxCycles)) u_upper (
    .clk_i, .rst_ni(1'b1), .value_i(row_i[1]), .value_o(upper)
  );
  logic [Lanes*32-1:0] random_q;
  always_ff @(posedge clk_i) begin
    for (int l = 0; l < Lanes; l++) begin
      random_q[l*32+:32] <= (Lanes == 2 && upper) ? words[(l+2)*32+:32] : words[l*32+:32];
    end
  end

  lpu_noise #(.Lanes(Lanes)) u_noise (.clk_i, .random_i(random_q), .noise_o);

  logic unused_row;
  assign unused_row = row_i[0];
endmodule
