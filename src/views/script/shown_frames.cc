#include "src/views/script/shown_frames.h"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace profiler::script {

using profile::FrameId;
using profile::kNoFrame;
using profile::kNoStack;
using profile::SampleDetails;
using profile::SampleRow;
using profile::StackId;

void ShownFrames::Add(const SampleRow& row, const SampleDetails& details,
                      const ScriptFields& fields) {
  // The image of generated code is named after its map, which is read for the names of functions.
  const bool shows_names = fields.has(ScriptField::kSym) || fields.has(ScriptField::kDso) ||
                           fields.has(ScriptField::kSrcline);
  const bool has_chain = options_.callchains && profile_[row.event].callchains;
  if (!options_.filter.empty()) frames_.push_back(row.self);
  if (shows_names && fields.has(ScriptField::kIp)) {
    if (!has_chain) {
      frames_.push_back(row.self);
    } else if (row.has_chain) {
      AddStack(row.stack);
    }
  }
  if (details.addr_frame != kNoFrame) frames_.push_back(details.addr_frame);
  for (const profile::Branch& branch : details.branches) {
    if (branch.from_frame != kNoFrame) frames_.push_back(branch.from_frame);
    if (branch.to_frame != kNoFrame) frames_.push_back(branch.to_frame);
  }
}

void ShownFrames::AddStack(StackId stack) {
  if (is_added_.size() < profile_.stacks.size()) is_added_.resize(profile_.stacks.size());
  for (uint32_t left = options_.max_stack; left != 0 && stack != kNoStack; --left) {
    const auto index = static_cast<size_t>(stack);
    if (is_added_[index]) return;
    is_added_[index] = profile_[stack].depth <= left;
    frames_.push_back(profile_[stack].frame);
    stack = profile_[stack].parent;
  }
}

std::vector<FrameId> ShownFrames::Take() { return std::exchange(frames_, {}); }

}  // namespace profiler::script
