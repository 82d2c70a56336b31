// Counts samples by name. Names outlive addresses, so two builds of a program share them.
//
//   stack     main ── parse ── read<inlined: next>        (of a sample that was taken in `next`)
//   function  next itself; next, read, parse and main with all that they call
//   line      the line of `next`; the lines of all four
//   path      main;parse;read;next itself; main, main;parse … with all below
//
// An inlined function counts as a function. So its own time has the same key in a build that
// inlines it and in a build that does not.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "src/analysis/sample_keys.h"
#include "src/profile/profile.h"

namespace profiler::analysis {

enum class KeyBy : uint8_t { kFunction, kLine, kPath };

// The keys of one event's rows. Refers to the profile that it was built from. Building is linear in
// the profile's frames and in the keys of its stacks; each of these keys takes four bytes. Reading
// is thread-safe.
class KeyedRows : public SampleKeys {
 public:
  // Builds the keys of the rows of one event.
  KeyedRows(const profile::Profile& profile, profile::EventId event, KeyBy by);

  size_t size() const { return names_.size(); }
  const std::string& name(KeyId key) const { return names_[key]; }
  // Returns the names of all keys, for use after the profile is gone.
  std::vector<std::string> TakeNames() && { return std::move(names_); }
  // Returns a frame that has this key, to show in which image and file its code lies.
  profile::FrameId FrameOf(KeyId key) const { return frames_[key]; }

  // SelfOf returns the key for the self count of a row's samples. AllOf returns all keys of these
  // samples, each once.
  KeyId SelfOf(const profile::Row& row) const;
  std::span<const KeyId> AllOf(const profile::Row& row) const;

  size_t keys() const override { return size(); }
  KeyId OwnKeyOf(uint32_t row) const override { return SelfOf(profile_.rows[row]); }
  std::span<const KeyId> KeysOf(uint32_t row) const override { return AllOf(profile_.rows[row]); }

 private:
  class Builder;

  struct Range {
    uint32_t first = 0, size = 0;
  };

  const profile::Profile& profile_;
  std::vector<std::string> names_;        // indexed by key
  std::vector<profile::FrameId> frames_;  // indexed by key
  std::vector<KeyId> self_of_frame_;  // [frame]: key for the self count; not used with KeyBy::kPath
  std::vector<KeyId> self_of_stack_;  // [stack]: key for the self count; only with KeyBy::kPath
  std::vector<Range> ranges_;         // [stack]: range of its keys in keys_
  std::vector<KeyId> keys_;
};

}  // namespace profiler::analysis
