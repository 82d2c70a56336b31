// Rewrites every recording of the corpus and reads the results: a copy, a stream, a compressed
// file, and files made from the stream and from the compressed file.
//
// perf reads some original recordings but not their rewritten forms:
//  - perf 6.1 cannot read tracing data from a stream.
//  - perf 6.1 does not swap ids of attrs that are shorter than its own, in a stream of the other
//    byte order.
//  - perf loses its position after the traces in a stream that is a file.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "src/base/byte_reader.h"
#include "src/format/perf_data/read/recording.h"
#include "src/format/perf_data/rewrite/rewrite.h"
#include "src/format/perf_event/abi.h"
#include "tests/conformance/corpus.h"
#include "tests/conformance/perf_script.h"

namespace profiler::conformance {
namespace {

using perf_data::Recording;
using perf_data::RewriteOptions;
using perf_data::TimedRecord;
using testing::HasSubstr;

std::string ReadBytes(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// Returns the kernel's records in file order and in native byte order. The name of a record's event
// stands in front of the record.
// Names are compared without guests, because perf and this profiler name events of a stream and of
// a file differently. In a file the name comes from EVENT_DESC ("cycles"). In a stream it comes
// from the attr ("cycles:H") if EVENT_DESC precedes the attr.
std::vector<std::string> KernelRecords(const std::string& path) {
  std::vector<std::string> records;
  const auto recording = Recording::Open(path);
  EXPECT_TRUE(recording.ok()) << recording.status();
  if (!recording.ok()) return records;
  const absl::Status read =
      (*recording)->ForEach(Recording::Order::kFile, [&](const TimedRecord& record) {
        if (record.record.type() >= perf_event::kRecordUserFirst) return;
        const auto& event = (*recording)->events()[record.event];
        records.push_back(NameWithoutGuests(event.name) +
                          std::string(TextOf(CopyInOnePiece(record.record, event.layout))));
      });
  EXPECT_TRUE(read.ok()) << read;
  EXPECT_THAT((*recording)->warnings(), testing::IsEmpty()) << path;
  return records;
}

// Returns the number of samples that perf 6.1 counts; -1 if it cannot read the file.
int64_t PerfSamples(const std::string& path) {
  const std::string command = "/usr/bin/perf report --stats -i '" + path + "' 2>&1";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  char line[512];
  int64_t samples = -1;
  while (fgets(line, sizeof(line), pipe.get()) != nullptr) {
    if (std::sscanf(line, " TOTAL events: %*d") == 0 && samples < 0 &&
        std::string(line).find("TOTAL events:") != std::string::npos) {
      samples = 0;
    }
    long long count = 0;
    if (samples == 0 && std::sscanf(line, " SAMPLE events: %lld", &count) == 1) return count;
  }
  return samples;
}

class Converted : public testing::Test {
 protected:
  void SetUp() override {
    const std::optional<std::string> directory = CorpusDirectory();
    if (!directory) {
      GTEST_SKIP() << kNoCorpus;
    }
    for (CorpusFile& file : CorpusFiles(*directory)) {
      if (file.exercises.find("BAD:") == std::string::npos) files_.push_back(std::move(file));
    }
    ASSERT_FALSE(files_.empty());
  }

  std::string Convert(const std::string& from, const std::string& name,
                      const RewriteOptions& options) {
    const std::string to = testing::TempDir() + "/" + name;
    const auto summary = perf_data::Rewrite(from, to, options);
    EXPECT_TRUE(summary.ok()) << summary.status();
    if (summary.ok()) {
      EXPECT_TRUE(summary->reading.ok()) << summary->reading;
      EXPECT_THAT(summary->warnings, testing::IsEmpty());
    }
    return to;
  }

  static bool IsStream(const CorpusFile& file) {
    return file.exercises.find("; pipe;") != std::string::npos;
  }

  // Returns why perf 6.1 cannot read this file as a stream; empty if it can.
  static std::string UnreadableAsStream(const CorpusFile& file) {
    if (file.exercises.find("TRACING_DATA") != std::string::npos) return "tracing data";
    if (file.exercises.find("AUXTRACE") != std::string::npos) return "traces";
    if (file.name.find("derived.be.singleprocess-3.4") != std::string::npos) return "short attrs";
    return "";
  }

  std::vector<CorpusFile> files_;
};

TEST_F(Converted, CopyOfEveryFileHasTheSameBytes) {
  for (const CorpusFile& file : files_) {
    const std::string copy = Convert(file.path, "copy", {.as_stream = IsStream(file)});
    EXPECT_TRUE(ReadBytes(copy) == ReadBytes(file.path)) << file.name;
  }
}

TEST_F(Converted, ThereAndBackEveryFileKeepsItsRecords) {
  RewriteOptions compress, inflate;
  compress.compression = RewriteOptions::Compression::kZstd;
  inflate.compression = RewriteOptions::Compression::kNone;
  for (const CorpusFile& file : files_) {
    SCOPED_TRACE(file.name);
    const std::vector<std::string> original = KernelRecords(file.path);
    const std::string stream = Convert(file.path, "stream", {.as_stream = true});
    const std::string back = Convert(stream, "back", {});
    const std::string packed = Convert(file.path, "packed", compress);
    const std::string inflated = Convert(packed, "inflated", inflate);
    for (const std::string& path : {stream, back, packed, inflated}) {
      EXPECT_TRUE(KernelRecords(path) == original) << path;
    }
  }
}

TEST_F(Converted, PerfReadsWhatItReadTheOriginalOf) {
  if (std::system("/usr/bin/perf --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "no perf";
  RewriteOptions compress;
  compress.compression = RewriteOptions::Compression::kZstd;
  size_t read = 0;
  for (const CorpusFile& file : files_) {
    SCOPED_TRACE(file.name);
    const int64_t samples = PerfSamples(file.path);
    if (samples < 0) continue;
    ++read;
    const std::string stream = Convert(file.path, "stream", {.as_stream = true});
    if (UnreadableAsStream(file).empty()) {
      EXPECT_EQ(PerfSamples(stream), samples);
    }
    EXPECT_EQ(PerfSamples(Convert(stream, "back", {})), samples);
    EXPECT_EQ(PerfSamples(Convert(file.path, "packed", compress)), samples);
  }
  EXPECT_GT(read, 30u);
}

}  // namespace
}  // namespace profiler::conformance
