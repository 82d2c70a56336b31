#include "src/views/annotate/source_files.h"

#include <algorithm>
#include <span>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "src/base/byte_reader.h"
#include "src/base/file_id.h"

namespace profiler::annotate {
namespace {

constexpr size_t kLargest = size_t{16} << 20;

// Returns the first file and the number of others: "/a/secret and 2 more files".
std::string Listed(const std::set<std::string, std::less<>>& files) {
  std::string text = *files.begin();
  if (files.size() == 2) text += " and 1 more file";
  if (files.size() > 2) absl::StrAppend(&text, " and ", files.size() - 1, " more files");
  return text;
}

}  // namespace

void SourceFiles::Permit(const AnnotatedFunction& function, symbolize::Symbolizer& symbolizer) {
  for (const AnnotatedInstruction& instruction : function.instructions) {
    const std::string& file = instruction.source.file;
    if (file.empty() || permitted_.contains(file)) continue;
    if (!asked_.emplace(function.in_symbolizer, file).second) continue;
    const ElfAddress address{instruction.address.value - function.shown_from.value +
                             function.start.value};
    if (symbolizer.IsSourceOf(function.in_symbolizer, address, file)) permitted_.insert(file);
  }
}

std::optional<std::string_view> SourceFiles::Line(std::string_view path, uint32_t number) {
  if (!permitted_.contains(path)) {
    const std::string name(path);
    if (!unproved_.contains(path) && FileIdOf(name)) unproved_.insert(name);
    return std::nullopt;
  }
  auto it = files_.find(path);
  if (it == files_.end()) {
    const std::string name(path);
    it = files_.emplace(name, Read(name)).first;
  }
  const std::vector<std::string_view>& lines = it->second.lines;
  if (number == 0 || number > lines.size()) return std::nullopt;
  return lines[number - 1];
}

SourceText SourceFiles::Text() {
  return [this](std::string_view file, uint32_t line) { return Line(file, line); };
}

SourceFiles::File SourceFiles::Read(const std::string& path) {
  File file;
  auto mapped = MappedFile::Open(path);
  if (!mapped.ok() || mapped->bytes().empty() || mapped->bytes().size() > kLargest) return file;
  if (!mapped->IsOfUserOrRoot()) {
    of_others_.insert(path);
    return file;
  }
  file.file = std::make_unique<MappedFile>(*std::move(mapped));
  std::string_view text = TextOf(file.file->bytes());
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    file.lines.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return file;
}

std::vector<std::string> SourceFiles::Refusals() const {
  std::vector<std::string> lines;
  if (!unproved_.empty()) {
    lines.push_back(absl::StrCat(
        Listed(unproved_),
        " not shown as source: no program or debug file of yours or root's names it (--symfs and "
        "--debug-dir choose these files)"));
  }
  if (!of_others_.empty()) {
    lines.push_back(
        absl::StrCat(Listed(of_others_), " not shown as source: it belongs to another user"));
  }
  return lines;
}

}  // namespace profiler::annotate
