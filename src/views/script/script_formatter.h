// Formats samples as text, one block each, in the layout of `perf script` (Linux 7.2), which
// stackcollapse, speedscope, the Firefox Profiler and others read:
//
//   worker    4711 [001]  2180.110871:    1001001 cpu-clock:
//   	    55e7f68d2222 inl+0x29 (inlined)
//   	    55e7f68d2222 outer+0x29 (/usr/bin/worker)
//   	    7f76f841d24a __libc_start_call_main+0x7a (/usr/lib/x86_64-linux-gnu/libc.so.6)
//
// (comm, thread id, cpu, seconds, period, event; then the call chain, innermost first, and an empty
// line.) A recording without call chains has one line per sample. With the field srcline each line
// of code is followed by its source line, "  worker.c:12", or by its address in the image,
// "  libc.so.6[2724a]".

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/analysis/filter.h"
#include "src/profile/profile.h"
#include "src/profile/sample_details.h"
#include "src/views/script/script_fields.h"

namespace profiler::script {

// Placeholder in SampleDetails::trace. FormatSample keeps it, and the caller later replaces it by a
// text. No other printed text contains this character.
inline constexpr char kTraceMark = '\0';

// The zero point of printed times.
enum class TimeOrigin : uint8_t {
  kClock,     // zero of the samples' clock
  kFirst,     // time of the first line that has one
  kPrevious,  // time of the previous line
};

struct ScriptOptions {
  ScriptFields fields = DefaultScriptFields();  // fields of records other than samples
  bool nanoseconds = false;                     // True: times have nine decimals instead of six.
  TimeOrigin times_from = TimeOrigin::kClock;
  bool callchains = true;  // False: print only the interrupted address.
  bool inlines = true;
  bool full_source_paths = false;  // True: srcline has paths. False: base names.
  uint32_t max_stack = 127;        // number of a chain's frames that are shown, innermost first
  analysis::Filter filter;         // samples to print
};

// The thread, time and other values that are printed in front of a record.
struct ScriptHead {
  std::string_view comm;
  uint32_t pid = 0, tid = 0;
  uint32_t cpu = profile::kNoCpu;
  uint64_t time = 0;            // nanoseconds
  uint16_t misc = 0;            // `misc` of the record's header
  std::string_view marks = {};  // text of misc without the CPU mode: "E", "M", "S", "Sp"
};

// A cache of texts by dense id. It stores a text from its second request on, because in a recording
// of a whole system most call chains occur once. Not thread-safe. Memory: 8 bytes per id, and about
// kMostBytes of text. A cache with more text than that is emptied.
class TextCache {
 public:
  static constexpr size_t kMostBytes = 16 << 20;

  // Appends the text of `id`. If the text is not stored, `make(std::string&)` appends it. The text
  // must not be empty.
  template <class Make>
  void Append(uint32_t id, std::string& out, Make make) {
    if (id >= pieces_.size()) pieces_.resize(size_t{id} + id / 2 + 1);
    Piece& piece = pieces_[id];
    if (piece.size != 0) {
      out.append(text_, piece.start, piece.size);
      return;
    }
    const size_t start = out.size();
    make(out);
    if (piece.was_met == 0) {
      piece.was_met = 1;
      return;
    }
    if (text_.size() > kMostBytes) Forget();
    piece.start = static_cast<uint32_t>(text_.size());
    text_.append(out, start);
    piece.size = static_cast<uint32_t>(text_.size() - piece.start);
  }

  // Prefetch the memory that Append() needs. PrefetchPiece is for the id's entry; PrefetchText,
  // called later, is for the start of its text.
  void PrefetchPiece(uint32_t id) const {
    if (id < pieces_.size()) __builtin_prefetch(&pieces_[id]);
  }
  void PrefetchText(uint32_t id) const {
    if (id >= pieces_.size() || pieces_[id].size == 0) return;
    __builtin_prefetch(text_.data() + pieces_[id].start);
    __builtin_prefetch(text_.data() + pieces_[id].start + 64);
  }

 private:
  struct Piece {
    uint32_t start = 0;
    uint32_t size : 31 = 0;  // 0: the text is not stored
    uint32_t was_met : 1 = 0;
  };
  void Forget() {
    text_.clear();
    for (Piece& piece : pieces_) piece.size = 0;
  }

