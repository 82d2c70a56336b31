// Recordings of up to 64 MB, made by attackers. The cost of reading may grow in proportion to a
// recording's size, and no faster.

#include <unistd.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "src/base/byte_reader.h"
#include "src/format/perf_data/format/perf_data_format.h"
#include "src/format/perf_data/testing/recording_builder.h"
#include "src/format/perf_data/write/writer.h"
#include "src/format/perf_event/testing/record_builder.h"
#include "symbolize/names/facts_builder.h"
#include "symbolize/names/names_codec.h"
#include "tests/hostile/compressed.h"
#include "tests/hostile/scene.h"

namespace profiler::tests {
namespace {

using perf_data::Features;
using perf_event::RecordBuilder;

constexpr uint32_t kPid = 7;
constexpr char kImage[] = "/evil/image";

// Writes a recording with one event, whose id is 1. `put` adds the records.
template <class Put>
void WriteRecording(const std::string& path, Put put, const Features& features = {}) {
  const perf_event::Attr attr = perf_data::UsualAttr();
  const auto writer = perf_data::Writer::Create(path, {{attr, "cpu-clock", {1}}}, {});
  ASSERT_TRUE(writer.ok()) << writer.status();
  RecordBuilder records(attr);
  records.Id(1).At(1).By(kPid, kPid).Comm("evil").Mmap2(0x1000, 0x100000, 0x1000, kImage);
  records.At(2).Period(1000).Sample(0x2000, {perf_event::kContextUser, 0x2000, 0x3000});
  put(records);
  ASSERT_TRUE(perf_data::AppendAll(**writer, records).ok());
  ASSERT_TRUE((*writer)->Finish(features).ok());
}

template <class Put>
auto Records(Put put) {
  return [put](Scene&, const std::string& path) { WriteRecording(path, put); };
}

// Returns a case whose recording is valid except for the bytes that `lie` changes.
template <class Lie>
auto Lying(Lie lie) {
  return [lie](Scene& scene, const std::string& path) {
    WriteRecording(
        path,
        [](RecordBuilder& records) {
          for (uint64_t time = 3; time < 1000; ++time) records.At(time).Sample(0x2000 + time);
        },
        perf_data::UsualFeatures());
    const std::vector<std::byte> bytes = perf_data::ReadFile(path);
    std::string text(TextOf(bytes));
    lie(text);
    scene.Write(path, text);
  };
}

void Put64(std::string& text, size_t at, uint64_t value) {
  ASSERT_LE(at + sizeof(value), text.size());
  std::memcpy(text.data() + at, &value, sizeof(value));
}

uint64_t Get64(const std::string& text, size_t at) {
  uint64_t value = 0;
  std::memcpy(&value, text.data() + at, sizeof(value));
  return value;
}

// Returns the offset of the feature table, which follows the records.
size_t FeatureTable(const std::string& text) { return Get64(text, 40) + Get64(text, 48); }

// Returns a stream that contains `content` as COMPRESSED records, `times` times.
std::string CompressedStream(const std::string& content, int times) {
  const perf_event::Attr attr = perf_data::UsualAttr();
  std::vector<std::byte> stream = perf_data::StreamOf({{attr, "cpu-clock", {1}}}, {});
  Features features;
  std::string compression(20, '\0');
  const uint32_t fields[] = {1, 1, 1, 1, 0xffffffff};
  std::memcpy(compression.data(), fields, sizeof(fields));
  std::string body(8, '\0');
  body[0] = static_cast<char>(perf_data::kFeatureCompressed);
  perf_data::AddRecord(perf_event::kRecordHeaderFeature, body + compression, &stream);
  for (int i = 0; i < times; ++i) {
    for (size_t at = 0; at < content.size(); at += 60'000) {
      perf_data::AddRecord(perf_event::kRecordCompressed, content.substr(at, 60'000), &stream);
    }
  }
  return std::string(TextOf(stream));
}

// ---- names in the recording

std::string NamesOf(int addresses, int inlined) {
  using symbolize::AddressFacts;
  symbolize::NameFactsBuilder names;
  const symbolize::ImageId image{0};
  names.AddImage(
      image, {.kind = symbolize::ImageKind::kUser, .path = kImage, .build_id = {}, .pid = kPid});
  std::vector<std::string> texts;
  for (int i = 0; i < inlined; ++i) texts.push_back("evil_inlined_" + std::to_string(i));
  for (int i = 0; i < addresses; ++i) {
    std::vector<AddressFacts::Inlined> calls;
    for (const std::string& text : texts) calls.push_back({.name = text, .at = {"evil.cc", 7, 1}});
    AddressFacts facts;
    facts.reason = symbolize::Reason::kNamed;
    facts.function = AddressFacts::Function{.name = "evil", .start = {0x1000}, .size = 0x100000};
    facts.inlined = calls;
    names.AddAddress(image, CodePlace(FileOffset{0x2000 + static_cast<uint64_t>(i)}), facts);
  }
  return symbolize::EncodeNames(names.Take(/*has_lines=*/true, /*is_complete=*/true));
}

// Call chains of 127 addresses in random order, each with 511 inlined calls.
void InlinedCallsWithoutEnd(Scene&, const std::string& path) {
  constexpr int kAddresses = 127;
  Features features;
  features.other[perf_data::kFeatureNames] = NamesOf(kAddresses, 511);
  WriteRecording(
      path,
      [](RecordBuilder& records) {
        std::mt19937 random(7);
        for (uint64_t time = 3; time < 1'000; ++time) {
          std::vector<uint64_t> chain = {perf_event::kContextUser};
          for (int i = 0; i < kAddresses; ++i) chain.push_back(0x2000 + random() % kAddresses);
          records.At(time).Sample(chain[1], chain);
        }
      },
      features);
}

auto WithSection(int feature, std::string bytes) {
  return [feature, bytes = std::move(bytes)](Scene&, const std::string& path) {
    Features features;
    features.other[feature] = bytes;
    WriteRecording(
        path, [](RecordBuilder&) {}, features);
  };
}

// Names that are valid, except that all counts and sizes in their header exceed the memory.
void NamesOfAllMemory(Scene& scene, const std::string& path) {
  std::string names = NamesOf(20, 20);
  for (size_t i = 0; i < std::min<size_t>(names.size(), 24); ++i) names[i] = '\xff';
  WithSection(perf_data::kFeatureNames, names)(scene, path);
}

// ---- records

void ManyEvents(Scene&, const std::string& path) {
  const perf_event::Attr attr = perf_data::UsualAttr();
  std::vector<perf_data::EventToWrite> events;
  for (uint64_t id = 1; id <= 100'000; ++id)
    events.push_back({attr, "evil-" + std::to_string(id), {id}});
  const auto writer = perf_data::Writer::Create(path, events, {});
  ASSERT_TRUE(writer.ok()) << writer.status();
  RecordBuilder records(attr);
  records.Id(1).At(1).By(kPid, kPid).Comm("evil");
  for (uint64_t id = 1; id <= 100'000; ++id) records.Id(id).At(id).Sample(0x2000);
  ASSERT_TRUE(perf_data::AppendAll(**writer, records).ok());
  ASSERT_TRUE((*writer)->Finish({}).ok());
}

void Overlaps(RecordBuilder& records) {
  for (uint64_t i = 0; i < 100'000; ++i) {
    records.At(3 + i).Mmap2(0x1000 + i * 0x1000, 0x100000000, 0, kImage + std::to_string(i));
    records.Sample(0x2000 + i * 0x1000);
  }
}

void OverlapsFromWithin(RecordBuilder& records) {
  records.At(3).Mmap2(0, ~uint64_t{0}, 0, kImage);
  for (uint64_t i = 0; i < 100'000; ++i) {
    records.At(4 + i).Mmap2(0x10000 + i * 0x2000, 0x1000, 0, kImage);
  }
  // Each fork copies all mappings of the parent.
  for (uint32_t i = 0; i < 20'000; ++i) records.Fork(100 + i, 100 + i);
}

void ForksInACircle(RecordBuilder& records) {
  for (uint64_t i = 0; i < 200'000; ++i) {
    const auto pid = static_cast<uint32_t>(i % 3);
    records.At(3 + i).By(pid, pid).Fork((pid + 1) % 3, (pid + 1) % 3).Fork(pid, pid);
    records.By(pid, pid).Sample(0x2000);
  }
}

void EndsBeforeBeginnings(RecordBuilder& records) {
  for (uint32_t i = 0; i < 100'000; ++i) {
    records.At(3 + i).By(i, i).Exit().Exit().Sample(0x2000);
    records.Comm("evil", true).By(kPid, kPid).Fork(i, i).Exit().Fork(~0u, ~0u);
  }
}

void TimesOfAllKinds(RecordBuilder& records) {
  for (const uint64_t time : {uint64_t{0}, ~uint64_t{0}, uint64_t{1} << 63, uint64_t{3}}) {
    for (const uint64_t period : {uint64_t{0}, ~uint64_t{0}, uint64_t{1}}) {
      for (int i = 0; i < 1000; ++i) records.At(time).Period(period).Sample(0x2000);
    }
  }
}

void OffsetsThatOverflow(RecordBuilder& records) {
  const uint64_t most = ~uint64_t{0};
  records.At(3).Mmap2(0x100000, 0x100000, most - 0x10, kImage).Sample(0x180000);
  records.Mmap2(most - 0x1000, 0x2000, most, kImage).Sample(most).Sample(most - 1);
  records.Mmap2(0, most, most, kImage).Sample(0).Sample(most);
  records.Mmap2(0x1000, 0, 0x1000, kImage).Sample(0x1000);
}

void Deep(RecordBuilder& records) {
  std::vector<uint64_t> chain = {perf_event::kContextUser};
  for (uint64_t i = 0; i < 8000; ++i) chain.push_back(0x2000 + i);
  for (uint64_t time = 3; time < 300; ++time) {
    std::rotate(chain.begin() + 1, chain.begin() + 8, chain.end());
    records.At(time).Sample(chain[1], chain);
  }
}

void MarkersInChains(RecordBuilder& records) {
  std::vector<uint64_t> chain;
  for (uint64_t i = 0; i < 8000; ++i) chain.push_back(~uint64_t{0} - i % 5000);
  for (uint64_t time = 3; time < 300; ++time) records.At(time).Sample(0x2000, chain);
}

void Names(RecordBuilder& records) {
  for (const char* const name : {"\033[2J\n\revil", "\xff\xfe", "", "a;b c 5\nmain 7"}) {
    records.At(3).Comm(name).Mmap2(0x1000, 0x1000, 0, std::string("/\033[2J\n") + name);
    records.Sample(0x1500);
  }
}

void ManyThreads(RecordBuilder& records) {
  for (uint32_t i = 0; i < 500'000; ++i) {
    records.At(3 + i).By(i, i).Comm("evil-" + std::to_string(i)).Sample(0x2000);
  }
}

void LongNames(RecordBuilder& records) {
  const std::string name(60'000, 'e');
  for (uint32_t i = 0; i < 3'000; ++i) {
    records.At(3 + i).Mmap2(0x1000, 0x100000, 0, "/" + std::to_string(i) + name).Sample(0x2000);
  }
}

void Lost(RecordBuilder& records) {
  for (int i = 0; i < 100'000; ++i)
    records.At(3).Lost(~uint64_t{0}).LostSamples(~uint64_t{0}).Throttle();
}

void Symbols(RecordBuilder& records) {
  for (uint64_t i = 0; i < 300'000; ++i) records.At(3).Ksymbol(i * 8, 0xffffffff, "evil\033[2J\n");
  records.Mode(perf_event::kMiscKernel).Sample(0x2000);
}

// Returns a case with mappings of the file that `make` makes, which is not a regular file.
auto ImageAt(std::string (Scene::*make)(const std::string&)) {
  return [make](Scene& scene, const std::string& path) {
    const std::string image = (scene.*make)("evil");
    Features features;
    features.build_ids = {
        {-1, perf_event::kMiscUser, std::vector<std::byte>(20, std::byte{7}), image},
        {-1, perf_event::kMiscUser, std::vector<std::byte>(20), "../../../.." + image},
        {-1, perf_event::kMiscUser, std::vector<std::byte>(1), image}};
    WriteRecording(
        path,
        [&](RecordBuilder& records) {
          records.Mmap2(0x1000, 0x1000, 0, image).Sample(0x1500);
          records.Mmap2(0x2000, 0x1000, 0, "../../../.." + image).Sample(0x2500);
          records.Mmap2(0x3000, 0x1000, 0, "/proc/self/root" + image).Sample(0x3500);
          records.Mmap2(0x4000, 0x1000, 0, image + "/jit-7.dump").Sample(0x4500);
          records.Mmap2(0x5000, 0x1000, 0, "/proc/kmsg").Sample(0x5500);
        },
        features);
  };
}

std::string Rounds(size_t count) {
  const perf_event::Attr attr = perf_data::UsualAttr();
  std::vector<std::byte> records;
  for (size_t i = 0; i < count; ++i)
    perf_data::AddRecord(perf_event::kRecordFinishedRound, "", &records);
  return std::string(TextOf(perf_data::StreamOf({{attr, "cpu-clock", {1}}}, records)));
}

// Adds a million samples in one round. Each sample is earlier than the previous sample.
void OneRound(RecordBuilder& records) {
  for (uint64_t i = 0; i < 1'000'000; ++i) records.At(1'000'003 - i).Sample(0x2000 + i % 100);
}

// Writes a recording whose images are files in /proc and /sys, under their own names and as
// symbolic links. Merely reading these files can affect the kernel.
void FilesOfTheKernel(Scene& scene, const std::string& path) {
  std::vector<std::string> images;
  for (const char* file :
       {"/proc/kmsg", "/sys/kernel/mm/ksm/run", "/sys/kernel/tracing/free_buffer",
        "/sys/kernel/tracing/trace_pipe", "/sys/kernel/debug/tracing/free_buffer"}) {
    if (access(file, F_OK) != 0) continue;
    scene.ForbidToOpen(file);
    images.push_back(file);
    const std::string link = scene.File("link" + std::to_string(images.size()));
    ASSERT_EQ(symlink(file, link.c_str()), 0);
    images.push_back(link);
  }
  WriteRecording(path, [&](RecordBuilder& records) {
    uint64_t at = 0x1000000;
    for (const std::string& image : images) {
      records.Mmap2(at, 0x1000, 0, image).Sample(at + 0x500);
      at += 0x1000;
    }
  });
}

}  // namespace

std::vector<RecordingCase> RecordingCases() {
  using enum Runs;
  return {
      {"InlinedCallsWithoutEnd", kWithAll, InlinedCallsWithoutEnd},
      {"NamesOfAllMemory", kWithAll, NamesOfAllMemory},
      {"NamesThatAreABomb", kWithAll,
       WithSection(perf_data::kFeatureNames, std::string(TextOf(ZstdOfZeros(uint64_t{1} << 32))))},
      {"SumsOfNonsense", kWithAll,
       WithSection(perf_data::kFeatureSums, std::string(100'000, '\xff'))},
      {"ManyEvents", kWithAll, ManyEvents},
      {"MappingsThatOverlap", kWithAll, Records(Overlaps)},
      {"MappingsThatAreInherited", kWithAll, Records(OverlapsFromWithin)},
      {"ForksInACircle", kWithAll, Records(ForksInACircle)},
      {"EndsBeforeBeginnings", kWithAll, Records(EndsBeforeBeginnings)},
      {"TimesOfAllKinds", kWithAll, Records(TimesOfAllKinds)},
      {"OffsetsThatOverflow", kWithAll, Records(OffsetsThatOverflow)},
      {"DeepChains", kWithAll, Records(Deep)},
      {"MarkersInChains", kWithAll, Records(MarkersInChains)},
      {"NamesWithEscapes", kAlways, Records(Names)},
      {"ManyThreads", kWithAll, Records(ManyThreads)},
      {"LongNames", kWithAll, Records(LongNames)},
      {"LossesOfAllSizes", kWithAll, Records(Lost)},
      {"SymbolsOfTheKernel", kWithAll, Records(Symbols)},
      {"OneRoundOfAll", kWithAll, Records(OneRound)},
      {"RoundsOfNothing", kWithAll,
       [](Scene& scene, const std::string& path) { scene.Write(path, Rounds(5'000'000)); }},
      {"ImagesThatAreFifos", kAlways, ImageAt(&Scene::MakeFifo)},
      {"ImagesThatAreDevices", kWithAll, ImageAt(&Scene::MakeDevice)},
      {"ImagesThatAreFilesOfTheKernel", kAlways, FilesOfTheKernel},
      {"ACompressedBomb", kAlways,
       [](Scene& scene, const std::string& path) {
         scene.Write(path,
                     CompressedStream(std::string(TextOf(ZstdOfZeros(uint64_t{4} << 30))), 1));
       }},
      {"ManyCompressedBombs", kWithAll,
       [](Scene& scene, const std::string& path) {
         scene.Write(path,
                     CompressedStream(std::string(TextOf(ZstdOfZeros(uint64_t{1} << 28))), 20));
       }},
      {"CompressedNonsense", kWithAll,
       [](Scene& scene, const std::string& path) {
         scene.Write(path, CompressedStream(std::string(1'000'000, '\x28'), 1));
       }},
      {"FeaturesPastTheEnd", kWithAll, Lying([](std::string& text) {
         for (size_t at = FeatureTable(text);
              at + 16 <= text.size() && at < FeatureTable(text) + 160; at += 16) {
           Put64(text, at, uint64_t{1} << 63);
           Put64(text, at + 8, ~uint64_t{0});
         }
       })},
      {"AllFeatures", kWithAll, Lying([](std::string& text) {
         for (size_t at = 72; at < 104; ++at) text[at] = '\xff';
       })},
      {"AttributesOfAllSizes", kWithAll, Lying([](std::string& text) {
         Put64(text, 16, uint64_t{1} << 40);
         Put64(text, 32, ~uint64_t{0});
       })},
      {"AttributesOfOneByte", kWithAll, Lying([](std::string& text) {
         Put64(text, 16, 1);
         Put64(text, 24, 0);
         Put64(text, 32, text.size());
       })},
      {"DataWithoutEnd", kWithAll, Lying([](std::string& text) { Put64(text, 48, ~uint64_t{0}); })},
      {"RecordsOfSizeZero", kWithAll, Lying([](std::string& text) {
         const size_t data = Get64(text, 40);
         for (size_t at = data; at + 8 < data + 4096; at += 8) Put64(text, at, 9);
       })},
      {"HolesBehindTheFeatures", kWithAll,
       [](Scene& scene, const std::string& path) {
         Lying([](std::string&) {})(scene, path);
         ASSERT_EQ(truncate(path.c_str(), off_t{100} << 30), 0);
       }},
      {"AFileOfHoles", kWithAll,
       [](Scene& scene, const std::string& path) {
         Lying([](std::string& text) { Put64(text, 48, uint64_t{16} << 30); })(scene, path);
         ASSERT_EQ(truncate(path.c_str(), off_t{16} << 30), 0);
       }},
  };
}

}  // namespace profiler::tests
