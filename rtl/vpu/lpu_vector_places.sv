// Where the results of slices go, and which constants they want: bank and address of their block, K's word for V's
// scale, index of gains or biases, index of rotation angles. Running sums from the starting points of lpu_vector_decode:
// the next block is in the segment's next bank, after its last one an address further; the next head is in the next
// segment, after the last one a step further (docs/isa.md, "Places").
// A record taken in cycle t − 2 serves slices that are at the input from cycle t − 1 on; outputs are a cycle later.
// Relies on slices in order, each a cycle before it enters.
module lpu_vector_places #(
  parameter int ColumnGroups = 2,
  parameter int VectorLanes = 2,
  localparam int GroupBits = (ColumnGroups > 1) ? $clog2(ColumnGroups) : 1
) (
  input  logic                         clk_i,
  input  logic                         take_i,
  input  lpu_vector_issue_pkg::place_t place_i,
  input  lpu_vector_issue_pkg::slice_t slice_i,
  output logic [GroupBits-1:0]         bank_o,
  output logic [23:0]                  address_o,
  output logic [1:0]                   nibbles_o,
  output logic [19:0]                  row_step_o,
  output logic [GroupBits-1:0]         key_bank_o,
  output logic [23:0]                  key_address_o,
  output logic [3:0]                   head_blocks_o,
  output logic [26:0]                  constant_address_o,
  output logic [25:0]                  rope_pair_o
);
  localparam int SlicePairs = VectorLanes / 2;

  lpu_vector_issue_pkg::place_t place_q;

  logic last_place, last_segment;
  assign last_place = 9'(place_q.place) == place_q.part - 9'd1;
  assign last_segment = place_q.segment == place_q.last_segment;

  logic [3:0] pair;  // of the slice in its block
  assign pair = 4'(slice_i.slot * 5'(SlicePairs));

  always_ff @(posedge clk_i) begin
    bank_o <= GroupBits'(place_q.first_bank + 9'(place_q.place));
    address_o <= place_q.outer + place_q.inner;
    nibbles_o <= place_q.nibbles;
    row_step_o <= place_q.row_step;
    key_bank_o <= GroupBits'(place_q.first_bank);
    key_address_o <= place_q.key_address;
    head_blocks_o <= place_q.head_blocks;
    constant_address_o <= place_q.constant_address;
    rope_pair_o <= 26'(place_q.rope_pair) + 26'({slice_i.head_block, pair});

    if (take_i) begin
      place_q <= place_i;
    end else if (slice_i.valid) begin
      place_q.constant_address <= place_q.constant_address + 27'(VectorLanes);
      if (slice_i.head_end) begin
        if (!place_q.stays) begin
          place_q.place <= '0;
          place_q.inner <= '0;
        end
        place_q.segment <= last_segment ? '0 : place_q.segment + 9'd1;
        place_q.first_bank <= last_segment ? '0 : place_q.first_bank + place_q.part;
        if (last_segment) begin
          place_q.outer <= place_q.outer + place_q.outer_step;
          place_q.key_address <= place_q.key_address + place_q.key_step;
        end
      end else if (slice_i.block_end && !place_q.stays) begin
        place_q.place <= last_place ? '0 : place_q.place + 8'd1;
        if (last_place) place_q.inner <= place_q.inner + place_q.inner_step;
      end
    end
  end
endmodule
