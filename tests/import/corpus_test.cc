// Imports the texts and profiles of the corpus. Other programs wrote these files. Compares the
// imported profiles with golden outputs of those programs.

#include "tests/conformance/corpus.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "src/importers/import.h"
#include "src/importers/testing/views.h"

namespace profiler::importers {
namespace {

std::string ReadText(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

// Returns the weight of each stack: the sum of the weights of all lines with that stack.
using Stacks = std::map<std::string, uint64_t>;
Stacks StacksOf(const std::string& folded) {
  Stacks stacks;
  std::istringstream lines(folded);
  for (std::string line; std::getline(lines, line);) {
    const size_t space = line.rfind(' ');
    stacks[line.substr(0, space)] += std::stoull(line.substr(space + 1));
  }
  return stacks;
}

naming::LoadOptions WithNamesAsTheyAre() {
  naming::LoadOptions options;
  options.naming.demangle = false;
  return options;
}

Stacks Imported(const std::string& text) {
  return StacksOf(CollapsedOf(Load(FileWith(text), WithNamesAsTheyAre()).profile));
}

// Removes the last sample if no empty line follows it, because stackcollapse-perf.pl ignores a
// sample without an empty line.
std::string WithoutUnfinishedSample(const std::string& text) {
  if (text.ends_with("\n\n")) return text;
  return text.substr(0, text.rfind("\n\n") + 2);
}

class CorpusTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto directory = conformance::CorpusDirectory();
    if (!directory) GTEST_SKIP() << conformance::kNoCorpus;
    directory_ = *directory;
  }

  std::string directory_;
};

// Some forms of the golden text add marks to names, or numbers to the process. The test removes
// the marks and numbers before it compares. It skips the form with addresses in names (--addrs),
// because this profiler cannot write that form.
TEST_F(CorpusTest, TextOfPerfScriptFoldsAsStackcollapseFoldsIt) {
  const std::filesystem::path folder = directory_ + "/text/flamegraph";
  const std::regex marks("_\\[[kj]\\]"), ids("^([^;]*)-(\\?|[0-9]+)(/[0-9]+)?(;| )");
  size_t compared = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().stem();
    if (!name.starts_with("perf-")) continue;
    const Stacks imported = Imported(WithoutUnfinishedSample(ReadText(entry.path())));
    for (const char* const form : {"jit", "kernel", "all", "pid", "tid"}) {
      const bool has_ids = std::string_view(form) == "pid" || std::string_view(form) == "tid";
      // With --pid and --tid the process is called java-PID. stackcollapse-perf.pl does not
      // recognise it as java, and so does not tidy its names.
      if (has_ids && name.starts_with("perf-java")) continue;
      const std::string golden =
          ReadText(folder / "results" / (name + "-collapsed-" + form + ".txt"));
      std::string plain = std::regex_replace(golden, marks, "");
      if (has_ids) {
        std::istringstream lines(plain);
        plain.clear();
        for (std::string line; std::getline(lines, line);) {
          plain += std::regex_replace(line, ids, "$1$4") + "\n";
        }
      }
      EXPECT_EQ(imported, StacksOf(plain)) << name << " --" << form;
      ++compared;
    }
  }
  EXPECT_EQ(compared, 41);
}

TEST_F(CorpusTest, TextOfPerfScriptFoldsAsInfernoFoldsIt) {
  const std::string folder = directory_ + "/text/inferno/collapse-perf/";
  const std::regex marks("_\\[[kj]\\]");
  for (const std::string name : {"go-stacks", "java-inline", "sourcepawn-jitdump"}) {
    const std::string golden = ReadText(folder + "results/" + name + "-collapsed" +
                                        (name == "sourcepawn-jitdump" ? "-jit" : "") + ".txt");
    EXPECT_EQ(Imported(ReadText(folder + name + ".txt")),
              StacksOf(std::regex_replace(golden, marks, "")))
        << name;
  }
}

TEST_F(CorpusTest, EveryOtherTextOfPerfScriptIsRead) {
  for (const char* const folder : {"/text/speedscope", "/text/perfview"}) {
    for (const auto& entry : std::filesystem::directory_iterator(directory_ + folder)) {
      const auto loaded = Load(entry.path());
      EXPECT_EQ(loaded.recording->warnings(), std::vector<std::string>{}) << entry.path();
      EXPECT_FALSE(loaded.profile.rows.empty()) << entry.path();
    }
  }
}

TEST_F(CorpusTest, FoldedStacksFoldToWhatTheyAre) {
  for (const auto& entry :
       std::filesystem::directory_iterator(directory_ + "/text/flamegraph/results")) {
    const std::string text = ReadText(entry.path());
    const auto loaded = Load(entry.path(), WithNamesAsTheyAre());
    EXPECT_EQ(StacksOf(FoldedOf(loaded.profile)), StacksOf(text)) << entry.path();
  }
}

