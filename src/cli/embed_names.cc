#include "src/cli/embed_names.h"

#include <map>

#include "src/perf_data/read/recording.h"

namespace profiler::cli {

absl::StatusOr<std::string> EmbedNames(const std::string& path, naming::Embedding embedding,
                                       const naming::NamingOptions& options,
                                       const naming::NamingProgress& progress,
                                       const AppendSection& append) {
  PROFILER_ASSIGN_OR_RETURN(auto recording, perf_data::Recording::Open(path));
  return EmbedNames(naming::CollectNames(*recording, embedding, options, progress), append);
}

absl::StatusOr<std::string> EmbedNames(const naming::CollectedNames& collected,
                                       const AppendSection& append) {
  PROFILER_RETURN_IF_ERROR(collected.reading);
  const std::map<int, std::string> sections = naming::SectionsOf(collected);
  for (const auto& [bit, section] : sections) {
    PROFILER_RETURN_IF_ERROR(append(bit, section));
  }
  return naming::Describe(collected, sections);
}

}  // namespace profiler::cli
