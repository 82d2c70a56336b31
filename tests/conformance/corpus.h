// Reads the manifest of the corpus: recordings by other programs, in the folder of MANIFEST.tsv.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace profiler::conformance {

// One row of MANIFEST.tsv whose kind is perf.data.
struct CorpusFile {
  std::string path;       // absolute path
  std::string name;       // the file's name in the manifest
  std::string exercises;  // features of the file: "LE; file; 1ev:hw; …"
  uint64_t samples = 0;
  bool perf_reads_it = false;              // True if perf reads the file or a repaired copy
  std::vector<std::string> script_fields;  // fields of the golden script; empty without script
};

// Returns $PROFILER_CORPUS, or ../shared/corpus beside the source tree; nothing if neither exists.
std::optional<std::string> CorpusDirectory();

// Message for tests that are skipped because the corpus is missing.
inline constexpr char kNoCorpus[] =
    "no corpus of recordings: set PROFILER_CORPUS to a folder with one (its MANIFEST.tsv lists the "
    "files), or put it at ../shared/corpus";

// Returns the recordings of the corpus, in the order of its manifest.
std::vector<CorpusFile> CorpusFiles(const std::string& directory);

// Returns the number of records of each type ("SAMPLE", "MMAP2", …), read from FILE.perf61.stats.
std::map<std::string, uint64_t> RecordCounts(const CorpusFile& file);

// Returns the lines of FILE.perf61.script.xz, decompressed.
std::vector<std::string> ScriptLines(const CorpusFile& file);

}  // namespace profiler::conformance
