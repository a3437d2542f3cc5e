// Groups of K or V values fitted to their largest (docs/numbers.md §8): K a block of 32, V a head of up to
// 32·MaxBlocks. Slices of VectorLanes values come in; while the scale is made from the group's largest magnitude the
// values wait in a buffer; then a block of 32 codes goes out in every cycle.
// The group's first block of codes, with its scale: FitCycles = 18 after its last slice; block b: b cycles later.
// A group must not end while the one before goes out: where all have the same number of blocks (a model has one head
// size) that can't be, since a slice is at most a block.
// Relies on lpu_fit_scale, lpu_multiply, lpu_delay.
module lpu_fit #(
  parameter int VectorLanes = 2,
  parameter int MaxBlocks = 1,
  localparam int SlotBits = 5,
  localparam int CodeBits = lpu_pkg::KvMantissaBitsWide,
  localparam int BlockBits = (MaxBlocks > 1) ? $clog2(MaxBlocks) : 1
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic                      valid_i,
  input  logic                      first_i,      // the group's first slice
  input  logic                      last_i,       // the group's last slice
  input  logic [SlotBits-1:0]       slot_i,       // of the slice in its block
  input  logic                      block_end_i,
  input  logic [VectorLanes*32-1:0] values_i,
  input  logic [7:0]                grid_i,       // with the last slice: e, signed
  input  logic                      wide_i,       // with the last slice: 12-bit codes instead of 8
  output logic                      codes_valid_o,
  output logic [BlockBits-1:0]      block_o,      // of the group
  output logic [lpu_pkg::BlockValues*CodeBits-1:0] codes_o,  // two's complement
  output logic [15:0]               scale_o,
  output logic                      saturated_o
);
  localparam int Values = lpu_pkg::BlockValues;
  localparam int Slices = Values / VectorLanes;
  localparam int SliceBits = VectorLanes * 32;
  localparam int LargestCycles = 3;
  localparam int ScaleCycles = lpu_pkg::MultiplyCycles + 1 + lpu_pkg::TableCycles;
  localparam int WaitCycles = LargestCycles + ScaleCycles;
  localparam int Level1 = (VectorLanes + 3) / 4;
  localparam int Level2 = (Level1 + 3) / 4;
  // Blocks that are collected, wait, or go out.
  localparam int BufferBlocks = (MaxBlocks > 1) ? 32 : 16;
  localparam int PointerBits = $clog2(BufferBlocks);

  if (WaitCycles + lpu_pkg::MultiplyCycles + 1 != lpu_pkg::FitCycles) $error("lpu_fit: stages disagree with FitCycles");
  if (WaitCycles + 2 * MaxBlocks > BufferBlocks) $error("lpu_fit: MaxBlocks is too large for the buffer");

  // ---- the largest magnitude, by fours
  function automatic logic [30:0] larger(input logic [30:0] a, input logic [30:0] b);
    larger = (a > b) ? a : b;
  endfunction

  logic [30:0] largest_s1 [Level1];
  logic [30:0] largest_s2 [Level2];
  logic [30:0] largest_s3_q;
  logic        valid_s2;
  logic        first_s2;
  lpu_delay #(.Width(2), .Cycles(2), .HasReset(1'b1)) u_first (
    .clk_i, .rst_ni, .value_i({valid_i, first_i}), .value_o({valid_s2, first_s2})
  );
  always_ff @(posedge clk_i) begin
    if (valid_s2) largest_s3_q <= larger(first_s2 ? 31'd0 : largest_s3_q, larger(largest_s2[0], largest_s2[Level2-1]));
    for (int i = 0; i < Level2; i++) begin
      largest_s2[i] = 31'd0;
      for (int j = 0; j < 4; j++) begin
        if (4 * i + j < Level1) largest_s2[i] = larger(largest_s2[i], largest_s1[(4*i+j)%Level1]);
      end
    end
    for (int i = 0; i < Level1; i++) begin
      largest_s1[i] = 31'd0;
      for (int j = 0; j < 4; j++) begin
        if (4 * i + j < VectorLanes)
          largest_s1[i] = larger(largest_s1[i], values_i[((4*i+j)%VectorLanes)*32+:31]);
      end
    end
  end

  // ---- its scale
  logic        wide_s3;
  logic [7:0]  grid_s3;
  logic [15:0] scale_made;
  logic [31:0] inverse_made;
  logic        scale_saturated;
  lpu_delay #(.Width(9), .Cycles(LargestCycles)) u_grid (
    .clk_i, .rst_ni(1'b1), .value_i({wide_i, grid_i}), .value_o({wide_s3, grid_s3})
  );
  lpu_fit_scale u_scale (
    .clk_i, .largest_i(largest_s3_q), .wide_i(wide_s3), .grid_i(grid_s3),
    .scale_o(scale_made), .inverse_o(inverse_made), .saturated_o(scale_saturated)
  );

  // ---- the buffer: written slice by slice, read a block a cycle, in order
  logic [PointerBits-1:0] write_q;
  logic [PointerBits-1:0] read_q;
  logic [Values*32-1:0]   values_w;  // the block read last
  for (genvar s = 0; s < Slices; s++) begin : gen_bank
    (* no_rw_check *) logic [SliceBits-1:0] bank_q [BufferBlocks];
    logic [SliceBits-1:0] read_data_q;
    always_ff @(posedge clk_i) begin
      if (valid_i && 32'(slot_i) == s) bank_q[write_q] <= values_i;
      read_data_q <= bank_q[read_q];
    end
    assign values_w[s*SliceBits+:SliceBits] = read_data_q;
  end

  logic [BlockBits-1:0] count_q;        // blocks of the group that have ended
  logic                 starts;         // a group's first block is read
  logic [BlockBits-1:0] starts_behind;  // blocks that follow it
  logic [BlockBits-1:0] behind_q;
  logic                 reads;
  lpu_delay #(.Width(1 + BlockBits), .Cycles(WaitCycles - 1), .HasReset(1'b1)) u_start (
    .clk_i, .rst_ni, .value_i({valid_i && last_i, count_q}), .value_o({starts, starts_behind})
  );
  assign reads = starts || behind_q != '0;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      write_q <= '0;
      read_q <= '0;
      count_q <= '0;
      behind_q <= '0;
    end else begin
      if (valid_i && block_end_i) begin
        write_q <= write_q + 1'b1;
        count_q <= last_i ? '0 : count_q + 1'b1;
      end
      if (reads) read_q <= read_q + 1'b1;
      behind_q <= starts ? starts_behind : (behind_q == '0) ? '0 : behind_q - 1'b1;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) assert (!(starts && behind_q != '0));
  end
