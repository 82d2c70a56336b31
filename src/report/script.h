// Samples as text, one block each, in the layout of `perf script` (Linux 7.2), which stackcollapse,
// speedscope, the Firefox Profiler and others read:
//
//   worker    4711 [001]  2180.110871:    1001001 cpu-clock:
//   	    55e7f68d2222 inl+0x29 (inlined)
//   	    55e7f68d2222 outer+0x29 (/usr/bin/worker)
//   	    7f76f841d24a __libc_start_call_main+0x7a (/usr/lib/x86_64-linux-gnu/libc.so.6)
//
// (comm, thread id, cpu, seconds, period, event; then the call chain, innermost first, and an empty
// line.) A recording without call chains has one line a sample. With the field srcline each line of
// code is followed by where it is in the source, "  worker.c:12", or else in its image,
// "  libc.so.6[2724a]".

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/profile/profile.h"
#include "src/profile/sample_details.h"
#include "src/report/options.h"
#include "src/report/report.h"
#include "src/report/script_fields.h"

namespace profiler::report {

// Stands in SampleDetails::trace for a text that the caller puts there later: FormatSample keeps
// it. No other text that it prints has this character.
inline constexpr char kTraceMark = '\0';

// What times are counted from.
enum class TimeOrigin : uint8_t {
  kClock,     // where the samples' clock has its zero
  kFirst,     // the first line that has a time
  kPrevious,  // the line before
};

struct ScriptOptions {
  ScriptFields fields = DefaultScriptFields();  // of records other than samples
  bool nanoseconds = false;                     // of times: nine digits behind the point, not six
  TimeOrigin times_from = TimeOrigin::kClock;
  bool callchains = true;  // else only where the sample was taken
  bool inlines = true;
  bool full_source_paths = false;  // of srcline; else their last part
  uint32_t max_stack = 127;        // frames shown of a chain, from the interrupted one
  Filter filter;                   // samples that it does not name are left out
};

// Who and when, in front of a sample or of another record.
struct ScriptHead {
  std::string_view comm;
  uint32_t pid = 0, tid = 0;
  uint32_t cpu = profile::kNoCpu;
  uint64_t time = 0;            // nanoseconds
  uint16_t misc = 0;            // of the record's header
  std::string_view marks = {};  // what misc says besides where the code ran: "E", "M", "S", "Sp"
};

// Texts by the dense id of what they are of, kept for those that are asked for a second time: in a
// recording of a whole system most call chains are met once. Not thread-safe. Memory: about
// kMostBytes of text, after which all is forgotten and made anew, and 8 bytes an id.
class TextCache {
 public:
  static constexpr size_t kMostBytes = 16 << 20;

  // Appends the text of `id`, which `make(std::string&)` appends where it is not known; never
  // empty.
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

  // Have the memory of Append brought near: first that which says where the text is, then its
  // start.
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
    uint32_t size : 31 = 0;  // 0: not kept
    uint32_t was_met : 1 = 0;
  };
  void Forget() {
    text_.clear();
    for (Piece& piece : pieces_) piece.size = 0;
  }

  std::string text_;
  std::vector<Piece> pieces_;
};

// Formats samples one by one while a profile grows. The profile must outlive it. Not thread-safe.
//
// Cost: what is the same for many samples is made once and copied from then on: who ran, which
// event with which period, in which second, and above all the lines of a call chain.
class ScriptFormatter {
 public:
  ScriptFormatter(const profile::Profile& profile, const ScriptOptions& options)
      : profile_(profile), options_(options) {}

  // To be called some time before FormatSample of these, to bring near what that will look at.
  void Prefetch(std::span<const profile::SampleRow> rows) const;

  // Appends the block of a sample with these fields, unless the filter leaves it out. What is shown
  // of code (sym, symoff, dso, dsoff, srcline) must be the same for all samples.
  void FormatSample(const profile::SampleRow& row, const profile::SampleDetails& details,
                    const ScriptFields& fields, std::string* out);
  void FormatSample(const profile::SampleRow& row, const profile::SampleDetails& details,
                    std::string* out) {
    FormatSample(row, details, options_.fields, out);
  }

  // Appends what stands in front of records other than samples, of this event.
  void FormatHead(const ScriptHead& head, profile::EventId event, std::string* out);

  // Whether a call chain had more inlined calls than profile::MostInlinedCalls of its frames from
  // the interrupted one on. Those of the frames that had one too many are not shown.
  bool leaves_out_inlined_calls() const { return leaves_out_inlined_calls_; }

 private:
  // The text in front of the samples of a thread, under the name that it had then.
  struct ThreadText {
    StringId comm{};
    std::string text;
  };
  // The texts of the sample before, good for the next one that agrees in what they were made of.
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
  void AppendKnownThread(profile::ThreadId id, bool with_chain, std::string& out);
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
  ScriptFields fields_ = options_.fields;  // of what is at hand
  bool leaves_out_inlined_calls_ = false;
  size_t event_width_ = 0;
  size_t data_source_width_ = 0;
  uint64_t origin_ = 0;  // of times, where that is not the clock's zero; 0: not known yet
  std::vector<ThreadText> threads_[2];  // by ThreadId; of samples with and without call chains
  TextCache chains_;                    // by StackId
  TextCache frames_;                    // by FrameId, as a line of a call chain
  TextCache selves_;                    // by FrameId, as where a sample without call chain is
  std::vector<std::string> cpus_;       // by CPU, as far as these are usual
  LastTexts last_;
};

}  // namespace profiler::report
