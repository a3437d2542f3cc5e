// The watch over docs/isa.md's hazards, alive in simulation (lpu_core leaves it out of synthesis): reads before an older
// instruction's write, writes before an older instruction's read, writes out of order.
//
// Each instruction has a key: its token, then its run in the token. For every place two keys are kept: of the newest
// instruction that has read it, and of the newest one whose write is in it. A read of a place that already holds
// something newer is a write that came too early; a write that lands where something newer has read is a read that came
// too early; one that lands on something newer is out of order. When something lands is counted here a second time, by
// the contract's latencies from the entries on, and not taken from the units' own pipelines.
// Relies on the units' ports as lpu_core joins them; a landing is taken in the cycle before it can be read, after reads.
// Behavioural: no tool makes hardware of it, so it is free to use blocking assignments and large tables.
`ifndef SYNTHESIS
module lpu_hazard_monitor #(
  parameter int Lanes = 4,
  parameter int ColumnGroups = 2,
  parameter int VectorLanes = 2,
  parameter int LaneWords = 256,
  parameter int AccumulatorEntries = 16,
  parameter int ActivationBlocks = 64,
  parameter int ResidualValues = 64,
  localparam int GroupBits = (ColumnGroups > 1) ? $clog2(ColumnGroups) : 1,
  localparam int EntryBits = $clog2(AccumulatorEntries),
  localparam int BlockBits = lpu_mvu_pkg::BlockBits
) (
  input  logic                              clk_i,
  input  logic                              rst_ni,
  input  logic                              token_start_i,
  // ---- issues, in their cycle
  input  logic                              mvu_issue_i,
  input  logic [19:0]                       mvu_index_i,
  input  logic                              vpu_issue_i,
  input  logic [19:0]                       vpu_index_i,
  input  logic                              smx_issue_i,
  input  logic [19:0]                       smx_index_i,
  // ---- MVU: a beat's reads, and sums on their way into the accumulators
  input  logic                              beat_i,
  input  logic [23:0]                       beat_word_i,
  input  logic [15:0]                       beat_block_i,
  input  logic                              beat_relative_i,
  input  logic [5:0]                        beat_round_i,
  input  logic                              residual_read_i,
  input  logic [19:0]                       residual_row_i,
  input  logic [ColumnGroups-1:0]           sum_write_i,
  input  logic [EntryBits-1:0]              sum_entry_i,
  // ---- VPU: requests two cycles before the entry, then the entry with where its results go
  input  logic [ColumnGroups-1:0]           vector_read_i,
  input  logic [EntryBits-1:0]              vector_entry_i,
  input  logic                              entry_valid_i,
  input  logic [3:0]                        entry_kind_i,
  input  logic                              entry_block_end_i,
  input  logic                              entry_end_i,
  input  logic                              entry_has_bias_i,
  input  logic                              scale_register_i,
  input  logic [5:0]                        mix_round_i,
  input  logic [GroupBits-1:0]              tag_bank_i,
  input  logic [23:0]                       tag_address_i,
  input  logic [1:0]                        tag_nibbles_i,
  input  logic [19:0]                       tag_row_step_i,
  input  logic [GroupBits-1:0]              tag_key_group_i,
  input  logic [23:0]                       tag_key_address_i,
  input  logic [3:0]                        tag_head_blocks_i,
  input  logic [19:0]                       tag_residual_row_i,
  // ---- SMX
  input  logic [ColumnGroups-1:0]           softmax_read_i,
  input  logic [EntryBits-1:0]              softmax_entry_i,
  input  logic [ColumnGroups-1:0]           smx_block_write_i,
  input  logic [ColumnGroups*16-1:0]        smx_block_address_i,
  input  logic [ColumnGroups*BlockBits-1:0] smx_blocks_i,
  input  logic                              round_write_i,
  input  logic [5:0]                        round_i,
  output logic [7:0]                        error_o
);
  localparam int KeyBits = 52;
  localparam int ResidualSlices = (ResidualValues + VectorLanes - 1) / VectorLanes;
  // All places in one row.
  localparam int Sums = ColumnGroups * ActivationBlocks;               // before them: activation blocks [bank][address]
  localparam int Residuals = Sums + ColumnGroups * AccumulatorEntries; // [segment][entry], then slices of the residual
  localparam int Words = Residuals + ResidualSlices;                   // [group][address]
  localparam int Scales = Words + ColumnGroups * LaneWords;
  localparam int Exponents = Scales + 2;                               // E and E − N, by round
  localparam int Inverses = Exponents + lpu_pkg::MaxRounds;            // 1/z, by round
  localparam int Places = Inverses + lpu_pkg::MaxRounds;
  // Landings wait in a ring of cycles; V's last row group is the farthest: 256/2 of them, 4 cycles apart.
  localparam int Ring = 1024;
  localparam int Most = 16;                                            // landings in one cycle

  typedef logic [KeyBits-1:0] key_t;
  key_t        newest_read[Places];
  key_t        newest_write[Places];
  key_t        due_key[Ring*Most];
  int          due_place[Ring*Most];
  int          due_count[Ring];
  key_t        side_key[Ring];                                         // V's reads of K's word: one head a cycle at most
  int          side_place[Ring];
  int          now;
  logic [31:0] token;
  key_t        mvu, vpu, smx;
  key_t        past_mvu[Ring], past_smx[Ring];
  logic [ColumnGroups-1:0] vector_read[Ring], softmax_read[Ring];
  logic [EntryBits-1:0] vector_entry[Ring], softmax_entry[Ring];
  logic        failed;
  int          bias, at, older;

  function automatic int ring(input int cycle);
    ring = cycle % Ring;
  endfunction

  // ---- the two rules
  task automatic reads(input int place, input key_t key);
    if (place < Places) begin
      if (newest_write[place] > key) begin
        failed = 1'b1;
        $error("hazard: run %0d of token %0d reads %s after run %0d has changed it", key[19:0], key[51:20],
               name(place), newest_write[place][19:0]);
      end
      if (key > newest_read[place]) newest_read[place] = key;
    end
  endtask
  task automatic lands(input int place, input key_t key);
    if (place < Places) begin
      if (newest_read[place] > key) begin
        failed = 1'b1;
        $error("hazard: run %0d of token %0d makes %s after run %0d has read it", key[19:0], key[51:20], name(place),
               newest_read[place][19:0]);
      end
      if (newest_write[place] > key) begin
        failed = 1'b1;
        $error("hazard: run %0d of token %0d makes %s after the newer run %0d has", key[19:0], key[51:20], name(place),
               newest_write[place][19:0]);
      end
      newest_write[place] = key;
    end
  endtask
  function automatic string name(input int place);
    if (place < Sums) name = $sformatf("block %0d of bank %0d", place % ActivationBlocks, place / ActivationBlocks);
    else if (place < Residuals)
      name = $sformatf("accumulator %0d of segment %0d", (place - Sums) % AccumulatorEntries,
                       (place - Sums) / AccumulatorEntries);
    else if (place < Words) name = $sformatf("residual value %0d", (place - Residuals) * VectorLanes);
    else if (place < Scales)
      name = $sformatf("lane word %0d of group %0d", (place - Words) % LaneWords, (place - Words) / LaneWords);
    else if (place < Exponents) name = $sformatf("scale register %0d", place - Scales);
    else if (place < Inverses) name = $sformatf("E of round %0d", place - Exponents);
    else name = $sformatf("1/z of round %0d", place - Inverses);
  endfunction
  // A landing `latency` after this cycle: taken one cycle earlier.
  task automatic later(input int latency, input int place, input key_t key);
    at = ring(now + latency - 1);
    if (due_count[at] < Most) begin
      due_key[at*Most+due_count[at]] = key;
      due_place[at*Most+due_count[at]] = place;
      due_count[at] = due_count[at] + 1;
    end
  endtask
  function automatic int word(input int group, input int address);
    word = Words + group * LaneWords + address;
  endfunction

  // ---- one cycle
  initial begin
    now = 0;
    for (int i = 0; i < Ring; i++) due_count[i] = 0;
  end
  always_ff @(posedge clk_i) begin
    failed = 1'b0;
    now = now + 1;
    if (token_start_i) token = token + 32'd1;
    if (mvu_issue_i) mvu = {token, mvu_index_i};
    if (vpu_issue_i) vpu = {token, vpu_index_i};
    if (smx_issue_i) smx = {token, smx_index_i};
    past_mvu[ring(now)] = mvu;
    past_smx[ring(now)] = smx;
    vector_read[ring(now)] = vector_read_i;
    vector_entry[ring(now)] = vector_entry_i;
    softmax_read[ring(now)] = softmax_read_i;
    softmax_entry[ring(now)] = softmax_entry_i;
    if (!rst_ni) begin
      token = 32'd0;
      {mvu, vpu, smx} = '0;
      for (int i = 0; i < Ring; i++) begin
        due_count[i] = 0;
        side_place[i] = Places;
        vector_read[i] = '0;
        softmax_read[i] = '0;
      end
      if (in_use) begin  // once, not in every cycle of a reset
        for (int i = 0; i < Places; i++) begin
          newest_read[i] = '0;
          newest_write[i] = '0;
        end
      end
      in_use = 1'b0;
    end else begin
      in_use = 1'b1;
      // reads
      if (beat_i) begin
        for (int g = 0; g < ColumnGroups; g++) begin
          reads(g * ActivationBlocks + int'(beat_block_i), mvu);
          if (int'(beat_word_i) < LaneWords) reads(word(g, int'(beat_word_i)), mvu);
        end
        if (beat_relative_i) reads(Exponents + int'(beat_round_i), mvu);
      end
      if (residual_read_i)
        for (int row = 0; row < Lanes; row += VectorLanes)
          if (int'(residual_row_i) + row < ResidualValues)
            reads(Residuals + (int'(residual_row_i) + row) / VectorLanes, mvu);
      older = ring(now + Ring - 2);
      for (int j = 0; j < ColumnGroups; j++) begin
        if (vector_read[older][j]) reads(Sums + j * AccumulatorEntries + int'(vector_entry[older]), vpu);
        if (softmax_read[older][j]) reads(Sums + j * AccumulatorEntries + int'(softmax_entry[older]), smx);
      end
      reads(side_place[ring(now)], side_key[ring(now)]);
      side_place[ring(now)] = Places;
      // entries: what they read, and when what they make will land
      bias = entry_has_bias_i ? lpu_pkg::BiasCycles : 0;
      if (entry_valid_i)
        case (int'(entry_kind_i))
          lpu_pkg::OpcodeResidual, lpu_pkg::OpcodeEmbed: begin
            later(lpu_pkg::ResidualCycles, Residuals + int'(tag_residual_row_i) / VectorLanes, vpu);
            if (entry_block_end_i) later(lpu_pkg::ResidualBlockCycles, block(), vpu);
            if (entry_end_i) later(lpu_pkg::NormCycles, Scales + int'(scale_register_i), vpu);
          end
          lpu_pkg::OpcodeMix: begin
            reads(Exponents + int'(mix_round_i), vpu);
            reads(Inverses + int'(mix_round_i), vpu);
            if (entry_block_end_i) later(lpu_pkg::MixCycles, block(), vpu);
          end
          lpu_pkg::OpcodeQuery: begin
            reads(Scales + int'(scale_register_i), vpu);
            if (entry_block_end_i) later(lpu_pkg::QueryCycles + bias, block(), vpu);
          end
          lpu_pkg::OpcodeSwiglu: begin
            reads(Scales + int'(scale_register_i), vpu);
            if (entry_block_end_i) later(lpu_pkg::SwigluCycles, block(), vpu);
          end
          lpu_pkg::OpcodeKey: begin
            reads(Scales + int'(scale_register_i), vpu);
            if (entry_block_end_i)
              for (int n = 0; n < int'(tag_nibbles_i); n++)
                later(lpu_pkg::KeyCycles + bias, word(int'(tag_bank_i), int'(tag_address_i) + n), vpu);
          end
          lpu_pkg::OpcodeValue: begin
            reads(Scales + int'(scale_register_i), vpu);
            if (entry_end_i) begin
              at = ring(now + lpu_pkg::ValueCycles + bias - lpu_pkg::ValueScaleReadCycles);
              side_place[at] = word(int'(tag_key_group_i), int'(tag_key_address_i));
              side_key[at] = vpu;
              later(lpu_pkg::ValueCycles + bias - lpu_pkg::ValueScaleWriteCycles + 1,
                    word(int'(tag_key_group_i), int'(tag_key_address_i)), vpu);
              for (int r = 0; r * Lanes < 32 * int'(tag_head_blocks_i); r++)
                for (int n = 0; n < 2; n++)
                  later(lpu_pkg::ValueCycles + bias + r * lpu_pkg::ValuePortCycles,
                        word(int'(tag_bank_i), int'(tag_address_i) + r * int'(tag_row_step_i) + n), vpu);
            end
          end
          default: reads(Scales + int'(scale_register_i), vpu);  // kLogits
        endcase
      // landings, after the reads of their cycle
      for (int i = 0; i < due_count[ring(now)]; i++)
        lands(due_place[ring(now)*Most+i], due_key[ring(now)*Most+i]);
      due_count[ring(now)] = 0;
      for (int j = 0; j < ColumnGroups; j++) begin
        if (sum_write_i[j])
          lands(Sums + j * AccumulatorEntries + int'(sum_entry_i),
                past_mvu[ring(now+Ring-(lpu_pkg::MatvecCycles-1))]);
        if (smx_block_write_i[j])
          lands(j * ActivationBlocks + int'(smx_block_address_i[j*16+:16]),
                past_smx[ring(now+Ring-(smx_blocks_i[j*BlockBits+:BlockBits]==ZeroBlock
                                        ? lpu_pkg::SoftmaxRowCycles : lpu_pkg::SoftmaxBlockCycles)+1)]);
      end
      if (round_write_i) begin
        at = ring(now + Ring - lpu_pkg::SoftmaxRowCycles + 1);
        lands(Exponents + int'(round_i), past_smx[at]);
        later(lpu_pkg::ReciprocalCycles - lpu_pkg::SoftmaxRowCycles + 1, Inverses + int'(round_i), past_smx[at]);
      end
    end
    error_o <= failed ? 8'(lpu_pkg::ErrorHazard) : 8'(lpu_pkg::ErrorNone);
  end

  function automatic int block();
    block = int'(tag_bank_i) * ActivationBlocks + int'(tag_address_i);
  endfunction
  localparam logic [BlockBits-1:0] ZeroBlock = {1'b1, {(BlockBits - 1) {1'b0}}};  // behind a row's last block
  logic in_use = 1'b1;
endmodule
`endif
