// What samples are counted for, by name: names outlive addresses, so two builds of a program have
// them in common.
//
//   stack     main ── parse ── read<inlined: next>        (of a sample that was taken in `next`)
//   function  next itself; next, read, parse and main with all that they call
//   line      the line of `next`; the lines of all four
//   path      main;parse;read;next itself; main, main;parse … with all below
//
// An inlined function is a function here: where the one build inlines it and the other does not,
// its own time is still its own.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "src/profile/profile.h"
#include "src/query/sample_keys.h"

namespace profiler::query {

enum class KeyBy : uint8_t { kFunction, kLine, kPath };

// Refers to the profile that it was built from. Built in time linear in the profile's frames and,
// for its stacks, in their keys, of which four bytes are kept each. Reading is thread-safe.
class KeyedRows : public SampleKeys {
 public:
  // Of the rows of one event.
  KeyedRows(const profile::Profile& profile, profile::EventId event, KeyBy by);

  size_t size() const { return names_.size(); }
  const std::string& name(KeyId key) const { return names_[key]; }
  // Of all keys, for who needs them longer than the profile.
  std::vector<std::string> TakeNames() && { return std::move(names_); }
  // A frame that has this key, for who wants to say where it lies.
  profile::FrameId FrameOf(KeyId key) const { return frames_[key]; }

  // What a sample of the row is counted for as its own, and all that it is counted for: distinct.
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
  std::vector<std::string> names_;        // by key
  std::vector<profile::FrameId> frames_;  // by key
  std::vector<KeyId> self_of_frame_;      // by frame; for paths unused
  std::vector<KeyId> self_of_stack_;      // by stack; for paths alone
  std::vector<Range> ranges_;             // by stack: in keys_
  std::vector<KeyId> keys_;
};

}  // namespace profiler::query
