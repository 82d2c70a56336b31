#include "tests/conformance/corpus.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string_view>

namespace profiler::conformance {
namespace {

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

// Returns the fields of "… .perf61.script.xz(-F comm,pid,tid) …": {"comm", "pid", "tid"}.
std::vector<std::string> ScriptFields(const std::string& golden) {
  constexpr std::string_view kMarker = ".perf61.script.xz(-F ";
  const size_t at = golden.find(kMarker);
  if (at == std::string::npos) return {};
  const size_t begin = at + kMarker.size();
  return Split(golden.substr(begin, golden.find(')', begin) - begin), ',');
}

}  // namespace

std::optional<std::string> CorpusDirectory() {
  if (const char* directory = std::getenv("PROFILER_CORPUS")) return directory;
  std::error_code error;
  const std::filesystem::path here =
      std::filesystem::canonical("tests/conformance/conformance_test.cc", error);
  if (error) return std::nullopt;
  const std::filesystem::path corpus =
      here.parent_path() / ".." / ".." / ".." / "shared" / "corpus";
  if (!std::filesystem::exists(corpus / "MANIFEST.tsv")) return std::nullopt;
  return corpus.lexically_normal().string();
}

std::vector<CorpusFile> CorpusFiles(const std::string& directory) {
  std::vector<CorpusFile> files;
  std::ifstream manifest(directory + "/MANIFEST.tsv");
  std::string line;
  std::getline(manifest, line);
  std::map<std::string, size_t> column;
  for (const std::string& name : Split(line, '\t')) column.emplace(name, column.size());
  while (std::getline(manifest, line)) {
    std::vector<std::string> row = Split(line, '\t');
    row.resize(column.size());
    if (row[column["kind"]] != "perf.data") continue;
    CorpusFile& file = files.emplace_back();
    file.name = row[column["file"]];
    file.path = directory + "/" + file.name;
    file.exercises = row[column["exercises"]];
    file.samples = std::strtoull(row[column["samples"]].c_str(), nullptr, 10);
    file.perf_reads_it = row[column["perf6.1"]] == "ok";
    file.script_fields = ScriptFields(row[column["golden"]]);
  }
  return files;
}

std::map<std::string, uint64_t> RecordCounts(const CorpusFile& file) {
  std::map<std::string, uint64_t> counts;
  std::ifstream stats(file.path + ".perf61.stats");
  for (std::string line; std::getline(stats, line);) {
    // A line such as " SAMPLE events: 1768 (46.6%)". The sections of single events follow, each
    // below "NAME stats:".
    if (line.find(" stats:") != std::string::npos && line.find("Aggregated") != 0) break;
    std::stringstream words(line);
    std::string type, events;
    uint64_t count = 0;
    if (words >> type >> events >> count && events == "events:") counts[type] = count;
  }
  counts.erase("TOTAL");
  return counts;
}

std::vector<std::string> ScriptLines(const CorpusFile& file) {
  const std::string command = "xz -dc '" + file.path + ".perf61.script.xz'";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text;
  char buffer[1 << 16];
  while (const size_t count = fread(buffer, 1, sizeof(buffer), pipe.get())) {
    text.append(buffer, count);
  }
  return Split(text, '\n');
}

}  // namespace profiler::conformance
