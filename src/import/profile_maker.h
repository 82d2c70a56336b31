// Puts a profile together from what files of other programs say: names of functions, sometimes an
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
// Everything is interned: a frame, a stack, a thread that is asked for twice is one. Frames without
// an address get one that no machine has code at (code_layout.h). Not thread-safe. Memory grows
// with what is distinct.

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

namespace profiler::import {

// One function at a frame's address.
struct FunctionLine {
  std::string_view name;
  std::string_view file = {};  // empty: unknown
  uint32_t line = 0;           // 0: unknown
};

// The code of a frame.
struct CodeSpec {
  std::span<const FunctionLine> functions;  // innermost first; empty: its name is not known
  profile::DsoId image{};                   // DsoId{}: not known
  profile::Mode mode = profile::Mode::kUser;
  std::optional<uint64_t> address;  // where it ran, as it is to be looked up
  // Where it is in the image's file; without it the address stands for that.
  std::optional<uint64_t> file_offset;
  // From the start of the last function; without it the lowest address that is known of a function
  // is taken for its start.
  std::optional<uint64_t> symbol_offset;
};

// Equal samples, taken at one time.
struct SampleSpec {
  profile::EventId event{};
  profile::ThreadId thread{};
  profile::StackId stack = profile::kNoStack;  // kNoStack: of code of which nothing is known
  uint64_t count = 1;
  uint64_t period = 1;           // of all together
  std::optional<uint64_t> time;  // nanoseconds
  uint32_t cpu = profile::kNoCpu;
};

class ProfileMaker {
 public:
  ProfileMaker();

  profile::EventId Event(std::string_view name);

  // `pid`, `tid`: as they are known.
  profile::ThreadId Thread(uint32_t pid, uint32_t tid, std::string_view comm);
  // Of a file without process numbers: each name is a process of its own, counted from 1.
  profile::ThreadId NamedThread(std::string_view comm);

  profile::DsoId Image(profile::DsoKind kind, std::string_view path,
                       std::span<const std::byte> build_id = {}, uint32_t pid = 0);
  // Of named functions without an image: it is called "[unknown]".
  profile::DsoId UnknownImage() { return Image(profile::DsoKind::kUser, "[unknown]"); }
  // "[kernel.kallsyms]"
  profile::DsoId KernelImage() { return Image(profile::DsoKind::kKernel, "[kernel.kallsyms]"); }

  // "[kernel.kallsyms]" for "", else a module's or a BPF program's.
  profile::DsoId ImageInKernel(std::string_view path);
  // Of user code. Memory that is no file (//anon, [heap]) is its process's; where the process is
  // not known it is called "[anon]".
  profile::DsoId UserImage(std::string_view path, std::optional<uint32_t> pid);

  profile::FrameId Frame(const CodeSpec& code);
  // A function of which nothing is known but its name.
  profile::FrameId Function(std::string_view name);
  // The stack of `caller` with `frame` as its callee.
  profile::StackId Stack(profile::StackId caller, profile::FrameId frame);

  void Add(const SampleSpec& sample);

  // How much was added.
  size_t rows() const { return profile_.rows.size(); }
  bool has_events() const { return !profile_.events.empty(); }

  // For lines that say what is not as it could be.
  void Warn(std::string line) { profile_.losses.warnings.push_back(std::move(line)); }

  // Once, last.
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
  // What Finish has to know of a frame.
  struct FrameNotes {
    bool has_address = false;
    bool has_symbol_offset = false;
  };

  profile::SymbolId Symbol(std::string_view name, profile::DsoId dso,
                           std::optional<uint64_t> start);
  void FindSymbolStarts();
  void PlaceFramesWithoutAddress();
  void MakeColumns();

  profile::Profile profile_;
  std::string key_;  // room for keys
  absl::flat_hash_map<std::string, profile::EventId> events_;
  absl::flat_hash_map<std::string, profile::ThreadId> threads_;
  absl::flat_hash_map<std::string, profile::ThreadId> named_threads_;
  absl::flat_hash_map<std::string, profile::DsoId> images_;
  absl::flat_hash_map<std::string, profile::FrameId> frames_;
  absl::flat_hash_map<std::string, profile::SymbolId> symbols_;
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, profile::StackId> stacks_;
  absl::flat_hash_map<RowKey, uint32_t> rows_;
  absl::flat_hash_map<uint64_t, uint32_t> quanta_;
  std::vector<FrameNotes> notes_;  // by frame
  std::vector<uint64_t> times_;    // by row
  std::vector<uint32_t> cpus_;     // by row
  bool has_times_ = false, has_cpus_ = false;
};

}  // namespace profiler::import