// Returns the samples that pprof's own reader printed. A sample is a text: two values, then the
// names or addresses of the frames, leaf first.
std::multiset<std::string> SamplesOfGolden(const std::string& text) {
  std::map<std::string, std::string> locations;
  const std::regex location("^ *([0-9]+): (0x[0-9a-f]+)( M=[0-9]+)? *([^ ]*).*$");
  const std::regex sample("^ +([0-9]+) +([0-9]+): ([0-9 ]*)$");
  bool in_locations = false;
  std::vector<std::smatch> samples;
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  for (const std::string& line : lines) {
    std::smatch match;
    if (line.starts_with("Locations")) in_locations = true;
    if (line.starts_with("Mappings")) in_locations = false;
    if (in_locations && std::regex_match(line, match, location)) {
      const std::string name = match[4];
      locations[match[1]] = name.empty() ? match[2].str() : name;
    }
  }
  std::multiset<std::string> all;
  for (const std::string& line : lines) {
    std::smatch match;
    if (line.starts_with("Locations")) break;
    if (!std::regex_match(line, match, sample)) continue;
    std::string told = match[1].str() + " " + match[2].str() + ":";
    std::istringstream numbers(match[3].str());
    for (std::string number; numbers >> number;) told += " " + locations[number];
    if (match[1] != "0") all.insert(told);  // a line with count 0 is not a sample
  }
  return all;
}

// Returns the samples of a profile in the form of SamplesOfGolden(). `count` and `weight` are
// the names of the events whose sums are the two values.
std::multiset<std::string> SamplesOf(const profile::Profile& profile, const std::string& count,
                                     const std::string& weight) {
  std::map<std::string, std::vector<uint64_t>> by_stack[2];
  for (const profile::Row& row : profile.rows) {
    std::string stack;
    for (auto at = row.stack; at != profile::kNoStack; at = profile[at].parent) {
      const profile::Frame& frame = profile[profile[at].frame];
      const auto lines = profile.LinesOf(frame);
      char address[32];
      std::snprintf(address, sizeof address, "0x%lx", frame.ip.value);
      stack += " ";
      stack += lines.empty() ? address : std::string(profile.text(profile[lines[0].symbol].name));
    }
    const std::string event(profile.text(profile[row.event].name));
    if (count == weight) {
      by_stack[0][stack].push_back(row.count);
      by_stack[1][stack].push_back(row.period);
    } else {
      by_stack[event == weight][stack].push_back(row.period);
    }
  }
  std::multiset<std::string> all;
  for (const auto& [stack, counts] : by_stack[0]) {
    const auto& weights = by_stack[1][stack];
    for (size_t i = 0; i < counts.size(); ++i) {
      all.insert(std::to_string(counts[i]) + " " + std::to_string(weights[i]) + ":" + stack);
    }
  }
  return all;
}

// Merges samples with equal stacks into one sample, because a profile has one row for each stack.
std::multiset<std::string> Merged(const std::multiset<std::string>& samples) {
  std::map<std::string, std::pair<uint64_t, uint64_t>> sums;
  for (const std::string& sample : samples) {
    std::istringstream in(sample);
    uint64_t count = 0, weight = 0;
    in >> count >> weight;
    auto& sum = sums[sample.substr(sample.find(':'))];
    sum.first += count;
    sum.second += weight;
  }
  std::multiset<std::string> all;
  for (const auto& [stack, sum] : sums) {
    all.insert(std::to_string(sum.first) + " " + std::to_string(sum.second) + stack);
  }
  return all;
}

TEST_F(CorpusTest, LegacyProfilesHaveTheSamplesThatPprofReads) {
  const std::string folder = directory_ + "/pprof/profile/testdata/";
  for (const std::string name : {"cppbench.cpu", "gobench.cpu", "java.cpu", "cppbench.heap"}) {
    const std::string bytes = ReadText(folder + name);
    auto imported = Import(std::as_bytes(std::span(bytes.data(), bytes.size())), std::nullopt);
    ASSERT_TRUE(imported.ok()) << name << imported.status();
    const bool is_heap = name == "cppbench.heap";
    EXPECT_EQ(imported->format, Format::kLegacyPprof);
    EXPECT_EQ(Merged(SamplesOf(imported->profile, is_heap ? "objects" : "cpu",
                               is_heap ? "space" : "cpu")),
              Merged(SamplesOfGolden(ReadText(folder + name + ".string"))))
        << name;
  }
}

}  // namespace
}  // namespace profiler::importers
