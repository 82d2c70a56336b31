#include "src/fleet/agent/cached_symbolizer.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>

#include "absl/strings/str_cat.h"
#include "src/base/text.h"

namespace profiler::agent {
namespace {

using symbolize::AddressFacts;
using symbolize::ImageId;
using symbolize::ImageKind;
using symbolize::ImageSpec;

// A log of all requests to the sources of a test, and the number of sources.
struct Asked {
  int sources = 0;
  std::string log;
};

// A source that names each address after its image and the number of sources that were made
// earlier.
class FakeFacts final : public symbolize::FactSource {
 public:
  explicit FakeFacts(Asked& asked) : asked_(asked), number_(asked.sources++) {}

  ImageId AddImage(const ImageSpec& spec) override {
    for (size_t i = 0; i < images_.size(); ++i) {
      if (images_[i].path == spec.path && images_[i].build_id == spec.build_id) return ImageId(i);
    }
    images_.push_back(spec);
    return ImageId(images_.size() - 1);
  }
  const ImageSpec& image(ImageId id) const override { return images_[static_cast<size_t>(id)]; }
  absl::StatusOr<std::span<const symbolize::JitCode>> JitCodes(ImageId) override {
    return std::span<const symbolize::JitCode>();
  }
  void SetKernelReference(std::string_view symbol, RuntimeAddress) override {
    absl::StrAppend(&asked_.log, "reference ", View(symbol), "; ");
  }
  void AddKernelSymbol(RuntimeAddress, uint64_t, std::string_view name) override {
    absl::StrAppend(&asked_.log, "symbol ", View(name), "; ");
  }
  AddressFacts Find(ImageId image, CodePlace) override {
    absl::StrAppend(&asked_.log, "find in ", images_[static_cast<size_t>(image)].path, "; ");
    AddressFacts facts{.reason = symbolize::Reason::kNamed};
    facts.function.emplace();
    names_.push_back(absl::StrCat(images_[static_cast<size_t>(image)].path, "@", number_));
    facts.function->name = names_.back();
    facts.address = facts.function->start;
    return facts;
  }
  AddressFacts FindAt(ImageId image, ElfAddress) override { return Find(image, FileOffset{0}); }

 private:
  Asked& asked_;
  const int number_;
  std::deque<ImageSpec> images_;
  std::deque<std::string> names_;
};

class CachedSymbolizerTest : public testing::Test {
 protected:
  static ImageSpec File(const std::string& path, bool has_build_id) {
    ImageSpec spec{.kind = ImageKind::kUser, .path = path};
    if (has_build_id) spec.build_id = {std::byte{1}, std::byte{2}};
    return spec;
  }
  static ImageSpec Jit() { return {.kind = ImageKind::kJit, .path = "/tmp/perf-7.map", .pid = 7}; }

  std::string NameIn(const ImageSpec& spec) {
    const symbolize::Naming naming = names_.Name(names_.AddImage(spec), FileOffset{16});
    return naming.functions.empty() ? "" : std::string(naming.functions.front().name);
  }

  Asked asked_;
  CachedSymbolizer names_{[this] { return std::make_unique<FakeFacts>(asked_); }, {}};
};

// The lasting store is source 0. Windows have sources 1, 2, ….
TEST_F(CachedSymbolizerTest, FilesWithABuildIdAreAskedByOneSourceInAllWindows) {
  EXPECT_EQ(NameIn(File("/bin/x", true)), "/bin/x@0");
  names_.BeginWindow();
  EXPECT_EQ(NameIn(File("/bin/x", true)), "/bin/x@0");
  names_.Renew();
  EXPECT_EQ(NameIn(File("/bin/x", true)), "/bin/x@3");
}

TEST_F(CachedSymbolizerTest, WhatMayHaveChangedIsAskedAnewInEachWindow) {
  EXPECT_EQ(NameIn(File("/bin/x", false)), "/bin/x@1");
  EXPECT_EQ(NameIn(Jit()), "/tmp/perf-7.map@1");
  names_.BeginWindow();
  EXPECT_EQ(NameIn(File("/bin/x", false)), "/bin/x@2");
  EXPECT_EQ(NameIn(Jit()), "/tmp/perf-7.map@2");
}

TEST_F(CachedSymbolizerTest, ImagesOfAWindowHaveDenseNumbers) {
  names_.AddImage(File("/bin/before", true));
  names_.BeginWindow();
  EXPECT_EQ(names_.AddImage(Jit()), ImageId{0});
  EXPECT_EQ(names_.AddImage(File("/bin/x", true)), ImageId{1});
  EXPECT_EQ(names_.AddImage(File("/bin/before", true)), ImageId{2});
  EXPECT_EQ(names_.AddImage(File("/bin/x", true)), ImageId{1});
  EXPECT_EQ(names_.image(ImageId{1}).path, "/bin/x");
  EXPECT_EQ(names_.image(ImageId{0}).path, "/tmp/perf-7.map");
}

TEST_F(CachedSymbolizerTest, WhatTheKernelSaidBeforeIsNotSaidAgain) {
  const auto tell = [&](uint64_t start, uint64_t size, const char* name) {
    names_.AddKernelSymbol(RuntimeAddress{start}, size, name);
  };
  const auto window = [&] {
    asked_.log.clear();
    names_.SetKernelReference("_text", RuntimeAddress{100});
    tell(1000, 100, "bpf_a");
    tell(2000, 100, "bpf_b");
    return asked_.log;
  };
  EXPECT_EQ(window(), "reference _text; symbol bpf_a; symbol bpf_b; ");
  names_.BeginWindow();
  EXPECT_EQ(window(), "");
  // Another BPF program is loaded at the address of bpf_a, and then bpf_a is loaded there again.
  tell(1050, 100, "bpf_c");
  EXPECT_EQ(window(), "symbol bpf_a; ");
  names_.Renew();
  EXPECT_EQ(window(), "reference _text; symbol bpf_a; symbol bpf_b; ");
}

}  // namespace
}  // namespace profiler::agent
