// The corpus of recordings by others: MANIFEST.tsv and the files that it lists.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace profiler::conformance {

// One row of MANIFEST.tsv whose kind is perf.data.
struct CorpusFile {
  std::string path;       // absolute
  std::string name;       // as in the manifest
  std::string exercises;  // "LE; file; 1ev:hw; …"
  uint64_t samples = 0;
  bool perf_reads_it = false;              // or a copy that was made readable for it
  std::vector<std::string> script_fields;  // of the golden script; empty: there is none
};

// $PROFILER_CORPUS, else ../shared/corpus beside the source tree; nothing where neither exists.
std::optional<std::string> CorpusDirectory();

// Why a test that needs the corpus is skipped.
inline constexpr char kNoCorpus[] =
    "no corpus of recordings: set PROFILER_CORPUS to a folder with one (its MANIFEST.tsv lists the "
    "files), or put it at ../shared/corpus";

// The recordings of the corpus, in the order of its manifest.
std::vector<CorpusFile> CorpusFiles(const std::string& directory);

// FILE.perf61.stats: records by type ("SAMPLE", "MMAP2", …).
std::map<std::string, uint64_t> RecordCounts(const CorpusFile& file);

// FILE.perf61.script.xz, decompressed, by line.
std::vector<std::string> ScriptLines(const CorpusFile& file);

}  // namespace profiler::conformance
