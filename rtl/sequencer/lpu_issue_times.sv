// From instructions to the cycles in which they are handed over: decides each one's unit, finds its delay (a constant,
// or a delay-table entry of its row or of its loop's entry row) and adds it to the unit's time. The token's length comes
// out of the same table, before the first instruction of its walk.
//
//   stage 0: the program memory's word: unit, row      3: the table's address
//         1: row × columns                             4: (memory)
//         2: product + blocks − 1                      5: delay → the unit's sum     6: into the queue
//
// Relies on a walker that lets all stages pass before it takes the next token: their token's constants stay.
module lpu_issue_times #(
  parameter int DelayEntries = 64,
  localparam int TimeBits = lpu_sequencer_pkg::TimeBits,
  localparam int AddressBits = (DelayEntries > 1) ? $clog2(DelayEntries) : 1
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic [15:0]            length_steps_i,         // columns of the table
  input  logic [23:0]            cycles_with_head_i,     // entries where the rows of token lengths begin
  input  logic [23:0]            cycles_without_head_i,
  // a token's walk begins
  input  logic                   walk_take_i,
  input  logic                   walk_with_head_i,
  input  logic [10:0]            walk_column_i,          // blocks − 1
  input  logic [TimeBits-1:0]    walk_start_i,           // its first cycle
  // an instruction
  input  logic                   instruction_valid_i,
  input  logic [28:0]            instruction_i,          // the fields that all have
  input  logic                   enters_loop_i,
  input  logic [71:0]            entry_rows_i,
  input  logic [19:0]            index_i,
  output logic [2:0]             push_o,                 // MVU, VPU, SMX: in the same cycle
  // delay table
  output logic                   delay_read_o,
  output logic [AddressBits-1:0] delay_address_o,
  input  logic [31:0]            delay_i,                // two cycles later
  // results
  output logic [2:0]             time_push_o,
  output logic [3*TimeBits-1:0]  times_o,                // what the counter reads in the cycle before the handing over
  output logic [19:0]            time_index_o,
  output logic                   length_valid_o,
  output logic [31:0]            length_o,
  output logic [7:0]             error_o,                // of an instruction that therefore has no time
  output logic [19:0]            error_index_o
);
  localparam int MostCycles = 2 ** 30;

  // ---- the token
  logic [10:0] column_q;
  logic begins_q;
  logic [23:0] length_entry_q;
  always_ff @(posedge clk_i) begin
    begins_q <= walk_take_i && rst_ni;
    if (walk_take_i) begin
      column_q <= walk_column_i;
      length_entry_q <= walk_with_head_i ? cycles_with_head_i : cycles_without_head_i;
    end
  end

  // ---- stage 0: its unit, one-hot; whether the loop's entry row counts instead of its own delay
  logic [3:0] opcode;
  logic [2:0] unit, entered, entered_q;
  logic unknown, is_mvu, is_smx, by_entry;
  logic [23:0] entry_row;
  assign opcode = instruction_i[lpu_pkg::CommonOpcodeLsb+:4];
  assign unknown = opcode > 4'(lpu_pkg::OpcodeSoftmax);
  assign is_mvu = opcode == 4'(lpu_pkg::OpcodeMatvec);
  assign is_smx = opcode == 4'(lpu_pkg::OpcodeSoftmax);
  assign unit = {is_smx, !is_mvu && !is_smx && !unknown, is_mvu};
  assign entered = enters_loop_i ? 3'b000 : entered_q;
  assign by_entry = (unit & ~entered) != 3'b000;
  assign entry_row = unit[0] ? entry_rows_i[23:0] : unit[1] ? entry_rows_i[47:24] : entry_rows_i[71:48];
  assign push_o = instruction_valid_i ? unit : 3'b000;

  // ---- stages 1 to 5
  logic valid_1, length_1, table_1, unknown_1;
  logic [2:0] unit_1;
  logic [23:0] row_1;            // of the table, or the constant
  logic [15:0] columns_1;
  logic [19:0] index_1;
  logic valid_2, valid_3, length_2, length_3, table_2, table_3, unknown_2, unknown_3;
  logic [2:0] unit_2, unit_3;
  logic [19:0] index_2, index_3;
  logic [23:0] constant_2, constant_3;
  logic [39:0] product_2;
  logic [40:0] address_3;
  always_ff @(posedge clk_i) begin
    if (instruction_valid_i) entered_q <= entered | unit;
    valid_1 <= instruction_valid_i && rst_ni;
    length_1 <= begins_q && rst_ni;
    unknown_1 <= unknown;
    unit_1 <= unit;
    table_1 <= by_entry || instruction_i[lpu_pkg::CommonDelayByLengthLsb];
    // A length's row begins at an entry of its own: no product of rows and columns.
    row_1 <= begins_q ? length_entry_q : by_entry ? entry_row : instruction_i[lpu_pkg::CommonDelayLsb+:24];
    columns_1 <= begins_q ? 16'd1 : length_steps_i;
    index_1 <= index_i;

    valid_2 <= valid_1 && rst_ni;
    length_2 <= length_1 && rst_ni;
    unknown_2 <= unknown_1;
    unit_2 <= unit_1;
    table_2 <= table_1;
    index_2 <= index_1;
    constant_2 <= row_1;
    product_2 <= 40'(row_1) * 40'(columns_1);

    valid_3 <= valid_2 && rst_ni;
    length_3 <= length_2 && rst_ni;
    unknown_3 <= unknown_2;
    unit_3 <= unit_2;
    table_3 <= table_2;
    index_3 <= index_2;
    constant_3 <= constant_2;
    address_3 <= 41'(product_2) + 41'(column_q);
  end
  logic outside_3;
  assign outside_3 = address_3 >= 41'(DelayEntries);
  assign delay_read_o = (length_3 || (valid_3 && table_3)) && !outside_3;
  assign delay_address_o = address_3[AddressBits-1:0];

  logic valid_5, length_5, table_5, outside_5, unknown_5;
  logic [2:0] unit_5;
  logic [19:0] index_5;
  logic [23:0] constant_5;
  lpu_delay #(.Width(2), .Cycles(2), .HasReset(1'b1)) u_valid (
    .clk_i, .rst_ni, .value_i({valid_3, length_3}), .value_o({valid_5, length_5})
  );
  lpu_delay #(.Width(1 + 1 + 1 + 3 + 20 + 24), .Cycles(2)) u_beside (
    .clk_i, .rst_ni, .value_i({table_3, outside_3, unknown_3, unit_3, index_3, constant_3}),
    .value_o({table_5, outside_5, unknown_5, unit_5, index_5, constant_5})
  );

  // ---- stage 5: the unit's time
  logic [31:0] delay_5;
  logic [2:0] issued_q;          // units that have an instruction of this token
  logic [7:0] error_5;
  assign delay_5 = table_5 ? delay_i : 32'(constant_5);
  always_comb begin
    error_5 = 8'(lpu_pkg::ErrorNone);
    if (valid_5) begin
      if (unknown_5) error_5 = 8'(lpu_pkg::ErrorOpcode);
      else if (table_5 && outside_5) error_5 = 8'(lpu_pkg::ErrorAddress);
      else if (delay_5 >= 32'(MostCycles)) error_5 = 8'(lpu_pkg::ErrorLength);
      else if (delay_5 == 32'd0 && (unit_5 & issued_q) != 3'b000) error_5 = 8'(lpu_pkg::ErrorLate);
    end
    if (length_5 && outside_5) error_5 = 8'(lpu_pkg::ErrorAddress);
  end
  always_ff @(posedge clk_i) begin
    length_valid_o <= length_5 && !outside_5 && rst_ni;
    length_o <= delay_i;
    error_o <= rst_ni ? error_5 : 8'(lpu_pkg::ErrorNone);
    error_index_o <= length_5 ? 20'd0 : index_5;
    time_index_o <= index_5;
    time_push_o <= (valid_5 && error_5 == 8'(lpu_pkg::ErrorNone) && rst_ni) ? unit_5 : 3'b000;
    if (valid_5) begin
      issued_q <= issued_q | unit_5;
      if (unit_5[0]) times_o[0+:TimeBits] <= times_o[0+:TimeBits] + delay_5;
      if (unit_5[1]) times_o[TimeBits+:TimeBits] <= times_o[TimeBits+:TimeBits] + delay_5;
      if (unit_5[2]) times_o[2*TimeBits+:TimeBits] <= times_o[2*TimeBits+:TimeBits] + delay_5;
    end
    if (walk_take_i) begin
      issued_q <= 3'b000;
      times_o <= {walk_start_i - TimeBits'(lpu_sequencer_pkg::SmxLead + 1),
                  walk_start_i - TimeBits'(lpu_sequencer_pkg::VpuLead + 1),
                  walk_start_i - TimeBits'(lpu_sequencer_pkg::MvuLead + 1)};
    end
  end
endmodule
