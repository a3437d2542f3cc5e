// What is written is what is read, to the last bit; and writing is all or nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <cstring>
#include <optional>

#include "host/base/error.hpp"
#include "host/bundle/program_file.hpp"
#include "tests/bundle/small_bundle.hpp"

namespace lpu::test {
namespace {

namespace fs = std::filesystem;

std::optional<Error> error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

TEST(Bundle, WrittenAndOpenedIsTheSame) {
  const TemporaryPlace place;
  const bundle::Contents in = small_contents();
  bundle::write(place.path() / "b", in);
  const bundle::Bundle out = bundle::Bundle::open(place.path() / "b");

  EXPECT_EQ(out.hardware_name(), "tiny");
  EXPECT_STREQ(out.hardware().name, "tiny");
  EXPECT_STREQ(out.hardware().note, in.hardware.note);
  EXPECT_EQ(out.hardware().lanes, in.hardware.lanes);
  EXPECT_EQ(out.hardware().delay_entries, in.hardware.delay_entries);
  EXPECT_EQ(out.hardware().has_minimum, in.hardware.has_minimum);
  EXPECT_EQ(out.model_name(), "small");
  EXPECT_EQ(out.model_file_bytes(), 12345u);
  EXPECT_EQ(out.report_json(), in.report_json);
  EXPECT_EQ(std::memcmp(&out.shape(), &in.shape, sizeof in.shape), 0);
  EXPECT_EQ(bundle::program_bytes(out.program()), bundle::program_bytes(in.program));

  const contract::MemoryImage image = out.image();
  EXPECT_EQ(image.lane_word_count, 3u);
  EXPECT_EQ(image.kv_word_count, 5u);
  EXPECT_EQ(image.minimum_word_count, 2u);
  EXPECT_EQ(image.exponent_word_count, 2u);
  EXPECT_EQ(image.constant_count, 3u);
  EXPECT_EQ(image.rope_pair_count, 64u * 16u);
  EXPECT_EQ(std::memcmp(image.lane_words, in.lane_words.data(), in.lane_words.size()), 0);
  EXPECT_EQ(std::memcmp(image.minimum_words, in.minimum_words.data(), in.minimum_words.size()), 0);
  EXPECT_EQ(std::memcmp(image.exponents, in.exponents.data(), in.exponents.size()), 0);
  EXPECT_EQ(std::memcmp(image.constants, in.constants.data(), 4 * in.constants.size()), 0);
  EXPECT_EQ(std::memcmp(image.rope, in.rope.data(), 4 * in.rope.size()), 0);
  EXPECT_EQ(read_bytes(out.tokenizer_file()), std::string(50, 'M'));
  const std::size_t image_bytes = in.lane_words.size() + in.minimum_words.size() + 8 + 12 + 4 * in.rope.size();
  EXPECT_EQ(out.image_bytes(), image_bytes);
  EXPECT_EQ(out.resident_bytes(), image_bytes + 5 * 8 * 18 + bundle::program_bytes(in.program).size());
}

TEST(Bundle, PagesThatWereForgottenAreReadAgain) {
  const TemporaryPlace place;
  const bundle::Contents in = small_contents();
  bundle::write(place.path() / "b", in);
  const bundle::Bundle out = bundle::Bundle::open(place.path() / "b");
  out.forget_image();
  out.forget_lane_words(0, in.lane_words.size());
  EXPECT_EQ(std::memcmp(out.image().lane_words, in.lane_words.data(), in.lane_words.size()), 0);
}

TEST(Bundle, ExistingBundleIsReplaced) {
  const TemporaryPlace place;
  bundle::Contents contents = small_contents();
  bundle::write(place.path() / "b", contents);
  contents.model_name = "second";
  bundle::write(place.path() / "b", contents);
  EXPECT_EQ(bundle::Bundle::open(place.path() / "b").model_name(), "second");
  EXPECT_EQ(place.entries(), 1u);
}

TEST(Bundle, EmptyFolderIsFilled) {
  const TemporaryPlace place;
  fs::create_directory(place.path() / "b");
  bundle::write(place.path() / "b", small_contents());
  EXPECT_EQ(bundle::Bundle::open(place.path() / "b").model_name(), "small");
}

TEST(Bundle, FolderWithOtherThingsIsLeftAlone) {
  const TemporaryPlace place;
  bundle::write(place.path() / "b", small_contents());
  write_bytes(place.path() / "b" / "thesis.txt", "years of work");
  const auto error = error_of([&] { bundle::write(place.path() / "b", small_contents()); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ExitCode::kUsage);
  EXPECT_EQ(read_bytes(place.path() / "b" / "thesis.txt"), "years of work");
  EXPECT_EQ(place.entries(), 1u);
}

TEST(Bundle, FileInItsPlaceIsLeftAlone) {
  const TemporaryPlace place;
  write_bytes(place.path() / "b", "a file");
  const auto error = error_of([&] { bundle::write(place.path() / "b", small_contents()); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ExitCode::kUsage);
  EXPECT_EQ(read_bytes(place.path() / "b"), "a file");
}

TEST(Bundle, UnwritablePlaceIsAnErrorOfTheSystem) {
  const TemporaryPlace place;
  write_bytes(place.path() / "file", "x");
  for (const fs::path& target : {place.path() / "file" / "b", place.path() / "no" / "such" / "folder"}) {
    const auto error = error_of([&] { bundle::write(target, small_contents()); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ExitCode::kIo);
    EXPECT_THAT(error->what(), testing::HasSubstr(target.filename().string()));
    EXPECT_THAT(error->what(), testing::HasSubstr("writable"));
  }
  EXPECT_EQ(place.entries(), 1u);
}

/// A limit on the size of files, which the system reports where a full disk is reported: at write().
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    before_signal_ = ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, before_signal_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  void (*before_signal_)(int);
};

TEST(Bundle, FullDiskLeavesNothingBehind) {
  const TemporaryPlace place;
  for (const rlim_t bytes : {0, 20, 400, 2000, 7000}) {
    std::optional<Error> error;
    {
      const FileSizeLimit limit(bytes);
      error = error_of([&] { bundle::write(place.path() / "b", small_contents()); });
    }
    ASSERT_TRUE(error) << bytes;
    EXPECT_EQ(error->code(), ExitCode::kIo);
    EXPECT_EQ(place.entries(), 0u) << bytes;
  }
}

TEST(Bundle, FullDiskKeepsTheOldBundle) {
  const TemporaryPlace place;
  bundle::write(place.path() / "b", small_contents());
  {
    const FileSizeLimit limit(400);
    EXPECT_TRUE(error_of([&] { bundle::write(place.path() / "b", small_contents()); }));
  }
  EXPECT_EQ(bundle::Bundle::open(place.path() / "b").model_name(), "small");
  EXPECT_EQ(place.entries(), 1u);
}

}  // namespace
}  // namespace lpu::test
