// A group of three small bundles (small_bundle.hpp), right in form, without meaning: 6 layers and 300 ids, split.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tests/bundle/small_bundle.hpp"

namespace lpu::test {

/// small_program() as three phases; the cycles of a phase are its number × 100 and some.
inline contract::Program small_group_program() {
  contract::Program program = small_program();
  program.loops[1].instruction_count = 1;
  program.loops.push_back(program.loops[1]);
  program.loops[2].first_instruction = 3;
  for (std::uint32_t phase = 1; phase <= 3; ++phase) {
    program.loops[phase - 1].phase = phase;
    program.loops[phase - 1].is_head = 0;
    program.phase_cycles[phase] = {100 * phase, 100 * phase + 9};
  }
  program.loops[2].entry_delay_mvu = contract::kNoEntryDelay;
  program.instructions[3].common.opcode = static_cast<std::uint32_t>(contract::Opcode::kReceive);
  program.cycles_with_head.clear();
  program.cycles_without_head.clear();
  return program;
}

inline bundle::Contents small_card(std::size_t card) {
  bundle::Contents contents = small_contents();
  contents.program = small_group_program();
  contents.shape.first_id = static_cast<std::uint32_t>(128 * card);
  contents.shape.ids = card < 2 ? 128 : 44;
  return contents;
}

inline bundle::GroupContents small_group() {
  bundle::GroupContents group;
  group.hardware_name = "3xtiny";
  group.shape = small_contents().shape;
  group.shape.layers = 6;
  group.model_name = "small";
  group.model_file_bytes = 12345;
  group.plan.link_name = "aurora-25g";
  group.plan.link = contract::kLinkConfigs[0];
  for (std::uint32_t card = 0; card < 3; ++card)
    group.plan.cards.push_back({{40 + card, 41 + card}, {190 + card, 195 + card}});
  group.cycles_with_head = {2000, 2100};
  group.report_json = R"({"cards":3})";
  group.card = small_card;
  return group;
}

}  // namespace lpu::test
