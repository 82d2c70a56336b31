// Runs `profiler script` on the recordings of the corpus, and compares its output with the goldens,
// which are perf 6.1's output for the same fields. Compares samples field by field, and all other
// records line by line.
//
// The profiler and perf differ on purpose:
//  - perf 6.1 prints user frames of a call chain relative to their image. The pages differ, the
//    offsets within the page are equal. (perf 7.2 prints them as this profiler does.)
//  - perf 6.1 also unwinds stack dumps while it prints, but with the recorded machine's images.
//  - If the file has no name for an event, perf 6.1 calls it cycles:HG if it counts hosts and
//    guests, and cycles if it counts hosts only. perf 7.2 and this profiler use cycles:H instead of
//    cycles.
//  - perf reads the first bytes of an MMAP2's name as its protection, in files of Linux 3.12 to
//    3.15. Only the text before the protection is compared.
//  - perf 6.1 does not swap prot and flags of an MMAP2 in the other byte order.
//  - perf synthesizes samples from AUX traces (intel_pt). They are not compared.
//  - Process ids have 7 columns here and in perf 7.2, and 5 in perf 6.1. Widths of columns are not
//    compared.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "tests/conformance/corpus.h"
#include "tests/conformance/perf_script.h"

namespace profiler::conformance {
namespace {

std::string Joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ",") + part;
  return text;
}

std::vector<std::string> OurScriptLines(const CorpusFile& file) {
  const std::string command =
      "./profiler script --no-inline --show-task-events --show-mmap-events --show-switch-events "
      "--show-lost-events --show-namespace-events -F " +
      Joined(file.script_fields) + " -i '" + file.path + "'";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::vector<std::string> lines;
  std::string text;
  char buffer[1 << 16];
  while (const size_t count = fread(buffer, 1, sizeof(buffer), pipe.get())) {
    text.append(buffer, count);
  }
  std::stringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// Returns the first difference; empty if there is none. If user frames were unwound from a copy of
// the stack, the numbers of frames may differ. perf's chain may be longer, because perf had the
// images. Without images perf omits all user frames. Then `ours` has the frame of the sample's
// registers, and frames that were found by frame pointers.
std::string Difference(const ScriptSample& ours, const ScriptSample& perfs, bool unwound) {
  if (ours.pid != perfs.pid || ours.tid != perfs.tid) return "pid/tid";
  if (ours.cpu != perfs.cpu) return "cpu";
  if (ours.time != perfs.time) return "time: " + ours.time;
  if (NameWithoutGuests(ours.event) != NameWithoutGuests(perfs.event))
    return "event: " + ours.event;
  if (ours.period != perfs.period) return "period: " + std::to_string(ours.period);
  if (ours.addr != perfs.addr) return "addr";
  if (ours.branches != perfs.branches) return "branches";
  if (ours.user_regs != perfs.user_regs) return "registers";
  if (ours.ips.size() != perfs.ips.size() && !unwound) {
    return "call chain of " + std::to_string(ours.ips.size()) + " and " +
           std::to_string(perfs.ips.size());
  }
  for (size_t i = 0; i < std::min(ours.ips.size(), perfs.ips.size()); ++i) {
    if (!SameFrame(ours.ips[i], perfs.ips[i])) return "frame " + std::to_string(i);
  }
  return "";
}

// True for the file whose kernel wrote MMAP2 records without protection.
bool LacksProtection(const CorpusFile& file) {
  return file.exercises.find("k3.10.0-123") != std::string::npos;
}

// Returns the lines of records other than samples, with runs of blanks replaced by one. Keeps
// protections only if `with_protection`, and the text after the protection only if `with_names`.
std::vector<std::string> RecordLines(const std::vector<std::string>& lines, bool with_protection,
                                     bool with_names) {
  std::vector<std::string> records;
  for (const std::string& line : lines) {
    const size_t mark = line.find("PERF_RECORD_");
    if (mark == std::string::npos && line.rfind("\t\t", 0) != 0) continue;
    std::stringstream words(line);
    std::string record;
    bool is_protection = false, is_behind = false;
    for (std::string word; words >> word;) {
      is_behind |= is_protection && !with_names;
      if (!is_behind && (!is_protection || with_protection))
        record += (record.empty() ? "" : " ") + word;
      is_protection = word.size() > 2 && word.substr(word.size() - 2) == "]:";
    }
    records.push_back(record);
  }
  return records;
}

class ScriptOfCorpus : public testing::Test {
 protected:
  void SetUp() override {
    const std::optional<std::string> directory = CorpusDirectory();
    if (!directory) {
      GTEST_SKIP() << kNoCorpus;
    }
    for (const CorpusFile& file : CorpusFiles(*directory)) {
      const bool traced = file.exercises.find("AUXTRACE") != std::string::npos;
      if (!file.script_fields.empty() && !traced) files_.push_back(file);
    }
    ASSERT_FALSE(files_.empty());
  }

  std::vector<CorpusFile> files_;
};

TEST_F(ScriptOfCorpus, HasEveryFieldOfEverySampleAsPerfPrintsIt) {
  size_t compared = 0;
  for (const CorpusFile& file : files_) {
    SCOPED_TRACE(file.name);
    const auto ours = ParseScript(OurScriptLines(file), file.script_fields);
    const auto perfs = ParseScript(ScriptLines(file), file.script_fields);
    EXPECT_EQ(ours.size(), perfs.size());
    const bool unwound = file.exercises.find("STACK_USER") != std::string::npos;
    size_t differing = 0;
    for (size_t i = 0; i < std::min(perfs.size(), ours.size()); ++i) {
      const std::string difference = Difference(ours[i], perfs[i], unwound);
      if (difference.empty()) continue;
      if (++differing > 3) continue;
      ADD_FAILURE() << "sample " << i << " at " << perfs[i].time << ": " << difference;
    }
    EXPECT_EQ(differing, 0u);
    compared += perfs.size();
  }
  std::printf("compared %zu samples with perf's\n", compared);
}

TEST_F(ScriptOfCorpus, ShowsOtherRecordsAsPerfPrintsThem) {
  size_t compared = 0;
  for (const CorpusFile& file : files_) {
    SCOPED_TRACE(file.name);
    const bool native = file.exercises.rfind("BE", 0) != 0;
    const bool named = !LacksProtection(file);
    const auto ours = RecordLines(OurScriptLines(file), native, named);
    const auto perfs = RecordLines(ScriptLines(file), native, named);
    EXPECT_EQ(ours.size(), perfs.size());
    size_t differing = 0;
    for (size_t i = 0; i < std::min(perfs.size(), ours.size()); ++i) {
      if (ours[i] == perfs[i] || ++differing > 3) continue;
      ADD_FAILURE() << "ours:   " << ours[i] << "\nperf's: " << perfs[i];
    }
    EXPECT_EQ(differing, 0u);
    compared += perfs.size();
  }
  std::printf("compared %zu records with perf's\n", compared);
}

}  // namespace
}  // namespace profiler::conformance
