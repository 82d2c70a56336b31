#include "src/profile/naming/live_process.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "src/format/perf_event/attr.h"
#include "src/format/perf_event/codec.h"
#include "src/machine/procfs/process_file.h"
#include "src/machine/procfs/synthesizer.h"
#include "src/profile/image_spec.h"
#include "symbolize/address_space.h"

namespace profiler::naming {

LiveProcess::LiveProcess(pid_t pid, symbolize::Symbolizer& symbolizer)
    : pid_(static_cast<uint32_t>(pid)),
      symbolizer_(&symbolizer),
      mappings_(std::make_unique<profile::ProfileBuilder>(symbolizer)) {}

// Reads a process by making the records with which a recording of it would begin.
absl::StatusOr<LiveProcess> LiveProcess::Read(pid_t pid, symbolize::Symbolizer& symbolizer) {
  std::string maps;
  const absl::Status readable =
      procfs::ReadOfProcess({}, static_cast<uint32_t>(pid), "maps", &maps, /*most=*/1);
  if (absl::IsNotFound(readable)) return absl::NotFoundError(absl::StrCat("no process ", pid));
  PROFILER_RETURN_IF_ERROR(readable);
  const perf_event::Attr attr;
  procfs::SynthesizerOptions options;
  options.layout = perf_event::RecordLayout(attr);
  options.build_ids = true;
  procfs::Synthesizer synthesizer(options);
  synthesizer.AddKernel();
  PROFILER_RETURN_IF_ERROR(synthesizer.AddProcess(pid));
  LiveProcess process(pid, symbolizer);
  process.mappings_->AddEvent("", attr);
  std::span<const std::byte> rest = synthesizer.records();
  while (!rest.empty()) {
    const perf_event::RawRecord record(rest);
    const size_t size = record.header().size;
    process.mappings_->Add(perf_event::RawRecord(rest.first(size)), 0, 0);
    rest = rest.subspan(size);
  }
  return process;
}

symbolize::Naming LiveProcess::Name(uint64_t address) {
  const profile::FrameId id = mappings_->FrameAt(pid_, address);
  if (id == profile::kNoFrame) return {};
  const profile::Profile& profile = mappings_->profile();
  const profile::Frame& frame = profile[id];
  const auto spec = profile::SpecOf(profile, profile[frame.image]);
  if (!spec) return {};
  // The builder has added this image already. A second look-up returns facts that a frame does not
  // keep.
  return symbolizer_->Name(symbolizer_->AddImage(*spec), frame.place);
}

}  // namespace profiler::naming
