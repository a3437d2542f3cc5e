// A few threads that share one instruction's rows: started once, woken some thousand times a token.
// It exists because a token lasts milliseconds: a sleeping thread would wake too late, so helpers spin for a short
// while before they sleep. Work is cut into parts that whoever is free takes next, so the caller never waits for a
// helper that the operating system hasn't let run. Which thread does what never changes a bit of the result. Relies on
// the standard library.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace lpu {
namespace golden {

class ThreadPool {
 public:
  using Work = std::function<void(std::size_t first, std::size_t end, unsigned part)>;

  explicit ThreadPool(unsigned threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// Largest number of parts that run() cuts work into.
  unsigned parts() const { return parts_; }
  /// Cuts 0…count into parts() ranges (empty ones are left out) and returns when all are done. Work must not throw.
  void run(std::size_t count, const Work& work);

 private:
  void help();
  bool take_part(std::uint64_t round);

  std::vector<std::thread> helpers_;
  unsigned parts_;
  const Work* work_ = nullptr;
  std::size_t count_ = 0;
  std::atomic<std::uint64_t> ticket_;  ///< round in the high half, next part in the low one
  std::atomic<unsigned> done_{0};
  std::atomic<bool> stop_{false};
  std::atomic<unsigned> sleepers_{0};
  std::mutex mutex_;
  std::condition_variable wake_;
};

}  // namespace golden
}  // namespace lpu
