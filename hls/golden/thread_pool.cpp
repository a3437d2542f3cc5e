// The thread pool: a ticket of (round, next part) that all threads draw from. A part that was drawn keeps its round
// open, so work_ and count_ may be read after the draw. See thread_pool.hpp. Relies on a helper sleeping after kSpins
// looks, so that an idle card takes no processor time.
#include "hls/golden/thread_pool.hpp"

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace lpu {
namespace golden {
namespace {

constexpr int kSpins = 4000;        ///< some 50 µs: longer than most gaps inside a token
constexpr unsigned kPartsEach = 4;  ///< parts per thread: evens out threads that were interrupted
constexpr std::uint64_t kRound = std::uint64_t{1} << 32;

void pause_a_little() {
#ifdef __x86_64__
  _mm_pause();
#else
  std::this_thread::yield();
#endif
}

}  // namespace

ThreadPool::ThreadPool(unsigned threads) : parts_(threads > 1 ? threads * kPartsEach : 1), ticket_(parts_) {
  for (unsigned thread = 1; thread < threads; ++thread) helpers_.emplace_back([this] { help(); });
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
}

/// Draws one part of the round and does it; false where none is left.
bool ThreadPool::take_part(std::uint64_t round) {
  std::uint64_t ticket = ticket_.load(std::memory_order_acquire);
  while (true) {
    if ((ticket & ~(kRound - 1)) != round || (ticket & (kRound - 1)) >= parts_) return false;
    if (ticket_.compare_exchange_weak(ticket, ticket + 1, std::memory_order_acq_rel)) break;
  }
  const std::size_t part = ticket & (kRound - 1);
  const std::size_t first = count_ * part / parts_, end = count_ * (part + 1) / parts_;
  if (first < end) (*work_)(first, end, static_cast<unsigned>(part));
  done_.fetch_add(1, std::memory_order_release);
  return true;
}

void ThreadPool::run(std::size_t count, const Work& work) {
  if (helpers_.empty()) {
    if (count != 0) work(0, count, 0);
    return;
  }
  work_ = &work;
  count_ = count;
  done_.store(0, std::memory_order_relaxed);
  const std::uint64_t round = (ticket_.load(std::memory_order_relaxed) & ~(kRound - 1)) + kRound;
  ticket_.store(round);
  if (sleepers_.load() != 0) {
    { std::lock_guard<std::mutex> lock(mutex_); }
    wake_.notify_all();
  }
  while (take_part(round)) {
  }
  for (int looks = 0; done_.load(std::memory_order_acquire) != parts_; ++looks) {
    if (looks < kSpins)
      pause_a_little();
    else
      std::this_thread::yield();
  }
}

void ThreadPool::help() {
  int spins = 0;
  while (!stop_) {
    const std::uint64_t ticket = ticket_.load(std::memory_order_acquire);
    if ((ticket & (kRound - 1)) < parts_) {
      spins = 0;
      take_part(ticket & ~(kRound - 1));
    } else if (++spins < kSpins) {
      pause_a_little();
    } else {
      std::unique_lock<std::mutex> lock(mutex_);
      ++sleepers_;
      wake_.wait(lock, [this] { return stop_ || (ticket_.load() & (kRound - 1)) < parts_; });
      --sleepers_;
      spins = 0;
    }
  }
}

}  // namespace golden
}  // namespace lpu