  std::string text_;
  std::vector<Piece> pieces_;
};

// A formatter of single samples, while a profile grows. The profile must outlive the formatter. Not
// thread-safe.
//
// To save time, text that many samples share is made once and then copied: the thread, the event
// with its period, the second, and above all the lines of a call chain.
class ScriptFormatter {
 public:
  ScriptFormatter(const profile::Profile& profile, const ScriptOptions& options)
      : profile_(profile), options_(options) {}

  // Prefetches the memory that FormatSample needs for these rows; call it some time before
  // FormatSample.
  void Prefetch(std::span<const profile::SampleRow> rows) const;

  // Appends the block of a sample with these fields, unless the filter removes it. Fields of code
  // (sym, symoff, dso, dsoff, srcline) must be the same for all samples. `comm` is the name of the
  // thread at that time.
  void FormatSample(const profile::SampleRow& row, const profile::SampleDetails& details,
                    const ScriptFields& fields, StringId comm, std::string* out);
  void FormatSample(const profile::SampleRow& row, const profile::SampleDetails& details,
                    std::string* out) {
    FormatSample(row, details, options_.fields, profile_[row.thread].comm, out);
  }

  // Appends the text in front of a record of `event` that is not a sample.
  void FormatHead(const ScriptHead& head, profile::EventId event, std::string* out);

  // True if inlined calls were left out because a chain had more of them than
  // profile::MostInlinedCalls permits. They are counted from the interrupted frame outwards. A
  // frame with which the count would exceed the limit is printed without its inlined calls.
  bool leaves_out_inlined_calls() const { return leaves_out_inlined_calls_; }

 private:
  // A thread's text in front of its samples, and the name that it was made with.
  struct ThreadText {
    StringId comm{};
    std::string text;
  };
  // Texts of the previous sample, which are reused while their inputs are equal.
  struct LastTexts {
    uint64_t second = UINT64_MAX;
    std::string second_text;
    profile::EventId event{};
    uint64_t period = 0;
    std::string event_text;
  };

  bool has(ScriptField field) const { return fields_.has(field); }
  bool HasChains(profile::EventId event) const;
  bool Passes(const profile::Row& sample) const;
  void AppendThread(std::string_view comm, uint32_t pid, uint32_t tid, bool with_chain,
                    std::string& out) const;
  void AppendKnownThread(profile::ThreadId id, StringId comm, bool with_chain, std::string& out);
  void AppendWhen(uint32_t cpu, uint16_t misc, std::string_view marks, uint64_t time,
                  std::string& out);
  uint64_t SinceOrigin(uint64_t time);
  void AppendEvent(const profile::Row& row, std::string& out);
  void AppendEventName(profile::EventId event, std::string& out);
  void AppendAddr(const profile::SampleDetails& details, std::string& out) const;
  void AppendDataSource(const profile::SampleDetails& details, std::string& out);
  void AppendCode(const profile::SampleRow& row, std::string& out);
  void AppendCpu(uint32_t cpu, std::string& out);
  void AppendChain(profile::StackId stack, std::string& out);
  void AppendSelf(const profile::Frame& frame, std::string& out) const;
  void AppendFrame(const profile::Frame& frame, bool inlines, std::string& out) const;
  void AppendAddress(const profile::Frame& frame, profile::SymbolId name, std::string& out) const;
  void AppendSymbol(const profile::Frame& frame, profile::SymbolId name, bool offset,
                    std::string& out) const;
  void AppendDso(const profile::Frame& frame, bool offset, std::string& out) const;
  void AppendSourceLine(const profile::Frame& frame, const profile::Line* line,
                        std::string& out) const;
  void AppendInstruction(std::span<const std::byte> code, std::string& out) const;
  void AppendBranches(const profile::SampleDetails& details, std::string& out) const;
  void AppendBranchEnd(uint64_t address, profile::FrameId frame, std::string& out) const;

  const profile::Profile& profile_;
  const ScriptOptions options_;
  ScriptFields fields_ = options_.fields;  // fields of the current record
  bool leaves_out_inlined_calls_ = false;
  size_t event_width_ = 0;
  size_t data_source_width_ = 0;
  uint64_t origin_ = 0;  // time that is printed as 0; not used with kClock; 0: not set yet
  // [0] without, [1] with call chain; each indexed by ThreadId
  std::vector<ThreadText> threads_[2];
  TextCache chains_;               // call chains, by StackId as id
  TextCache frames_;               // lines of a call chain, by FrameId as id
  TextCache selves_;               // texts of samples without call chain, by FrameId as id
  std::vector<std::string> cpus_;  // text of each CPU, indexed by CPU; not stored for large numbers
  LastTexts last_;
};

}  // namespace profiler::script
