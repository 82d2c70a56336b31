#include "src/cli/views/tracepoint_texts.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "src/analysis/function_name.h"
#include "src/base/byte_reader.h"
#include "src/cli/terminal/output.h"
#include "src/cli/views/view.h"
#include "src/format/perf_data/format/perf_data_format.h"
#include "src/machine/events/trace_process.h"

namespace profiler::cli {
namespace {

void Warn(const absl::Status& status) { PrintWarning(std::string(status.message())); }

}  // namespace

void TracepointTexts::Append(std::span<const std::byte> raw, uint32_t cpu, std::string* out,
                             std::vector<uint64_t>* functions) {
  if (!Start()) return;
  std::string text;
  const absl::Status appended = texts_->Append(raw, cpu, &text);
  if (!appended.ok()) Warn(appended);
  if (functions == nullptr) return events::AppendWithNames(text, {}, out);
  std::string unused;
  events::AppendWithNames(
      text,
      [functions](uint64_t address, bool /*with_offset*/) {
        functions->push_back(address);
        return std::string();
      },
      &unused);
  *out += text;
}

void TracepointTexts::Describe(std::span<const events::TraceRecord> records,
                               const events::FunctionName& name, std::vector<std::string>* texts) {
  texts->assign(records.size(), "");
  if (!Start()) return;
  const absl::Status printed = texts_->Texts(records, texts);
  if (!printed.ok()) Warn(printed);
  for (std::string& text : *texts) {
    std::string named;
    events::AppendWithNames(text, name, &named);
    text = std::move(named);
  }
}

// Parses the formats, once. Returns false if they have not arrived yet, or cannot be parsed.
bool TracepointTexts::Start() {
  if (was_started_) return texts_.has_value();
  const auto& sections = recording_.features().other;
  const auto section = sections.find(perf_data::kFeatureTracingData);
  if (section == sections.end()) return false;
  was_started_ = true;
  auto parsed = events::TraceTexts::Parse(section->second, parts_);
  if (parsed.ok()) {
    texts_ = *std::move(parsed);
  } else {
    Warn(parsed.status());
  }
  return texts_.has_value();
}

void NameTraceFunctions(profile::Profile& profile) {
  absl::flat_hash_map<uint64_t, profile::FrameId> frames;
  for (const profile::TraceFunction& function : profile.trace_functions) {
    frames.try_emplace(function.address, function.frame);
  }
  const events::FunctionName name = [&](uint64_t address, bool with_offset) {
    const auto known = frames.find(address);
    return known == frames.end() ? std::string()
                                 : analysis::FunctionName(profile, known->second, with_offset);
  };
  absl::flat_hash_map<uint32_t, uint32_t> named;  // id of text with marks → of text with names
  for (uint32_t& text : profile.column(profile::Dimension::kTrace)) {
    const auto [known, is_new] = named.try_emplace(text);
    if (is_new) {
      const std::string marked(profile.text(StringId{text}));
      std::string full;
      events::AppendWithNames(marked, name, &full);
      known->second = static_cast<uint32_t>(profile.strings.Intern(full));
    }
    text = known->second;
  }
}

namespace {

// Returns the fields of each event whose format the recording contains.
std::vector<events::EventFields> FieldsOfRecording(const std::string& path) {
  const auto recording = OpenInAdvance(path);
  if (recording == nullptr) return {};
  const auto& sections = recording->features().other;
  const auto section = sections.find(perf_data::kFeatureTracingData);
  if (section == sections.end()) return {};
  const auto process = events::TraceProcess::Start(section->second);
  if (!process.ok()) return {};
  return (*process)->Fields().value_or(std::vector<events::EventFields>());
}

bool Has(const std::vector<std::string>& texts, std::string_view text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

}  // namespace

std::vector<std::string> TraceFieldNames::Named(std::string_view word) {
  if (!events_) events_ = FieldsOfRecording(path_);
  const events::TraceField asked = TraceFieldOf(word);
  const bool all = word == "trace_fields";
  const bool is_full_name = asked.event.find(':') != std::string::npos;
  std::vector<std::string> fields;
  for (const events::EventFields& event : *events_) {
    if (!all && asked.event.empty()) {
      if (Has(event.fields, asked.name)) return {asked.name};
      continue;
    }
    const bool is_meant =
        all || (is_full_name ? event.event == asked.event
                             : event.event.find(asked.event) != std::string::npos);
    if (!is_meant) continue;
    for (const std::string& field : event.fields) {
      if (all || asked.name == "*" || field == asked.name)
        fields.push_back(event.event + '.' + field);
    }
  }
  return fields;
}

events::TraceField TraceFieldOf(std::string_view name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return {.event = "", .name = std::string(name)};
  return {.event = std::string(name.substr(0, dot)), .name = std::string(name.substr(dot + 1))};
}

}  // namespace profiler::cli
