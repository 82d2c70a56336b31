#include "src/profile/user_unwinder.h"

#include <span>
#include <utility>

#include "src/format/perf_event/abi.h"
#include "symbolize/files/debug_files.h"
#include "symbolize/image_file.h"

namespace profiler::profile {
namespace {

using perf_event::U64Array;
using symbolize::ImageKind;
using symbolize::ImageSpec;

// More frames than fit into the largest stack copy.
constexpr uint32_t kMaxFrames = 1 << 13;

}  // namespace

UserUnwinder::UserUnwinder(const symbolize::Images& images, symbolize::AddressSpaces& spaces,
                           symbolize::Architecture architecture, symbolize::SymbolizerOptions files)
    : specs_(images),
      spaces_(spaces),
      files_(std::move(files)),
      architecture_(architecture),
      images_([this](symbolize::ImageId image, uint32_t, const symbolize::Mapping&) {
        return Open(image);
      }),
      space_(images_) {}

std::optional<symbolize::UnwindImageFiles> UserUnwinder::Open(symbolize::ImageId image) const {
  const ImageSpec& spec = specs_.image(image);
  symbolize::OpenedImage opened;
  if (spec.kind == ImageKind::kUser) {
    opened = symbolize::OpenImage(spec, files_);
  } else if (spec.kind == ImageKind::kVdso && architecture_ == symbolize::kNativeArchitecture) {
    opened = symbolize::OpenVdso(spec, files_);
  }
  if (!opened.file) return std::nullopt;
  symbolize::UnwindImageFiles files{*std::move(opened.file), std::nullopt};
  if (spec.kind == ImageKind::kUser) files.debug = symbolize::OpenDebugFile(files.image, files_);
  return files;
}

std::optional<RuntimeAddress> UserUnwinder::UserIpOf(const perf_event::Sample& sample) const {
  if (sample.user_regs.abi != perf_event::kRegsAbiNone) {
    const auto registers = symbolize::RegisterSet::FromPerf(
        architecture_, sample.user_regs.abi, sample.user_regs.mask, sample.user_regs.values);
    if (registers) return RuntimeAddress{registers->pc()};
  }
  const U64Array chain = sample.callchain;
  for (size_t i = 0; i + 1 < chain.size(); ++i) {
    if (chain[i] == perf_event::kContextUser) return RuntimeAddress{chain[i + 1]};
  }
  return std::nullopt;
}

UserUnwinder::Chain UserUnwinder::ChainOf(const perf_event::Sample& sample, uint32_t stack_bytes,
                                          bool has_stack) {
  if (sample.user_stack.empty() || !has_stack) {
    const bool had_user_part = sample.user_regs.abi != perf_event::kRegsAbiNone;
    if (had_user_part && sample.user_stack_size != 0) tally_.CountWithoutStack();
    return {sample.callchain};
  }
  const auto registers = symbolize::RegisterSet::FromPerf(
      architecture_, sample.user_regs.abi, sample.user_regs.mask, sample.user_regs.values);
  if (!registers) return {sample.callchain};
  space_.Enter(sample.pid, spaces_.Process(sample.pid));
  // If the kernel copied less than requested, it copied the whole stack.
  const bool reaches_end = sample.user_stack.size() < sample.user_stack_size;
  unwinder_.Unwind(*registers, {registers->sp(), sample.user_stack, reaches_end}, space_,
                   {.max_frames = kMaxFrames}, &unwound_);
  const bool copied_short = sample.user_stack.size() < stack_bytes;
  tally_.Count(unwound_, copied_short);

  chain_.clear();
  const U64Array outside = perf_event::WithoutUserPart(sample.callchain);
  for (size_t i = 0; i < outside.size(); ++i) chain_.push_back(outside[i]);
  chain_.push_back(perf_event::kContextUser);
  for (const symbolize::UnwoundFrame& frame : unwound_.frames) {
    chain_.push_back(frame.instruction().value);
  }
  if (!unwound_.whole()) {
    chain_.push_back(symbolize::CutMarkOf(symbolize::EndOf(unwound_, copied_short)));
  }
  return {U64Array(std::as_bytes(std::span(chain_))), true};
}

ChainQuality UserUnwinder::Quality() const {
  return tally_.Quality(
      [this](uint32_t image) { return specs_.image(symbolize::ImageId(image)).path; });
}

}  // namespace profiler::profile