`endif

  // ---- codes: the group's inverse stays for all its blocks
  logic                 reads_w;
  logic                 starts_w;
  logic                 wide_made;
  logic                 wide_q;
  logic [31:0]          inverse_q;
  logic [15:0]          scale_q;
  logic [BlockBits-1:0] block_q;
  logic [31:0]          inverse;
  logic                 wide;
  logic [15:0]          scale;
  lpu_delay #(.Width(2), .Cycles(1), .HasReset(1'b1)) u_reads (
    .clk_i, .rst_ni, .value_i({reads, starts}), .value_o({reads_w, starts_w})
  );
  lpu_delay #(.Width(1), .Cycles(ScaleCycles)) u_wide (
    .clk_i, .rst_ni(1'b1), .value_i(wide_s3), .value_o(wide_made)
  );
  assign inverse = starts_w ? inverse_made : inverse_q;
  assign scale = starts_w ? scale_made : scale_q;
  assign wide = starts_w ? wide_made : wide_q;
  always_ff @(posedge clk_i) begin
    inverse_q <= inverse;
    scale_q <= scale;
    wide_q <= wide;
    block_q <= starts_w ? BlockBits'(1) : block_q + 1'b1;
  end

  logic [Values*32-1:0] ratio;
  logic [Values-1:0]    ratio_saturated;
  logic                 ratio_valid;
  logic                 ratio_wide;
  lpu_multiply #(.Lanes(Values)) u_ratio (
    .clk_i, .a_i(values_w), .b_i({Values{inverse}}), .result_o(ratio), .saturated_o(ratio_saturated)
  );
  lpu_delay #(.Width(2), .Cycles(lpu_pkg::MultiplyCycles), .HasReset(1'b1)) u_ratio_valid (
    .clk_i, .rst_ni, .value_i({reads_w, wide}), .value_o({ratio_valid, ratio_wide})
  );
  lpu_delay #(.Width(16 + BlockBits), .Cycles(lpu_pkg::MultiplyCycles + 1)) u_scale_out (
    .clk_i, .rst_ni(1'b1), .value_i({scale, starts_w ? BlockBits'(0) : block_q}), .value_o({scale_o, block_o})
  );

  // RNE(x), clamped: below 2^−1 a shift by more than 33 gives zero, from 2^11 on every code is clamped.
  function automatic logic [CodeBits-1:0] code(input logic [31:0] x, input logic is_wide);
    logic [7:0]          right;
    logic [31:0]         whole;
    logic [31:0]         limit;
    logic [CodeBits-1:0] magnitude;
    right = 8'd157 - x[30:23];
    whole = lpu_float_pkg::round_fixed(
        lpu_float_pkg::shift_to_fixed({1'b1, x[22:0]}, (x[30:23] < 8'd124) ? 6'd33 : right[5:0]));
    limit = is_wide ? 32'd2047 : 32'd127;
    magnitude = (x[30:23] >= 8'd138 || whole > limit) ? limit[CodeBits-1:0] : whole[CodeBits-1:0];
    code = x[31] ? ~magnitude + CodeBits'(1) : magnitude;
  endfunction

  always_ff @(posedge clk_i) begin
    codes_valid_o <= rst_ni && ratio_valid;
    for (int j = 0; j < Values; j++) codes_o[j*CodeBits+:CodeBits] <= code(ratio[j*32+:32], ratio_wide);
  end
  assign saturated_o = (starts_w && scale_saturated) || (ratio_valid && ratio_saturated != '0);

  logic unused_slot;
  assign unused_slot = ^slot_i;
endmodule
