#include "src/doctor/print_findings.h"

#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "src/base/text.h"

namespace profiler::doctor {
namespace {

using target::Remedy;

constexpr size_t kStateWidth = 9;  // columns of the state and the spaces after it

const char* StateWord(State state) {
  switch (state) {
    case State::kWorks:
      return "yes";
    case State::kLimited:
      return "limited";
    case State::kMissing:
      return "no";
    case State::kUnknown:
      return "unknown";
  }
  return "";
}

std::string Printable(std::string_view text) {
  std::string printable;
  AppendPrintable(text, printable);
  return printable;
}

// Appends `text`, broken between words. The first line begins with `head`; further lines are
// indented as wide as it is.
void AppendWrapped(const std::string& head, const std::string& text, size_t columns,
                   std::string& out) {
  size_t column = head.size();
  out += head;
  for (const absl::string_view word : absl::StrSplit(text, ' ', absl::SkipEmpty())) {
    if (column > head.size() && column + 1 + word.size() > columns) {
      absl::StrAppend(&out, "\n", std::string(head.size(), ' '));
      column = head.size();
    } else if (column > head.size()) {
      out += ' ';
      ++column;
    }
    absl::StrAppend(&out, word);
    column += word.size();
  }
  out += '\n';
}

std::string RemedyText(const Remedy& remedy) {
  std::string text = remedy.text;
  if (!remedy.command.empty() && remedy.text.find(remedy.command) == std::string::npos) {
    absl::StrAppend(&text, ": `", remedy.command, "`");
  }
  if (!remedy.risk.empty()) absl::StrAppend(&text, ". Risk: ", remedy.risk);
  return text;
}

void AppendFinding(const Finding& finding, size_t columns, std::string& out) {
  std::string head = absl::StrCat("  ", StateWord(finding.state));
  head.resize(2 + kStateWidth, ' ');
  std::string text = finding.name;
  if (!finding.text.empty()) absl::StrAppend(&text, ": ", finding.text);
  AppendWrapped(head, Printable(text), columns, out);
  for (const Remedy& remedy : finding.remedies) {
    AppendWrapped(std::string(2 + kStateWidth, ' ') + "- ", Printable(RemedyText(remedy)), columns,
                  out);
  }
}

}  // namespace

std::string FindingsText(std::span<const FindingGroup> groups, size_t columns) {
  std::string text;
  for (const FindingGroup& group : groups) {
    absl::StrAppend(&text, text.empty() ? "" : "\n", Printable(group.title), "\n");
    for (const Finding& finding : group.findings) AppendFinding(finding, columns, text);
  }
  return text;
}

std::string CommandsText(std::span<const FindingGroup> groups) {
  std::string text;
  std::set<std::string> printed;
  for (const FindingGroup& group : groups) {
    for (const Finding& finding : group.findings) {
      bool is_first = true;
      for (const Remedy& remedy : finding.remedies) {
        if (remedy.command.empty() || !printed.insert(remedy.command).second) continue;
        absl::StrAppend(&text, "# ", Printable(finding.name), ": ", Printable(finding.text), "\n");
        if (!remedy.risk.empty()) absl::StrAppend(&text, "# Risk: ", remedy.risk, "\n");
        absl::StrAppend(&text, is_first ? "" : "# Or: ", Printable(remedy.command), "\n");
        is_first = false;
      }
    }
  }
  return text;
}

std::string FindingsJson(std::span<const FindingGroup> groups) {
  nlohmann::ordered_json document;
  document["groups"] = nlohmann::ordered_json::array();
  for (const FindingGroup& group : groups) {
    nlohmann::ordered_json findings = nlohmann::ordered_json::array();
    for (const Finding& finding : group.findings) {
      nlohmann::ordered_json remedies = nlohmann::ordered_json::array();
      for (const Remedy& remedy : finding.remedies) {
        remedies.push_back(
            {{"text", remedy.text}, {"command", remedy.command}, {"risk", remedy.risk}});
      }
      findings.push_back({{"id", finding.id},
                          {"name", finding.name},
                          {"state", StateWord(finding.state)},
                          {"text", finding.text},
                          {"remedies", std::move(remedies)}});
    }
    document["groups"].push_back({{"title", group.title}, {"findings", std::move(findings)}});
  }
  return document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace profiler::doctor
