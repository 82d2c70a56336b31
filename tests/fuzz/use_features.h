// Reads every feature section of a recording as a value.

#pragma once

#include "src/format/perf_data/format/feature_values.h"
#include "src/format/perf_data/format/perf_data_format.h"
#include "src/format/perf_data/sections/own_sections.h"
#include "symbolize/names/names_codec.h"

namespace profiler::fuzz {

inline void UseFeatures(const perf_data::Features& features) {
  (void)ReadCpuTopology(features);
  (void)ReadNumaTopology(features);
  (void)ReadPmuMappings(features);
  (void)ReadGroups(features);
  (void)ReadCaches(features);
  (void)ReadMemoryTopology(features);
  (void)ReadDirFormat(features);
  (void)ReadBpfPrograms(features);
  (void)ReadBpfTypes(features);
  (void)ReadCompression(features);
  (void)ReadCpuPmuCaps(features);
  (void)ReadPmuCaps(features);
  (void)ReadHybridTopology(features);
  (void)ReadElfMachine(features);
  (void)ReadCacheLineSize(features);
  (void)ReadCpuDomains(features);
  (void)ReadChainQuality(features);
  (void)ReadImported(features);
  (void)ReadRecorder(features);
  (void)symbolize::DecodeNames(OwnSection(features, perf_data::kFeatureNames));
  (void)symbolize::DecodeCode(OwnSection(features, perf_data::kFeatureCode));
}

}  // namespace profiler::fuzz
