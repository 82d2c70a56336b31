#include "tests/fuzz/stored_sections.h"

#include "src/profile/profile_codec.h"
#include "symbolize/names/names_codec.h"

namespace profiler::fuzz {
namespace {

symbolize::NameFacts SomeNames(uint32_t functions) {
  symbolize::NameFacts names;
  symbolize::NameFacts::Image& image = names.images.emplace_back();
  image.path = names.strings.Intern("/bin/a");
  image.build_id.resize(4);
  const StringId file = names.strings.Intern("a.cc");
  for (uint32_t i = 0; i < functions; ++i) {
    const StringId name = names.strings.Intern("_Z1f" + std::to_string(i));
    image.symbols.push_back({name, {i * 256}, 256, i % 2 == 0});
    image.inlined.push_back({name, i == 0 ? symbolize::NameFacts::kNone : i - 1, file, i});
    image.addresses.push_back({.at = FileOffset{i * 256 + 8},
                               .distance = 8,
                               .symbol = i,
                               .inlined = i,
                               .file = file,
                               .line = i});
    image.addresses.push_back(
        {.at = FileOffset{i * 256 + 9}, .reason = symbolize::Reason::kNoSymbol});
    image.instructions.push_back(
        {.at = {i * 256 + 8}, .distance = 8, .symbol = i, .inlined = i, .file = file, .line = i});
    image.instructions.push_back({.at = {i * 256 + 9}, .reason = symbolize::Reason::kNoSymbol});
    image.pieces.push_back({{i * 256}, FileOffset{i * 256}, {std::byte{0x90}, std::byte{0xc3}}});
  }
  return names;
}

}  // namespace

std::string StoredNames(uint32_t functions) { return symbolize::EncodeNames(SomeNames(functions)); }
std::string StoredCode(uint32_t functions) { return symbolize::EncodeCode(SomeNames(functions)); }

std::string StoredProfile(uint32_t samples, uint64_t data_size) {
  profile::Profile profile;
  const StringId name = profile.strings.Intern("a");
  profile.events = {{name, samples, uint64_t{samples} * 100}};
  profile.images = {{.name = name},
                    {.name = name, .long_name = name, .kind = symbolize::ImageKind::kUser}};
  profile.threads = {{.pid = 1, .tid = 1, .comm = name}, {.pid = 1, .tid = 2, .comm = name}};
  profile.slices = profile::TimeSlices::Of(0, 99, 2);
  for (uint32_t i = 0; i < samples; ++i) {
    profile.frames.push_back({.place = FileOffset{i},
                              .mode = profile::Mode::kUser,
                              .image = profile::ImageId{i % 4 == 0 ? 0u : 1u},
                              .ip = RuntimeAddress{i}});
    profile.stacks.push_back({profile::StackId{i - 1}, profile::FrameId{i}});
    profile.rows.push_back({.thread = profile::ThreadId{i % 2},
                            .self = profile::FrameId{i},
                            .stack = profile::StackId{i},
                            .count = 1,
                            .period = 100});
    for (auto& column : profile.columns) column.push_back(i % 2);
  }
  return EncodeProfile(profile, data_size);
}

}  // namespace profiler::fuzz
