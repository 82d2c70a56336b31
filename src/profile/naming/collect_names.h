// Collects the names, and the code, that a recording carries.

#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "src/analysis/unnamed_node.h"
#include "src/analysis/unnamed_python.h"
#include "src/base/status.h"
#include "src/format/perf_data/read/recording.h"
#include "src/format/perf_data/read/written_stream.h"
#include "src/profile/naming/naming.h"
#include "src/profile/profile_builder.h"
#include "symbolize/names/name_facts.h"

namespace profiler::naming {

// The names that a recording carries. Each level includes the levels before it.
enum class Embedding : uint8_t {
  kNames,
  kLines,  // names, inlined calls and source lines
  kCode,   // also code of the interrupted functions, with everything that `annotate` shows of it
};
// Returns the level for "names", "lines" or "code".
Embedding EmbeddingOf(std::string_view text);

// A function that is called now and then while names are looked up. `looked_up` is the number of
// finished look-ups, and `all` the number of all look-ups (0: not known yet). `what` says what is
// looked up: first "addresses", then "functions". If the function returns false, naming stops
// early.
using NamingProgress = std::function<bool(std::string_view what, size_t looked_up, size_t all)>;

// Limit in bytes for code: beyond it, functions with the fewest samples are left out. Each byte of
// code takes about 25 bytes of memory while its instructions are named.
inline constexpr size_t kMostCode = 8 << 20;

struct CollectedNames {
  symbolize::NameFacts names;
  size_t addresses = 0;
  std::optional<symbolize::NameFacts> code;
  size_t functions = 0;  // number of functions in `code`
  // The section SUMS; set if reading the samples again would take a reader a while.
  std::optional<std::string> sums;
  absl::Status reading;  // error that ended the reading early
  // Python and Node.js processes whose functions have no names. Unset if naming stopped early.
  std::optional<analysis::UnnamedPython> python;
  std::optional<analysis::UnnamedNode> node;
};

// Returns the sections for the recording, keyed by feature bit.
std::map<int, std::string> SectionsOf(const CollectedNames& collected);

// Names every address that a view of the recording shows: addresses of call chains, and recorded
// addresses of data and branches. Also sums up the samples. Reads the recording once, with a
// profile of its stacks in memory. Code costs a look-up per instruction, in debug information if
// there is any.
CollectedNames CollectNames(perf_data::Recording& recording, Embedding embedding,
                            const NamingOptions& options, const NamingProgress& progress);

// The names for a stream, which its writer cannot read again. Gathers stacks while the stream is
// written, and names them at its end. A sample costs a quarter of a microsecond if its stack is
// known, else some microseconds. Memory grows with the distinct stacks, not with the samples. There
// are no sums, and no names for the code in a JIT's dump, which is incomplete until its process
// ends. Not thread-safe.
class StreamNames {
 public:
  StreamNames(Embedding embedding, NamingOptions options);

  // Takes written bytes, as a perf_data::StreamListener.
  void Take(std::span<const std::span<const std::byte>> pieces) { stream_.Take(pieces); }

  bool has_events() const { return !stream_.events().empty(); }

  // Names the collected stacks; call it once, when the stream is complete.
  CollectedNames Collect(const NamingProgress& progress) &&;

 private:
  void Add(const perf_data::TimedRecord& timed);

  const Embedding embedding_;
  const NamingOptions options_;
  // Identifies images while the stream is written.
  const std::unique_ptr<symbolize::NameStore> images_;
  std::optional<profile::ProfileBuilder> builder_;  // set once the events are known
  size_t events_ = 0;                               // number of events that builder_ has
  perf_data::WrittenStream stream_;
};

// Returns a description: "names of 1234 addresses of 25 images, 18.3 kB; code of 310 functions,
// 91.0 kB; sums of the samples, 201.0 kB".
std::string Describe(const CollectedNames& collected, const std::map<int, std::string>& sections);

}  // namespace profiler::naming
