// The numbers of the fields of pprof's messages, as in google/pprof's proto/profile.proto.
//
//   Profile ── sample_type ─ ValueType          type and unit of the samples' values
//          ├── sample ────── location ids (leaf first), one value per type, ─ Label …
//          ├── mapping                          an image and its addresses
//          ├── location ──── Line …             an address, and its functions, innermost first
//          ├── function
//          └── string_table                     strings, which all others refer to by index

#pragma once

#include <cstdint>

namespace profiler::pprof {

struct Fields {
  enum Profile : uint32_t {
    kSampleType = 1,
    kSample = 2,
    kMapping = 3,
    kLocation = 4,
    kFunction = 5,
    kString = 6,
    kDropFrames = 7,
    kKeepFrames = 8,
    kTimeNanos = 9,
    kDurationNanos = 10,
    kPeriodType = 11,
    kPeriod = 12,
    kComment = 13,
    kDefaultSampleType = 14
  };
  enum ValueType : uint32_t { kType = 1, kUnit = 2 };
  enum Sample : uint32_t { kLocationId = 1, kValue = 2, kLabel = 3 };
  enum Label : uint32_t { kKey = 1, kStr = 2, kNum = 3 };
  enum Mapping : uint32_t {
    kMappingId = 1,
    kStart = 2,
    kLimit = 3,
    kOffset = 4,
    kFilename = 5,
    kBuildId = 6,
    kHasFunctions = 7,
    kHasFilenames = 8,
    kHasLineNumbers = 9,
    kHasInlineFrames = 10
  };
  enum Location : uint32_t { kLocId = 1, kMappingOf = 2, kAddress = 3, kLine = 4 };
  enum Line : uint32_t { kFunctionId = 1, kLineNumber = 2 };
  enum Function : uint32_t { kFunctionIdOf = 1, kName = 2, kSystemName = 3, kFile = 4 };
};

// If a file has several events, each event has two values: its number of samples, then its periods.
// The type of the first value is the event's name with this suffix.
inline constexpr const char* kSamplesEnding = "_samples";

}  // namespace profiler::pprof
