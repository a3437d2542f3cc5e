// What the golden card says when a program can't be run: the one error type of this folder.
// It exists because hls/ knows nothing of host/: the card above turns it into the user's error with an exit code.
// Relies on the standard library only.
#pragma once

#include <stdexcept>
#include <string>

namespace lpu {
namespace golden {

/// A program, image or request that the machine refuses, or a hazard of its timing; what() is a sentence.
struct Fault : std::runtime_error {
  explicit Fault(const std::string& sentence) : std::runtime_error(sentence) {}
};

}  // namespace golden
}  // namespace lpu
