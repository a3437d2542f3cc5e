// See figures.hpp.
#include "host/bench/figures.hpp"

#include <algorithm>

#include "host/base/error.hpp"

namespace lpu::bench {
namespace {

void check(const RequestTimes& request) {
  const bool whole = !request.pieces_s.empty() && request.output_tokens > 0;
  const bool ordered = whole && request.arrival_s <= request.start_s && request.start_s <= request.pieces_s.front() &&
                       std::is_sorted(request.pieces_s.begin(), request.pieces_s.end());
  if (!ordered) fail(ExitCode::kInternal, "A request's times run backwards, or it has no token.");
}

}  // namespace

Figures figures_of(const std::vector<RequestTimes>& requests) {
  Figures figures;
  figures.requests = requests.size();
  if (requests.empty()) return figures;
  std::vector<double> ttft, ttft_without_waiting, waiting, tpot, intervals, e2e, decode_speed, e2e_speed;
  double first_s = requests.front().arrival_s;
  double last_s = 0;
  for (const RequestTimes& request : requests) {
    check(request);
    const double begin = request.pieces_s.front();
    const double end = request.pieces_s.back();
    const auto tokens = static_cast<double>(request.output_tokens);
    figures.output_tokens += request.output_tokens;
    first_s = std::min(first_s, request.arrival_s);
    last_s = std::max(last_s, end);
    ttft.push_back(begin - request.arrival_s);
    ttft_without_waiting.push_back(begin - request.start_s);
    waiting.push_back(request.start_s - request.arrival_s);
    e2e.push_back(end - request.arrival_s);
    if (e2e.back() > 0) e2e_speed.push_back(tokens / e2e.back());
    for (std::size_t i = 1; i < request.pieces_s.size(); ++i)
      intervals.push_back(request.pieces_s[i] - request.pieces_s[i - 1]);
    if (request.output_tokens < 2 || request.pieces_s.size() < 2) continue;
    tpot.push_back((end - begin) / (tokens - 1));
    if (tpot.back() > 0) decode_speed.push_back(1 / tpot.back());
  }
  if (!intervals.empty()) {
    const auto [least, most] = std::minmax_element(intervals.begin(), intervals.end());
    figures.inter_token_spread_s = *most - *least;
  }
  figures.ttft_s = runtime::percentiles(std::move(ttft));
  figures.ttft_without_waiting_s = runtime::percentiles(std::move(ttft_without_waiting));
  figures.waiting_s = runtime::percentiles(std::move(waiting));
  figures.tpot_s = runtime::percentiles(std::move(tpot));
  figures.inter_token_s = runtime::percentiles(std::move(intervals));
  figures.e2e_s = runtime::percentiles(std::move(e2e));
  figures.decode_tokens_per_s = runtime::speed_percentiles(std::move(decode_speed));
  figures.e2e_tokens_per_s = runtime::speed_percentiles(std::move(e2e_speed));
  figures.seconds = last_s - first_s;
  if (figures.seconds > 0) {
    figures.total_tokens_per_s = static_cast<double>(figures.output_tokens) / figures.seconds;
    figures.queries_per_minute = 60 * static_cast<double>(figures.requests) / figures.seconds;
  }
  return figures;
}

}  // namespace lpu::bench
