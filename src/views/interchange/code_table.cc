#include "src/views/interchange/code_table.h"

#include <string_view>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "src/base/utf8.h"

namespace profiler::exports {

using profile::Frame;
using profile::Profile;

std::string ImagePath(const Profile& profile, const profile::Image& image) {
  return ValidUtf8(ImageName(profile, image));
}

class CodeTable::Builder {
 public:
  Builder(const Profile& profile, CodeTable& table) : profile_(profile), table_(table) {}

  void AddFrame(const Frame& frame) {
    const auto lines = profile_.LinesOf(frame);
    for (const profile::Line& line : lines) {
      table_.lines_.push_back({.function = FunctionOf(frame, line.symbol, line.file),
                               .line = line.line,
                               .inlined = line.inlined});
    }
    if (lines.empty()) {
      table_.lines_.push_back({FunctionOf(frame, profile::kNoSymbol, StringId::kEmpty)});
    }
    table_.ends_.push_back(static_cast<uint32_t>(table_.lines_.size()));
  }

 private:
  // Symbols of equal name and file in one image are one function.
  using Key = std::tuple<StringId, StringId, profile::ImageId, bool>;

  FunctionIndex FunctionOf(const Frame& frame, profile::SymbolId symbol, StringId file) {
    const bool named = symbol != profile::kNoSymbol;
    const StringId name = named ? profile_[symbol].name : StringId::kEmpty;
    const auto [known, added] =
        known_.try_emplace(Key{name, file, frame.image, named}, table_.functions_.size());
    if (added) {
      const profile::Image& image = profile_[frame.image];
      table_.functions_.push_back({.name = named ? ValidUtf8(profile_.text(name)) : NameOf(image),
                                   .file = ValidUtf8(profile_.text(file)),
                                   .image = frame.image,
                                   .kind = KindOf(image, frame.mode)});
    }
    return known->second;
  }

  std::string NameOf(const profile::Image& image) const {
    const std::string name = ValidUtf8(profile_.text(image.name));
    return name.starts_with('[') ? name : absl::StrCat("[", name, "]");
  }

  const Profile& profile_;
  CodeTable& table_;
  absl::flat_hash_map<Key, FunctionIndex> known_;
};

CodeTable::CodeTable(const Profile& profile) {
  ends_.reserve(profile.frames.size());
  Builder builder(profile, *this);
  for (const Frame& frame : profile.frames) builder.AddFrame(frame);
}

void CodeTable::GetStack(const Profile& profile, profile::StackId stack,
                         std::vector<FunctionIndex>& functions) const {
  functions.clear();
  for (; stack != profile::kNoStack; stack = profile[stack].parent) {
    for (const CodeLine& line : At(profile[stack].frame)) functions.push_back(line.function);
  }
}

}  // namespace profiler::exports
