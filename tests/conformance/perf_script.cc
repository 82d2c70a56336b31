#include "tests/conformance/perf_script.h"

#include <algorithm>
#include <cstdlib>
#include <regex>
#include <sstream>

namespace profiler::conformance {
namespace {

uint64_t Hex(const std::string& text) { return std::strtoull(text.c_str(), nullptr, 16); }

// "0x40051c/0x400513/P/-/-/0/" and "AX:0x1f" words.
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

// What follows "TIME:": [PERIOD] [EVENT:] [ADDR] [IP] and words.
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

}  // namespace

std::vector<ScriptSample> ParseScript(const std::vector<std::string>& lines,
                                      const std::vector<std::string>& fields) {
  //                       comm   pid    tid       cpu                time
  const std::regex header(R"(^\s*(.*?)\s+(-?\d+)/(-?\d+)\s+(?:\[(-?\d+)\]\s+)?(\d+\.\d+):(.*)$)");
  std::vector<ScriptSample> samples;
  bool in_sample = false;
  for (const std::string& line : lines) {
    std::smatch match;
    const bool continues = !line.empty() && (line[0] == '\t' || line.rfind(" 0x", 0) == 0 ||
                                             line.rfind(" ABI:", 0) == 0);
    if (!continues && std::regex_match(line, match, header)) {
      in_sample = line.find("PERF_RECORD_") == std::string::npos;
      if (!in_sample) continue;
      ScriptSample& sample = samples.emplace_back();
      sample.pid = std::atoi(match[2].str().c_str());
      sample.tid = std::atoi(match[3].str().c_str());
      if (match[4].matched) sample.cpu = std::atoi(match[4].str().c_str());
      sample.time = match[5].str();
      ParseRest(match[6].str(), fields, &sample);
    } else if (continues && in_sample) {
      std::stringstream words(line);
      std::string word;
      if (line[0] == '\t') {
        if (words >> word) samples.back().ips.push_back(Hex(word));  // a symbol may follow
        continue;
      }
      while (words >> word) ParseWord(word, &samples.back());
    } else {
      in_sample = false;
    }
  }
  return samples;
}

}  // namespace profiler::conformance
