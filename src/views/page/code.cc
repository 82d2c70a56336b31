#include "src/views/page/code.h"

#include <map>
#include <set>
#include <string>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "src/views/annotate/choice.h"
#include "src/views/annotate/source_files.h"
#include "src/views/flamegraph/xml_text.h"
#include "src/views/json/document.h"

namespace profiler::page {
namespace {

using annotate::AnnotatedFunction;
using annotate::AnnotatedInstruction;
using annotate::SourceLine;
using json::Value;

// The source lines of one function, each with a number.
class Places {
 public:
  // If `sources` is null, no line gets its text.
  explicit Places(annotate::SourceFiles* sources) : sources_(sources) {}

  int NumberOf(const SourceLine& line) {
    if (line.file.empty()) return -1;
    const auto [found, is_new] = numbers_.try_emplace(
        std::tuple(line.file, line.line, line.inlined), static_cast<int>(places_.size()));
    if (is_new) places_.push_back(PlaceOf(line));
    return found->second;
  }
  Value Take() { return std::move(places_); }
  size_t texts() const { return texts_; }
  const std::set<std::string>& files() const { return files_; }

 private:
  Value PlaceOf(const SourceLine& line) {
    Value place = {line.file, line.line, line.inlined};
    const auto text = sources_ == nullptr ? std::nullopt : sources_->Line(line.file, line.line);
    if (text) {
      place.push_back(*text);
      files_.insert(line.file);
      ++texts_;
    }
    return place;
  }

  annotate::SourceFiles* const sources_;
  std::map<std::tuple<std::string, uint32_t, std::string>, int> numbers_;
  Value places_ = Value::array();
  size_t texts_ = 0;
  std::set<std::string> files_;  // files of the lines that have their text
};

Value FunctionAsJson(const AnnotatedFunction& function, const std::string& image, Places& places) {
  Value instructions = Value::array();
  for (const AnnotatedInstruction& instruction : function.instructions) {
    instructions.push_back({absl::StrCat(absl::Hex(instruction.address.value)), instruction.text,
                            instruction.period, places.NumberOf(instruction.source)});
  }
  return {{"name", exports::CleanUtf8(function.name)},
          {"image", image},
          {"path", function.image},
          {"event", function.event},
          {"samples", function.samples},
          {"period", function.period},
          {"isCut", function.cut},
          {"places", places.Take()},
          {"instructions", std::move(instructions)}};
}

}  // namespace

Code FindCode(const profile::Profile& profile, profile::EventId event,
              symbolize::Symbolizer& symbolizer, const CodeOptions& options) {
  annotate::SourceFiles sources;
  std::set<std::string> files;
  Code code;
  std::string functions;
  for (const annotate::ChosenFunction& chosen :
       annotate::HeaviestFunctions(profile, event, options.most_functions)) {
    const auto function = annotate::Annotate(profile, event, chosen, symbolizer, options.syntax);
    if (!function.ok()) continue;
    const profile::Image& image = profile[profile[chosen.symbol].image];
    if (options.source) sources.Permit(*function, symbolizer);
    Places places(options.source ? &sources : nullptr);
    const std::string json =
        json::Line(FunctionAsJson(*function, exports::CleanUtf8(profile.text(image.name)), places));
    if (functions.size() + json.size() > options.most_bytes) continue;
    absl::StrAppend(&functions, functions.empty() ? "" : ",", json);
    ++code.functions;
    code.source_lines += places.texts();
    files.insert(places.files().begin(), places.files().end());
  }
  code.source_files.assign(files.begin(), files.end());
  code.refused_sources = sources.Refusals();
  code.json = absl::StrCat("[", functions, "]");
  return code;
}

}  // namespace profiler::page
