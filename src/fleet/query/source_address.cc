#include "src/fleet/query/source_address.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "absl/strings/str_cat.h"
#include "src/base/text.h"

namespace profiler::fleet {
namespace {

constexpr std::array<std::string_view, 6> kOfServer = {"user-file", "token-file", "ca-file",
                                                       "cert-file", "key-file",   "proxy"};

std::string WithoutEscapes(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    uint8_t byte = 0;
    const std::string_view digits = text.substr(std::min(i + 1, text.size()), 2);
    const char* const end = digits.data() + digits.size();
    if (text[i] == '%' && digits.size() == 2 &&
        std::from_chars(digits.data(), end, byte, 16).ptr == end) {
      out += static_cast<char>(byte);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

// Returns true if the term begins with "NAME="; then sets `value` to the text after it.
bool Takes(std::string_view name, std::string_view term, std::string_view* value) {
  if (!term.starts_with(name) || term.substr(name.size(), 1) != "=") return false;
  *value = term.substr(name.size() + 1);
  return true;
}

}  // namespace

absl::Status AddTerm(std::string_view term, UnixTime now, Selection* selection) {
  std::string_view value;
  if (Takes("since", term, &value)) {
    PROFILER_ASSIGN_OR_RETURN(selection->since, ParseTime(value, now));
  } else if (Takes("until", term, &value)) {
    PROFILER_ASSIGN_OR_RETURN(selection->until, ParseTime(value, now));
  } else {
    if (Takes("where", term, &value)) term = value;
    PROFILER_ASSIGN_OR_RETURN(Condition condition, ParseCondition(term));
    selection->conditions.push_back(std::move(condition));
  }
  return absl::OkStatus();
}

absl::StatusOr<Address> ParseAddress(std::string_view text, UnixTime now, Selection selection) {
  const size_t end = std::min(text.find('?'), text.size());
  Address address = {.source = std::string(text.substr(0, end)), .selection = std::move(selection)};
  std::string_view rest = text.substr(std::min(end + 1, text.size()));
  while (!rest.empty()) {
    const std::string_view term = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(term.size() + 1, rest.size()));
    if (term.empty()) continue;
    if (term == "times=1") {
      address.tells_times_apart = true;
      continue;
    }
    const std::string plain = WithoutEscapes(term);
    const std::string name = plain.substr(0, plain.find('='));
    if (std::ranges::find(kOfServer, name) != kOfServer.end() && name.size() < plain.size()) {
      address.server.emplace_back(name, plain.substr(name.size() + 1));
      continue;
    }
    PROFILER_RETURN_IF_ERROR(AddTerm(plain, now, &address.selection));
  }
  return address;
}

std::string TextOf(const Condition& condition) {
  const Field field = condition.field.field;
  return absl::StrCat(field == Field::kLabel ? View(condition.field.label) : View(NameOf(field)),
                      condition.negated ? "!" : "", condition.is_pattern ? "~" : "=",
                      condition.value);
}

std::string TextOf(const Selection& selection) {
  std::string text =
      selection.since == 0 && selection.until == INT64_MAX
          ? std::string("all times")
          : absl::StrCat(
                selection.since == 0 ? std::string("the beginning") : TextOfTime(selection.since),
                " to ",
                selection.until == INT64_MAX ? std::string("now") : TextOfTime(selection.until));
  for (const Condition& condition : selection.conditions) {
    absl::StrAppend(&text, ", ", TextOf(condition));
  }
  return text;
}

}  // namespace profiler::fleet
