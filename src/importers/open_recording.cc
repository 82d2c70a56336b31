#include "src/importers/open_recording.h"

#include <sys/mman.h>

#include <cerrno>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/byte_reader.h"
#include "src/base/unique_fd.h"
#include "src/format/perf_data/sections/own_sections.h"
#include "src/importers/format.h"
#include "src/importers/import.h"
#include "src/importers/write_profile.h"

namespace profiler::importers {
namespace {

class ProfileReader final : public perf_data::ForeignReader {
 public:
  explicit ProfileReader(std::optional<Format> format) : format_(format) {}

  bool MayRead(std::span<const std::byte> start) const override {
    return format_ || RecognizeFile(TextOf(start)).has_value();
  }

  std::string FormatNames() const override { return importers::FormatNames(); }

  absl::StatusOr<Imported> Read(std::span<const std::byte> bytes,
                                const std::string& name) override {
    auto imported = Import(bytes, format_, name);
    if (!imported.ok()) return Prefixed(absl::StrCat(name, ": "), imported.status());
    Imported result;
    // The recording lies in memory, so that the converted profile leaves no trace on a disk.
    result.recording = UniqueFd(memfd_create("perf.data", MFD_CLOEXEC));
    if (!result.recording.valid()) return ErrnoStatus(errno, "no memory for a recording");
    const std::string path = absl::StrCat("/proc/self/fd/", result.recording.get());
    WriteProfileOptions options;
    options.most_recorded = MostRecordedOf(imported->input);
    SetImported(name, imported->format, &options.features);
    auto written = WriteProfile(imported->profile, path, options);
    if (!written.ok()) return Prefixed(absl::StrCat(name, ": "), written.status());
    result.warnings = std::move(imported->profile.losses.warnings);
    for (std::string& warning : written->warnings) result.warnings.push_back(std::move(warning));
    return result;
  }

 private:
  const std::optional<Format> format_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<perf_data::Recording>> OpenRecording(const std::string& path,
                                                                    const OpenOptions& options) {
  if (options.source != nullptr && options.source->IsQuestion(path)) {
    PROFILER_ASSIGN_OR_RETURN(const UniqueFd recording, options.source->Answer(path));
    return perf_data::Recording::OpenFile(recording.get(), path);
  }
  ProfileReader reader(options.format);
  return perf_data::Recording::Open(path, &reader);
}

}  // namespace profiler::importers
