// Finds the names, and the code, that a recording is to carry.

#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "src/base/status.h"
#include "src/naming/naming.h"
#include "src/perf_data/read/recording.h"
#include "src/perf_data/read/written_stream.h"
#include "src/profile/profile_builder.h"
#include "src/query/unnamed_node.h"
#include "src/query/unnamed_python.h"
#include "symbolize/names/name_facts.h"

namespace profiler::naming {

// What is kept of names: each level has what is in those before it.
enum class Embedding : uint8_t {
  kNames,
  kLines,  // inlined calls and source lines
  kCode,   // of the functions that were interrupted, with all that `annotate` shows of it
};
// Of "names", "lines" or "code".
Embedding EmbeddingOf(std::string_view text);

// Told now and then how many of `all` (0: not known yet) have been looked up, which are "addresses"
// and then "functions"; false cuts it short.
using NamingProgress = std::function<bool(std::string_view what, size_t looked_up, size_t all)>;

// Of code, in bytes: functions beyond that are left out, those with the fewest samples. A byte of
// code costs some 25 of memory while its instructions are named.
inline constexpr size_t kMostCode = 8 << 20;

struct CollectedNames {
  symbolize::NameFacts names;
  size_t addresses = 0;
  std::optional<symbolize::NameFacts> code;
  size_t functions = 0;  // whose code that is
  // The section SUMS, where the samples are so many that reading them again would take a while.
  std::optional<std::string> sums;
  absl::Status reading;  // what ended the reading early
  // Whose functions have none; not looked for where naming was cut short.
  std::optional<query::UnnamedPython> python;
  std::optional<query::UnnamedNode> node;
};

// What goes into the recording, by feature bit.
std::map<int, std::string> SectionsOf(const CollectedNames& collected);

// Names every address that any view of the recording shows: those of call chains and, where they
// are recorded, of data and of branches; and sums the samples up. Reads the recording once, and has
// a profile of its stacks in memory meanwhile. Code costs a look-up an instruction, in debug
// information where there is any.
CollectedNames CollectNames(perf_data::Recording& recording, Embedding embedding,
                            const NamingOptions& options, const NamingProgress& progress);

// The same for a stream, which whoever writes it cannot read again: its stacks are gathered while
// it is written, and named at its end. A sample costs a quarter of a microsecond if its stack came
// before, else some microseconds. Memory grows with the distinct stacks, not with the samples. What
// differs: there are no sums, and no names of the code in a JIT's dump, which is not complete
// before its process ends. Not thread-safe.
class StreamNames {
 public:
  StreamNames(Embedding embedding, NamingOptions options);

  // What is written, as perf_data::StreamListener gets it.
  void Take(std::span<const std::span<const std::byte>> pieces) { stream_.Take(pieces); }

  bool has_events() const { return !stream_.events().empty(); }

  // Names what was hit, once, when all is written.
  CollectedNames Collect(const NamingProgress& progress) &&;

 private:
  void Add(const perf_data::TimedRecord& timed);

  const Embedding embedding_;
  const NamingOptions options_;
  const std::unique_ptr<symbolize::NameStore> images_;  // tells them apart
  std::optional<profile::ProfileBuilder> builder_;      // once the events are known
  size_t events_ = 0;                                   // that it knows
  perf_data::WrittenStream stream_;
};

// "names of 1234 addresses of 25 images, 18.3 kB; code of 310 functions, 91.0 kB; sums of the
// samples, 201.0 kB".
std::string Describe(const CollectedNames& collected, const std::map<int, std::string>& sections);

}  // namespace profiler::naming
