// Builds a profile from the contents of other programs' files: names of functions, sometimes an
// address, a file and a line, a thread, a time.
//
//   ProfileMaker maker;
//   const auto event = maker.Event("cpu");
//   const auto thread = maker.NamedThread("worker");
//   StackId stack = profile::kNoStack;                        from the outermost caller in
//   for (name : names) stack = maker.Stack(stack, maker.Function(name));
//   maker.Add({.event = event, .thread = thread, .stack = stack, .count = 1, .period = 10});
//   Profile profile = std::move(maker).Finish();
//
// Everything is interned: equal frames, stacks and threads get the same id. Frames without an
// address get one at which no machine has code (code_layout.h). Not thread-safe. Memory grows with
// the distinct elements.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/profile/profile.h"

namespace profiler::importers {

// One function at a frame's address.
struct FunctionLine {
  std::string_view name;
  std::string_view file = {};  // empty: unknown
  uint32_t line = 0;           // 0: unknown
};

// The code of a frame.
struct CodeSpec {
  std::span<const FunctionLine> functions;  // innermost first; empty: unknown
  profile::ImageId image{};                 // ImageId{}: unknown
  profile::Mode mode = profile::Mode::kUser;
  std::optional<uint64_t> address;  // runtime address for the look-up
  // Offset in the image's file; unset: equal to the address.
  std::optional<uint64_t> file_offset;
  // Distance from the start of the last function. If unset, the lowest known address of a function
  // counts as its start.
  std::optional<uint64_t> symbol_offset;
};

// Equal samples, taken at one time.
struct SampleSpec {
  profile::EventId event{};
  profile::ThreadId thread{};
  profile::StackId stack = profile::kNoStack;  // kNoStack: unknown code
  uint64_t count = 1;
  uint64_t period = 1;           // sum over all `count` samples
  std::optional<uint64_t> time;  // in ns
  uint32_t cpu = profile::kNoCpu;
};

class ProfileMaker {
 public:
  ProfileMaker();

  profile::EventId Event(std::string_view name);

  // Returns the thread with these numbers and this name.
  profile::ThreadId Thread(uint32_t pid, uint32_t tid, std::string_view comm);
  // Returns a thread of a file without process numbers. Each name is a separate process; the
  // processes are numbered from 1.
  profile::ThreadId NamedThread(std::string_view comm);

  profile::ImageId Image(symbolize::ImageKind kind, std::string_view path,
                         std::span<const std::byte> build_id = {}, uint32_t pid = 0);
  // Returns the image "[unknown]", for named functions without an image.
  profile::ImageId UnknownImage() { return Image(symbolize::ImageKind::kUser, "[unknown]"); }
  // Returns the image "[kernel.kallsyms]".
  profile::ImageId KernelImage() {
    return Image(symbolize::ImageKind::kKernel, "[kernel.kallsyms]");
  }

  // Returns "[kernel.kallsyms]" for "", else the image of a module or a BPF program.
  profile::ImageId ImageInKernel(std::string_view path);
  // Returns an image of user code. Memory without a file (//anon, [heap]) belongs to its process;
  // if the process is unknown, the image is called "[anon]".
  profile::ImageId UserImage(std::string_view path, std::optional<uint32_t> pid);

  profile::FrameId Frame(const CodeSpec& code);
  // Returns the frame of a function that is known only by its name.
  profile::FrameId Function(std::string_view name);
  // Returns the stack in which `frame` is called from the stack `caller`.
  profile::StackId Stack(profile::StackId caller, profile::FrameId frame);

  void Add(const SampleSpec& sample);

  // Number of added rows.
  size_t rows() const { return profile_.rows.size(); }
  bool has_events() const { return !profile_.events.empty(); }

  // Adds a line about a shortcoming of the import.
  void Warn(std::string line) { profile_.losses.warnings.push_back(std::move(line)); }

  // Returns the profile; call it once, last.
  profile::Profile Finish() &&;

 private:
  struct RowKey {
    uint32_t event, thread, stack, cpu;
    uint64_t time;
    bool operator==(const RowKey&) const = default;
    template <class H>
    friend H AbslHashValue(H h, const RowKey& key) {
      return H::combine(std::move(h), key.event, key.thread, key.stack, key.cpu, key.time);
    }
  };
  // Facts about a frame that Finish needs.
  struct FrameNotes {
    bool has_address = false;
    bool has_symbol_offset = false;
  };

  profile::SymbolId Symbol(std::string_view name, profile::ImageId image,
                           std::optional<uint64_t> start);
  void FindSymbolStarts();
  void PlaceFramesWithoutAddress();
  void MakeColumns();

  profile::Profile profile_;
  std::string key_;  // scratch: the key of a look-up
  absl::flat_hash_map<std::string, profile::EventId> events_;
  absl::flat_hash_map<std::string, profile::ThreadId> threads_;
  absl::flat_hash_map<std::string, profile::ThreadId> named_threads_;
  absl::flat_hash_map<std::string, profile::ImageId> images_;
  absl::flat_hash_map<std::string, profile::FrameId> frames_;
  absl::flat_hash_map<std::string, profile::SymbolId> symbols_;
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, profile::StackId> stacks_;
  absl::flat_hash_map<RowKey, uint32_t> rows_;
  absl::flat_hash_map<uint64_t, uint32_t> quanta_;
  std::vector<FrameNotes> notes_;  // indexed by FrameId
  std::vector<uint64_t> times_;    // one for each row
  std::vector<uint32_t> cpus_;     // one for each row
  bool has_times_ = false, has_cpus_ = false;
};

}  // namespace profiler::importers
