// The numbers of the fields of OpenTelemetry's profiles, as of opentelemetry-proto v1.11.0 (July
// 2026): opentelemetry/proto/{collector/profiles/v1development, profiles/v1development,
// resource/v1, common/v1}. request.h draws the messages. That version is not stable: field numbers
// have changed before.

#pragma once

#include <cstdint>

namespace profiler::otlp::field {

enum Request : uint32_t { kResourceProfiles = 1, kDictionary = 2 };
enum ResourceProfiles : uint32_t { kResource = 1, kScopeProfiles = 2 };
enum Resource : uint32_t { kResourceAttributes = 1 };
enum ScopeProfiles : uint32_t { kScope = 1, kProfiles = 2 };
enum Scope : uint32_t { kScopeName = 1, kScopeVersion = 2 };
enum KeyValue : uint32_t { kKey = 1, kValue = 2 };
enum AnyValue : uint32_t { kStringValue = 1, kIntValue = 3, kArrayValue = 5 };
enum ArrayValue : uint32_t { kElements = 1 };
enum Profile : uint32_t {
  kSampleType = 1,
  kSamples = 2,
  kTimeUnixNano = 3,
  kDurationNano = 4,
  kPeriodType = 5,
  kPeriod = 6,
  kProfileId = 7,
  kProfileAttributes = 11
};
enum ValueType : uint32_t { kType = 1, kUnit = 2 };
enum Sample : uint32_t { kStackIndex = 1, kSampleAttributes = 2, kValues = 4, kTimestamps = 5 };
enum Dictionary : uint32_t {
  kMappingTable = 1,
  kLocationTable = 2,
  kFunctionTable = 3,
  kLinkTable = 4,
  kStringTable = 5,
  kAttributeTable = 6,
  kStackTable = 7
};
enum Mapping : uint32_t {
  kMemoryStart = 1,
  kMemoryLimit = 2,
  kFileOffset = 3,
  kFilename = 4,
  kMappingAttributes = 5
};
enum Location : uint32_t { kMappingIndex = 1, kAddress = 2, kLines = 3, kLocationAttributes = 4 };
enum Line : uint32_t { kFunctionIndex = 1, kLineNumber = 2 };
enum Function : uint32_t { kName = 1, kSystemName = 2, kFile = 3 };
enum Link : uint32_t { kTraceId = 1, kSpanId = 2 };
enum Stack : uint32_t { kLocationIndices = 1 };
enum KeyValueAndUnit : uint32_t { kAttributeKey = 1, kAttributeValue = 2 };

}  // namespace profiler::otlp::field
