#include "symbolize/files/debug_lines.h"

#include "absl/strings/str_cat.h"

namespace profiler::symbolize {

void DebugLines::Open(const ImageFile& image, const ImageFile& debug,
                      const std::string& shown_path) {
  shown_path_ = shown_path;
  dwarf::DebugInfoFiles files;
  files.image = &image.elf;
  files.image_path = image.path;
  files.debug = &debug.elf;
  files.debug_path = debug.path;
  files.root = ProcessRootOf(image, context_.options);
  files.follow_names = debug.file.IsOfUserOrRoot() && image.file.IsOfUserOrRoot();
  files.debug_directories = context_.options.debug_directories;
  files.lines = context_.options.lines;
  files.fetched = context_.options.fetched;
  info_ = dwarf::DebugInfo::Open(files);
}

std::span<const dwarf::SourceFrame> DebugLines::Find(ElfAddress address) {
  if (info_ == nullptr) return {};
  const std::span<const dwarf::SourceFrame> frames = info_->Find(address);
  if (info_->is_cut() && !is_cut_told_) {
    is_cut_told_ = true;
    context_.warnings.push_back(absl::StrCat(
        shown_path_,
        ": its debug information is not read to the end, so inlined calls are missing: its entries "
        "list many times more attributes than compilers write"));
  }
  return frames;
}

void DebugLines::AddFrames(std::span<const dwarf::SourceFrame> frames, AddressFacts& facts) const {
  if (frames.empty()) return;
  std::vector<AddressFacts::Inlined>& inlined = context_.inlined;
  inlined.clear();
  for (const dwarf::SourceFrame& frame : frames.first(frames.size() - 1)) {
    inlined.push_back(
        {frame.function.empty() ? "??" : frame.function, {frame.file, frame.line, frame.column}});
  }
  facts.inlined = inlined;
  facts.at = {frames.back().file, frames.back().line, frames.back().column};
}

}  // namespace profiler::symbolize
