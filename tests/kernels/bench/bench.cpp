// Plain test bench of the kernels, as an HLS tool's C simulation runs it: random data, compared with hls/engine in
// memory, exit code 0 or 1. Prints a checksum of all results, so that two builds can be compared.
//   bench [matvec|softmax|vector]
#include <cstdio>
#include <cstring>

#include "tests/kernels/unit_cases.hpp"

namespace {

using lpu::kernels::RandomData;
using lpu::kernels::Results;

/// FNV-1a over everything that was compared.
std::uint64_t checksum = 14695981039346656037u;

void add_to_checksum(std::int64_t value) {
  for (int i = 0; i < 8; ++i) {
    checksum ^= (static_cast<std::uint64_t>(value) >> (8 * i)) & 255u;
    checksum *= 1099511628211u;
  }
}

bool same(const char* what, const Results& got, const Results& wanted) {
  for (const std::int64_t value : got) add_to_checksum(value);
  if (got != wanted) std::printf("%s: differs from hls/engine\n", what);
  return got == wanted;
}

/// Sums as pairs of 64-bit halves.
Results halves(const std::vector<lpu::engine::Int128>& sums) {
  Results results;
  for (const lpu::engine::Int128& sum : sums) {
    results.push_back(static_cast<std::int64_t>(sum >> 64));
    results.push_back(static_cast<std::int64_t>(sum));
  }
  return results;
}

bool check_matvec() {
  RandomData random(1);
  bool good = true;
  for (int nibbles = 1; nibbles <= 3; ++nibbles) {
    lpu::kernels::TestMatrix matrix = random.matrix(130, 13, nibbles, nibbles != 1, nibbles != 2);
    if (nibbles != 3) random.add_residual(matrix);
    std::vector<lpu::engine::Block> vector;
    for (int i = 0; i < matrix.blocks; ++i) vector.push_back(random.block());
    const Results wanted = halves(lpu::kernels::engine_sums(matrix, vector));
    good = same("matvec tiny", halves(lpu::kernels::tiny_sums(matrix, vector, true)), wanted) && good;
    good = same("matvec u55c", halves(lpu::kernels::u55c_sums(matrix, vector, true)), wanted) && good;
  }
  return good;
}

bool check_softmax() {
  RandomData random(2);
  bool good = true;
  for (const int positions : {1, 33, 64, 500}) {
    const lpu::kernels::Scores scores = lpu::kernels::random_scores(random, positions, 40);
    const Results wanted = lpu::kernels::engine_softmax(scores);
    constexpr int kTinyLanes = lpu::kernels::kTiny.softmax_lanes;
    constexpr int kU55cLanes = lpu::kernels::kU55c.softmax_lanes;
    good =
        same("softmax tiny", lpu::kernels::kernel_softmax<kTinyLanes>(lpu_kernel_softmax_tiny, scores), wanted) && good;
    good =
        same("softmax u55c", lpu::kernels::kernel_softmax<kU55cLanes>(lpu_kernel_softmax_u55c, scores), wanted) && good;
  }
  return good;
}

bool check_vector() {
  RandomData random(3);
  bool good = true;
  constexpr int kTinyLanes = lpu::kernels::kTiny.vector_lanes;
  constexpr int kU55cLanes = lpu::kernels::kU55c.vector_lanes;
  for (const int values : {5, 32, 576}) {
    const lpu::kernels::ResidualInput in = lpu::kernels::random_residual(random, values);
    const Results wanted = lpu::kernels::engine_residual(in);
    const Results tiny =
        lpu::kernels::kernel_residual<kTinyLanes, lpu::kernels::kTinyBeats>(lpu_kernel_residual_tiny, in);
    const Results u55c =
        lpu::kernels::kernel_residual<kU55cLanes, lpu::kernels::kU55cBeats>(lpu_kernel_residual_u55c, in);
    good = same("residual tiny", tiny, wanted) && good;
    good = same("residual u55c", u55c, wanted) && good;
    const lpu::kernels::Rows rows = lpu::kernels::random_rows(random, 2 * values);
    const Results pairs = lpu::kernels::engine_swiglu(rows, 0.75f);
    good = same("swiglu tiny", lpu::kernels::kernel_swiglu<kTinyLanes>(lpu_kernel_swiglu_tiny, rows, 0.75f), pairs) &&
           good;
    good = same("swiglu u55c", lpu::kernels::kernel_swiglu<kU55cLanes>(lpu_kernel_swiglu_u55c, rows, 0.75f), pairs) &&
           good;
  }
  return good;
}

}  // namespace

int main(int count, char** arguments) {
  const char* only = count > 1 ? arguments[1] : "";
  const auto wanted = [only](const char* name) { return *only == '\0' || std::strcmp(only, name) == 0; };
  if (!wanted("matvec") && !wanted("softmax") && !wanted("vector")) {
    std::printf("usage: bench [matvec|softmax|vector]\n");
    return 1;
  }
  bool good = true;
  if (wanted("matvec")) good = check_matvec() && good;
  if (wanted("softmax")) good = check_softmax() && good;
  if (wanted("vector")) good = check_vector() && good;
  std::printf("%s, checksum %016llx\n", good ? "equal" : "DIFFERENT", static_cast<unsigned long long>(checksum));
  return good ? 0 : 1;
}
