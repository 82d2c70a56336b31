#include "src/format/perf_data/format/aux_data.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "src/base/shown_text.h"
#include "src/base/text.h"

namespace profiler::perf_data {
namespace {

struct TraceKind {
  std::string_view name;
  std::string_view instead;  // the command that decodes it
};

// The kinds of traces, indexed by PERF_AUXTRACE_*. Source: tools/perf/util/auxtrace.h, Linux 7.2.
constexpr std::array<TraceKind, 8> kKinds = {{
    {"AUX", "perf report -D -i FILE"},
    {"Intel PT", "perf report --itrace=i100us -i FILE"},
    {"Intel BTS", "perf report --itrace=i100us -i FILE"},
    {"CoreSight", "perf report --itrace=i100us -i FILE (a perf built with OpenCSD)"},
    {"Arm SPE", "perf mem report -i FILE, or perf script -i FILE"},
    {"s390 CPU-measurement sampling", "perf report -i FILE"},
    {"HiSilicon PTT", "perf report -D -i FILE"},
    {"PowerPC VPA DTL", "perf report -D -i FILE"},
}};

}  // namespace

std::optional<std::string> UndecodedAuxData(const AuxData& aux, bool in_samples) {
  if (aux.bytes == 0 && !in_samples) return std::nullopt;
  const TraceKind& kind = kKinds[aux.type < kKinds.size() ? aux.type : 0];
  const std::string amount =
      aux.bytes == 0
          ? absl::StrCat("the samples have ", View(kind.name), " trace data, which are")
          : absl::StrCat(Grouped(aux.bytes), " bytes of ", View(kind.name), " trace data are");
  return absl::StrCat(amount, " not decoded; views show the other samples only. Run ",
                      View(kind.instead));
}

}  // namespace profiler::perf_data
