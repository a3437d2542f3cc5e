// Stand-in for the header of the same name in an HLS compiler: hls::stream with the two operations that kernels use.
// Lets plain g++ compile and run the kernels; a compiler that has its own header never sees this one.
#pragma once

#include <cstdlib>
#include <deque>

namespace hls {

template <typename T>
class stream {
 public:
  stream() = default;
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;

  /// A read of an empty stream would wait for ever in hardware: here the run ends.
  T read() {
    if (values_.empty()) std::abort();
    T value = values_.front();
    values_.pop_front();
    return value;
  }
  void write(const T& value) { values_.push_back(value); }
  /// For test benches: whether something was left. Kernels don't ask.
  bool empty() const { return values_.empty(); }

 private:
  std::deque<T> values_;
};

}  // namespace hls
