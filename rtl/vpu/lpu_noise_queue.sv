// The sampling noise of a token's ids, made ahead: it depends on seed, position and id only, so from the token's start
// on lpu_gumbel runs through the ids, NoiseLanes a cycle, and slices of VectorLanes wait in a queue. Slices are needed
// in bursts and only at a token's end, so a narrow generator and a deep queue serve as well as a wide one. Which slice is
// there when: hls/contract/noise_clock.hpp.
// take_i asks for the next slice's noise, which is on noise_o in the cycle after. A take of a slice that isn't there,
// or of another row than the queue's next, is reported: the kLogits of a token must come in the order of their rows.
// Relies on lpu_gumbel, lpu_ram_1r1w, and on seed, position and samples_i staying from one token_start_i to the next.
module lpu_noise_queue #(
  parameter int VectorLanes = 2,
  parameter int Slices = lpu_pkg::NoiseQueueSlices
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic                      token_start_i,  // drops what is left of the token before
  input  logic                      samples_i,
  input  logic [63:0]               seed_i,
  input  logic [15:0]               position_i,
  input  logic [19:0]               first_row_i,    // of the program's first kLogits, a multiple of VectorLanes
  input  logic                      take_i,
  input  logic [19:0]               take_row_i,
  output logic [VectorLanes*32-1:0] noise_o,        // a cycle after take_i
  output logic                      wrong_o         // a cycle after take_i: not there, or another row
);
  localparam int GumbelCycles = 47;
  localparam int NoiseLanes = (VectorLanes < lpu_pkg::NoiseLanes) ? VectorLanes : lpu_pkg::NoiseLanes;
  localparam int Parts = VectorLanes / NoiseLanes;  // of a slice, one a cycle
  localparam int PartBits = NoiseLanes * 32;
  localparam int PointerBits = $clog2(Slices);
  localparam int CountBits = PointerBits + 1;

  if (Slices != 1 << PointerBits || Slices < GumbelCycles + 4) begin : gen_check
    $error("lpu_noise_queue: Slices must be a power of two above the noise's latency");
  end

  // ---- ids that are asked for: slices that have a place when they come out, their parts in consecutive cycles
  logic                 runs_q;
  logic [19:0]          row_q;
  logic [CountBits-1:0] reserved_q;  // places taken: in lpu_gumbel or in the queue
  logic                 asks;
  logic                 first_part;
  logic                 last_part;
  logic                 comes;       // a slice's last part leaves lpu_gumbel
  logic [PartBits-1:0]  part;
  assign asks = runs_q && !(first_part && reserved_q == CountBits'(Slices));
  lpu_gumbel #(.Lanes(NoiseLanes)) u_gumbel (
    .clk_i, .seed_i, .position_i({16'd0, position_i}), .row_i(row_q), .noise_o(part)
  );
  lpu_delay #(.Cycles(GumbelCycles), .HasReset(1'b1)) u_comes (
    .clk_i, .rst_ni(rst_ni && !token_start_i), .value_i(asks && last_part), .value_o(comes)
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni || token_start_i) begin
      runs_q <= rst_ni && samples_i;
      row_q <= first_row_i;
      reserved_q <= '0;
    end else begin
      if (asks) row_q <= row_q + 20'(NoiseLanes);
      reserved_q <= reserved_q + CountBits'(asks && first_part) - CountBits'(take_i);
    end
  end

  // ---- a slice from its parts: the ones before the last have come in the cycles before
  logic [VectorLanes*32-1:0] slice;
  if (Parts == 1) begin : gen_whole
    assign first_part = 1'b1;
    assign last_part = 1'b1;
    assign slice = part;
  end else begin : gen_parts
    localparam int NumberBits = $clog2(Parts);
    logic [NumberBits-1:0]         number_q;
    logic [(Parts-1)*PartBits-1:0] before_q;
    assign first_part = number_q == '0;
    assign last_part = &number_q;
    assign slice = {part, before_q};
    always_ff @(posedge clk_i) begin
      before_q <= slice[PartBits+:(Parts-1)*PartBits];
      if (!rst_ni || token_start_i) number_q <= '0;
      else if (asks) number_q <= number_q + 1'b1;
    end
  end

  // ---- the queue
  logic [PointerBits-1:0] write_q;
  logic [PointerBits-1:0] read_q;
  logic [CountBits-1:0]   filled_q;
  logic [19:0]            next_row_q;
  logic                   takes;
  assign takes = take_i && filled_q != '0;
  lpu_ram_1r1w #(.Width(VectorLanes * 32), .Depth(Slices)) u_queue (
    .clk_i, .write_i(comes), .write_address_i(write_q), .write_data_i(slice),
    .read_i(takes), .read_address_i(read_q), .read_data_o(noise_o)
  );
  always_ff @(posedge clk_i) begin
    wrong_o <= rst_ni && take_i && (filled_q == '0 || take_row_i != next_row_q);
    if (!rst_ni || token_start_i) begin
      write_q <= '0;
      read_q <= '0;
      filled_q <= '0;
      next_row_q <= first_row_i;
    end else begin
      if (comes) write_q <= write_q + 1'b1;
      if (takes) read_q <= read_q + 1'b1;
      if (takes) next_row_q <= next_row_q + 20'(VectorLanes);
      filled_q <= filled_q + CountBits'(comes) - CountBits'(takes);
    end
  end
endmodule
