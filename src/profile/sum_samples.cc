#include "src/profile/sum_samples.h"

#include <algorithm>
#include <utility>

#include "src/profile/sums_order.h"

namespace profiler::profile {
namespace {

constexpr uint32_t kNone = SampleSums::kNone;

template <class Id>
uint32_t NumberOf(Id id) {
  return static_cast<uint32_t>(id);
}

// DSO 0 is the unknown one.
uint32_t ImageOf(DsoId dso) { return NumberOf(dso) == 0 ? kNone : NumberOf(dso) - 1; }

SampleSums::Frame SumOf(const Frame& frame) {
  return {.image = ImageOf(frame.dso),
          .mode = static_cast<uint8_t>(frame.mode),
          .return_address = frame.return_address,
          .offset = frame.offset.value,
          .ip = frame.ip.value};
}

}  // namespace

bool AreOf(const SampleSums& sums, size_t events) {
  return sums.events.size() == events &&
         std::all_of(sums.images.begin(), sums.images.end(),
                     [](const auto& image) {
                       return image.kind <= NumberOf(symbolize::ImageKind::kAnonymous);
                     }) &&
         std::all_of(sums.frames.begin(), sums.frames.end(),
                     [](const auto& frame) { return frame.mode <= NumberOf(Mode::kGuestKernel); });
}

void SumUp(const Profile& profile, const ImageTable& images,
           const symbolize::Symbolizer& symbolizer, SampleSums* sums) {
  sums->losses = profile.losses;
  for (const Event& event : profile.events) sums->events.push_back({event.samples, event.period});
  for (uint32_t dso = 1; dso < profile.dsos.size(); ++dso) {
    const symbolize::ImageSpec& image = symbolizer.image(images.ImageOf(DsoId{dso}));
    sums->images.push_back({.kind = static_cast<uint8_t>(image.kind),
                            .pid = image.pid,
                            .path = sums->strings.Intern(image.path),
                            .build_id = image.build_id});
  }
  for (const Thread& thread : profile.threads) {
    sums->threads.push_back(sums->strings.Intern(profile.text(thread.comm)));
  }
  sums->frames.reserve(profile.frames.size());
  for (const Frame& frame : profile.frames) sums->frames.push_back(SumOf(frame));
  sums->stacks = profile.stacks;
  sums->rows = profile.rows;
  PutInOrder(*sums);
}

void AddSums(SampleSums sums, ImageTable& images, Profile& profile) {
  static_cast<LossCounts&>(profile.losses) = sums.losses;
  for (size_t i = 0; i < sums.events.size(); ++i) {
    profile.events[i].samples = sums.events[i].samples;
    profile.events[i].period = sums.events[i].period;
  }
  std::vector<DsoId> dsos;
  for (const SampleSums::Image& image : sums.images) {
    dsos.push_back(images.DsoOf(images.Add({.kind = symbolize::ImageKind{image.kind},
                                            .path = std::string(sums.strings[image.path]),
                                            .build_id = image.build_id,
                                            .pid = image.pid})));
  }
  for (const StringId name : sums.threads) {
    profile.threads.push_back({.comm = profile.strings.Intern(sums.strings[name])});
  }
  profile.frames.ReserveToFill(sums.frames.size());
  for (const SampleSums::Frame& frame : sums.frames) {
    const bool mapped = frame.image != kNone;
    profile.frames.push_back({.dso = mapped ? dsos[frame.image] : images.unknown_dso(),
                              .mode = Mode{frame.mode},
                              .return_address = frame.return_address,
                              .unnamed = mapped ? Unnamed::kNoSymbol : Unnamed::kNoMapping,
                              .offset = FileOffset{frame.offset},
                              .ip = RuntimeAddress{frame.ip}});
  }
  profile.stacks = std::move(sums.stacks);
  profile.rows = std::move(sums.rows);
}

}  // namespace profiler::profile
