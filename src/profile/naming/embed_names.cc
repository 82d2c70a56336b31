#include "src/profile/naming/embed_names.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "src/analysis/unnamed_node.h"
#include "src/analysis/unnamed_python.h"
#include "src/format/perf_data/read/recording.h"

namespace profiler::naming {

absl::StatusOr<Embedded> EmbedNames(perf_data::Writer& file, const std::string& path,
                                    Embedding embedding, const NamingOptions& options,
                                    const NamingProgress& progress) {
  const int fd = file.readable_file();
  if (fd < 0) return absl::FailedPreconditionError(path + ": cannot be read again");
  PROFILER_ASSIGN_OR_RETURN(auto recording, perf_data::Recording::OpenFile(fd, path));
  return EmbedNames(file, CollectNames(*recording, embedding, options, progress));
}

absl::StatusOr<Embedded> EmbedNames(perf_data::Writer& file, const CollectedNames& collected) {
  PROFILER_RETURN_IF_ERROR(collected.reading);
  const std::map<int, std::string> sections = SectionsOf(collected);
  for (const auto& [bit, section] : sections) {
    PROFILER_RETURN_IF_ERROR(file.AppendSection(bit, section));
  }
  const auto text = [](const auto& missing) {
    return missing
               ? absl::StrCat(analysis::MissingText(*missing), ": ", analysis::RemedyText(*missing))
               : "";
  };
  return Embedded{.found = Describe(collected, sections),
                  .missing = text(collected.node),
                  .missing_python = text(collected.python)};
}

}  // namespace profiler::naming
