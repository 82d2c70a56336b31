#include "src/analysis/fold_native.h"

#include <cstdint>
#include <vector>

#include "src/analysis/interpreters.h"

namespace profiler::analysis {

using profile::Frame;
using profile::FrameId;
using profile::kNoStack;
using profile::Profile;
using profile::Row;
using profile::StackId;
using profile::StackNode;
using symbolize::ImageKind;

namespace {

// A folded stack.
struct Folded {
  StackId stack = kNoStack;
  bool has_language = false;  // True if it has a function of the language.
};

class Folder {
 public:
  explicit Folder(Profile& profile) : profile_(profile) {
    is_interpreter_.reserve(profile.images.size());
    for (const profile::Image& image : profile.images) {
      is_interpreter_.push_back(image.kind == ImageKind::kUser &&
                                IsInterpreter(profile.text(image.name)));
    }
  }

  void Fold() {
    FoldStacks();
    for (Row& row : profile_.rows) {
      const Folded& folded = folded_[static_cast<uint32_t>(row.stack)];
      row.stack = folded.stack;
      if (folded.has_language && IsNative(row.self)) row.self = profile_[folded.stack].frame;
    }
  }

 private:
  bool IsNative(FrameId frame) const {
    return is_interpreter_[static_cast<uint32_t>(profile_[frame].image)];
  }

  bool IsOfLanguage(FrameId id) const {
    const Frame& frame = profile_[id];
    const ImageKind kind = profile_[frame.image].kind;
    return frame.unnamed == profile::Unnamed::kNamed &&
           (kind == ImageKind::kJit || kind == ImageKind::kJitDump);
  }

  // A caller's id is lower than its callees', so one pass from the first stack suffices.
  void FoldStacks() {
    folded_.reserve(profile_.stacks.size());
    for (uint32_t i = 0; i < profile_.stacks.size(); ++i) {
      StackNode& stack = profile_.stacks[i];
      Folded caller;
      if (stack.parent != kNoStack) caller = folded_[static_cast<uint32_t>(stack.parent)];
      stack.parent = caller.stack;
      stack.depth = caller.stack == kNoStack ? 1 : profile_[caller.stack].depth + 1;
      if (caller.has_language && IsNative(stack.frame)) {
        folded_.push_back(caller);
      } else {
        folded_.push_back({StackId{i}, caller.has_language || IsOfLanguage(stack.frame)});
      }
    }
  }

  Profile& profile_;
  std::vector<bool> is_interpreter_;  // indexed by ImageId
  std::vector<Folded> folded_;        // indexed by StackId
};

}  // namespace

void FoldNative(Profile& profile) { Folder(profile).Fold(); }

}  // namespace profiler::analysis
