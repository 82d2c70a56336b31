#include "src/import/open_recording.h"

#include <sys/mman.h>

#include <cerrno>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/byte_reader.h"
#include "src/base/unique_fd.h"
#include "src/import/format.h"
#include "src/import/import.h"
#include "src/import/write_profile.h"
#include "src/perf_data/sections/own_sections.h"

namespace profiler::import {
namespace {

AnswerMaker* answer_maker = nullptr;
std::optional<Format> profile_format;

class ProfileReader final : public perf_data::ForeignReader {
 public:
  bool MayRead(std::span<const std::byte> start) const override {
    return profile_format || RecognizeFile(TextOf(start)).has_value();
  }

  std::string FormatNames() const override { return import::FormatNames(); }

  absl::StatusOr<Imported> Read(std::span<const std::byte> bytes,
                                const std::string& name) override {
    auto imported = Import(bytes, profile_format, name);
    if (!imported.ok()) return Prefixed(absl::StrCat(name, ": "), imported.status());
    Imported result;
    // In memory, so that the converted profile leaves no trace on a disk.
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
};

}  // namespace

void SetAnswerMaker(AnswerMaker* maker) { answer_maker = maker; }

void SetProfileFormat(Format format) { profile_format = format; }

absl::StatusOr<std::unique_ptr<perf_data::Recording>> OpenRecording(const std::string& path) {
  if (answer_maker != nullptr && answer_maker->IsQuestion(path)) {
    PROFILER_ASSIGN_OR_RETURN(const UniqueFd recording, answer_maker->Answer(path));
    return perf_data::Recording::OpenFile(recording.get(), path);
  }
  ProfileReader reader;
  return perf_data::Recording::Open(path, &reader);
}

}  // namespace profiler::import
