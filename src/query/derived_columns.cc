#include "src/query/derived_columns.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace profiler::query {

using profile::Dimension;
using profile::kNoStack;
using profile::Profile;
using profile::Row;
using profile::StackNode;

namespace {

std::string WithoutDigits(std::string_view name) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::string text;
  for (size_t i = 0; i < name.size(); ++i) {
    if (!is_digit(name[i])) {
      text += name[i];
    } else if (i == 0 || !is_digit(name[i - 1])) {
      text += "<N>";
    }
  }
  return text;
}

void FillColumn(Dimension dimension, Profile& profile, auto value_of) {
  HugeVector<uint32_t> column;
  column.reserve(profile.rows.size());
  for (size_t i = 0; i < profile.rows.size(); ++i) {
    column.push_back(static_cast<uint32_t>(value_of(i)));
  }
  profile.column(dimension) = std::move(column);
}

}  // namespace

void AddSockets(std::span<const uint32_t> sockets, Profile& profile) {
  FillColumn(Dimension::kSocket, profile, [&](size_t row) {
    const uint32_t cpu = profile.CpuOf(row);
    return cpu < sockets.size() ? sockets[cpu] : profile::kNoCpu;
  });
}

void AddCommsWithoutDigits(Profile& profile) {
  std::vector<StringId> names;  // by thread
  names.reserve(profile.threads.size());
  for (const profile::Thread& thread : profile.threads) {
    names.push_back(profile.strings.Intern(WithoutDigits(profile.text(thread.comm))));
  }
  FillColumn(Dimension::kCommNoDigit, profile,
             [&](size_t row) { return names[static_cast<uint32_t>(profile.rows[row].thread)]; });
}

void AddParents(const NamePattern& pattern, StackEnd end, Profile& profile) {
  const std::vector<bool> matches = FramesOf(pattern, profile);
  std::vector<StringId> parents;  // by stack
  parents.reserve(profile.stacks.size());
  for (const StackNode& stack : profile.stacks) {
    StringId parent = StringId::kEmpty;
    if (stack.parent != kNoStack) parent = parents[static_cast<uint32_t>(stack.parent)];
    const bool is_nearer = parent == StringId::kEmpty || end == StackEnd::kInnermost;
    if (is_nearer && matches[static_cast<uint32_t>(stack.frame)]) {
      parent = profile[profile.LinesOf(profile[stack.frame]).back().symbol].name;
    }
    parents.push_back(parent);
  }
  FillColumn(Dimension::kParent, profile,
             [&](size_t row) { return parents[static_cast<uint32_t>(profile.rows[row].stack)]; });
}

}  // namespace profiler::query
