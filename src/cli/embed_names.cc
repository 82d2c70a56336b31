#include "src/cli/embed_names.h"

#include <map>

#include "src/perf_data/read/recording.h"

namespace profiler::cli {

absl::StatusOr<std::string> EmbedNames(perf_data::Writer& file, const std::string& path,
                                       naming::Embedding embedding,
                                       const naming::NamingOptions& options,
                                       const naming::NamingProgress& progress) {
  const int fd = file.readable_file();
  if (fd < 0) return absl::FailedPreconditionError(path + ": cannot be read again");
  PROFILER_ASSIGN_OR_RETURN(auto recording, perf_data::Recording::OpenFile(fd, path));
  return EmbedNames(file, naming::CollectNames(*recording, embedding, options, progress));
}

absl::StatusOr<std::string> EmbedNames(perf_data::Writer& file,
                                       const naming::CollectedNames& collected) {
  PROFILER_RETURN_IF_ERROR(collected.reading);
  const std::map<int, std::string> sections = naming::SectionsOf(collected);
  for (const auto& [bit, section] : sections) {
    PROFILER_RETURN_IF_ERROR(file.AppendSection(bit, section));
  }
  return naming::Describe(collected, sections);
}

}  // namespace profiler::cli
