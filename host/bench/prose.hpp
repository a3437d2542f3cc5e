// The sentences that benchmark prompts are made of: plain ASCII prose, written for this project. Why text and not token
// ids: the same bytes can go to any server, whatever its tokenizer. Relies on nothing.
#pragma once

#include <array>
#include <string_view>

namespace lpu::bench {

inline constexpr std::array<std::string_view, 32> kSentences = {
    "The lighthouse keeper wrote down the weather every morning before he made his tea.",
    "On clear days the islands in the west looked near enough to touch.",
    "Her grandmother kept a jar of buttons, and no two of them were alike.",
    "The train was late again, so the whole class learned the timetable by heart.",
    "A good map leaves out almost everything and is useful for that very reason.",
    "Nobody in the village could say who had planted the walnut trees along the road.",
    "The baker opened at five, and by six the smell of bread had reached the harbour.",
    "When the river froze, the ferry was dragged ashore and children played on its deck.",
    "He measured the shadow of the tower at noon and wrote a number on the wall.",
    "The museum owned three clocks, of which only the broken one was famous.",
    "After the storm the beach was covered with shells, rope, and a single red boot.",
    "She tuned the old piano by ear, one string at a time, and it took her all winter.",
    "The bridge had been closed for repairs since before anyone could remember.",
    "Every spring the swallows came back to the same beam in the same barn.",
    "The letter had been delivered to the wrong house and answered all the same.",
    "In the market you could buy honey, nails, second-hand books and advice.",
    "The engineer explained that the bell rang twice because the first stroke moved the tower.",
    "They carried the telescope up the hill in four boxes and found the sky full of cloud.",
    "A copper kettle stood on the stove and was polished only when guests were expected.",
    "The gardener said that patience was a tool like any other and had to be kept sharp.",
    "At the end of the lane there was a gate, and beyond the gate a field of barley.",
    "The captain trusted his compass less than the colour of the water.",
    "Two brothers ran the printing shop, and they had not agreed on anything for ten years.",
    "The library lent out umbrellas as well, which explained why it was busy in November.",
    "From the top of the dam you could hear the turbines as a low and steady note.",
    "The child counted the carriages of the freight train and always came to a different sum.",
    "In the archive they found a recipe for ink between two pages of tax returns.",
    "The snow fell without wind, and the whole street went quiet under it.",
    "A surveyor walked the border with a chain and a notebook, and dogs followed him.",
    "The violin maker kept the best wood for instruments that nobody had ordered yet.",
    "Some of the stones in the wall had been part of an older wall a thousand years before.",
    "When the lamps were lit along the quay, the last boats turned for home."};

}  // namespace lpu::bench
