// Programs of the kernel that only note what is done with them.

#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "absl/strings/str_cat.h"
#include "src/record/bpf/programs.h"

namespace profiler::record {

class FakePrograms final : public Programs {
 public:
  struct State {
    std::string log;
    int gate_error = 0, walk_error = 0, stack_error = 0, follow_error = 0;  // errno; 0: none
  };
  explicit FakePrograms(State& state) : state_(state) {}

  absl::StatusOr<Gates> LoadGates() override {
    if (state_.gate_error != 0) return ErrnoStatus(state_.gate_error, "gate");
    state_.log += "gate\n";
    return Gates{77, 78};
  }
  absl::Status LoadWalk(std::span<const Output> outputs) override {
    if (state_.walk_error != 0) return ErrnoStatus(state_.walk_error, "walk");
    state_.log += "walk";
    Note(outputs);
    return absl::OkStatus();
  }
  absl::Status Add(uint32_t pid, const PythonProcessEntry& entry) override {
    absl::StrAppend(&state_.log, "add ", pid, " generation ", entry.generation, "\n");
    return absl::OkStatus();
  }
  void Remove(uint32_t pid) override { absl::StrAppend(&state_.log, "remove ", pid, "\n"); }

  absl::Status LoadStack(std::span<const Output> outputs) override {
    if (state_.stack_error != 0) return ErrnoStatus(state_.stack_error, "stack");
    state_.log += "stack";
    Note(outputs);
    return absl::OkStatus();
  }
  absl::Status Follow(uint32_t tid, const FollowedThread&) override {
    if (state_.follow_error != 0) return ErrnoStatus(state_.follow_error, "follow");
    absl::StrAppend(&state_.log, "follow ", tid, "\n");
    return absl::OkStatus();
  }
  void Leave(uint32_t tid) override { absl::StrAppend(&state_.log, "leave ", tid, "\n"); }

 private:
  void Note(std::span<const Output> outputs) {
    for (const Output& output : outputs) absl::StrAppend(&state_.log, " cpu", output.cpu);
    state_.log += "\n";
  }

  State& state_;
};

}  // namespace profiler::record
