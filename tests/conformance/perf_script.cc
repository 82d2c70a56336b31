#include "tests/conformance/perf_script.h"

#include <regex.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <sstream>

namespace profiler::conformance {
namespace {

uint64_t Hex(const std::string& text) { return std::strtoull(text.c_str(), nullptr, 16); }

// Parses a branch "0x40051c/0x400513/P/-/-/0/" or a register "AX:0x1f".
void ParseWord(const std::string& word, ScriptSample* sample) {
  if (word.rfind("0x", 0) == 0 && word.find('/') != std::string::npos) {
    const std::string to = word.substr(word.find('/') + 1);
    sample->branches.emplace_back(Hex(word), Hex(to));
  } else if (const size_t colon = word.find(":0x"); colon != std::string::npos && colon != 0) {
    sample->user_regs.push_back(Hex(word.substr(colon + 1)));
  }
}

bool IsHex(const std::string& word) {
  return !word.empty() && word.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// Parses the fields after "TIME:": [PERIOD] [EVENT:] [ADDR] [IP] and words.
void ParseRest(const std::string& rest, const std::vector<std::string>& fields,
               ScriptSample* sample) {
  const auto has = [&fields](const char* name) {
    return std::find(fields.begin(), fields.end(), name) != fields.end();
  };
  std::stringstream words(rest);
  std::string word;
  if (has("period")) words >> sample->period;
  if (has("event") && words >> word) sample->event = word.substr(0, word.size() - 1);
  if (has("addr") && words >> word) sample->addr = Hex(word);
  if (has("data_src")) words >> word;
  while (words >> word) {
    if (IsHex(word) && sample->ips.empty() && sample->branches.empty()) {
      sample->ips.push_back(Hex(word));
    } else {
      ParseWord(word, sample);
    }
  }
}

// The regular expression of a sample's first line: comm, pid/tid, [cpu], time. It does not use
// std::regex, which takes ten times as long.
class HeaderPattern {
 public:
  HeaderPattern() {
    regcomp(&pattern_,
            "^ *(.*[^ ]) +(-?[0-9]+)/(-?[0-9]+) +(\\[(-?[0-9]+)\\] +)?([0-9]+\\.[0-9]+):(.*)$",
            REG_EXTENDED);
  }
  HeaderPattern(const HeaderPattern&) = delete;
  HeaderPattern& operator=(const HeaderPattern&) = delete;
  ~HeaderPattern() { regfree(&pattern_); }

  // Returns true if the line matches. Then (*groups)[n] is the text in the n-th pair of
  // parentheses; empty if that pair did not match.
  bool Match(const std::string& line, std::vector<std::string>* groups) const {
    regmatch_t matches[8];
    if (regexec(&pattern_, line.c_str(), std::size(matches), matches, 0) != 0) return false;
    groups->clear();
    for (const regmatch_t& match : matches) {
      groups->push_back(match.rm_so < 0 ? "" : line.substr(match.rm_so, match.rm_eo - match.rm_so));
    }
    return true;
  }

 private:
  regex_t pattern_;
};

}  // namespace

std::vector<ScriptSample> ParseScript(const std::vector<std::string>& lines,
                                      const std::vector<std::string>& fields) {
  const HeaderPattern header;
  std::vector<ScriptSample> samples;
  bool in_sample = false;
  for (const std::string& line : lines) {
    std::vector<std::string> match;
    const bool continues = !line.empty() && (line[0] == '\t' || line.rfind(" 0x", 0) == 0 ||
                                             line.rfind(" ABI:", 0) == 0);
    if (!continues && header.Match(line, &match)) {
      in_sample = line.find("PERF_RECORD_") == std::string::npos;
      if (!in_sample) continue;
      ScriptSample& sample = samples.emplace_back();
      sample.pid = std::atoi(match[2].c_str());
      sample.tid = std::atoi(match[3].c_str());
      if (!match[5].empty()) sample.cpu = std::atoi(match[5].c_str());
      sample.time = match[6];
      ParseRest(match[7], fields, &sample);
    } else if (continues && in_sample) {
      std::stringstream words(line);
      std::string word;
      if (line[0] == '\t') {
        if (words >> word) samples.back().ips.push_back(Hex(word));  // the word is an address
        continue;
      }
      while (words >> word) ParseWord(word, &samples.back());
    } else {
      in_sample = false;
    }
  }
  return samples;
}

bool SameFrame(uint64_t ours, uint64_t perfs) {
  constexpr uint64_t kKernel = 1ull << 63, kInPage = 0xfff;
  return ours == perfs || (ours < kKernel && (ours & kInPage) == (perfs & kInPage));
}

std::string NameWithoutGuests(const std::string& name) {
  const size_t end = name.find_last_not_of("HG");
  return name[end] == ':' ? name.substr(0, end) : name;
}

}  // namespace profiler::conformance
