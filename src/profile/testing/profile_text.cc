#include "src/profile/testing/profile_text.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace profiler::profile {
namespace {

std::string_view ModeText(Mode mode) {
  switch (mode) {
    case Mode::kUser:
      return "";
    case Mode::kKernel:
      return "[k]";
    case Mode::kHypervisor:
      return "[H]";
    case Mode::kGuestUser:
      return "[u]";
    case Mode::kGuestKernel:
      return "[g]";
    case Mode::kCut:
      return "";
    case Mode::kUnknown:
      return "[?]";
  }
  return "";
}

std::string RowText(const Profile& profile, uint32_t id) {
  const Row& row = profile.rows[id];
  const Thread& thread = profile[row.thread];
  std::string text;
  if (profile.events.size() > 1) {
    absl::StrAppendFormat(&text, "%s ", profile.text(profile[row.event].name));
  }
  absl::StrAppendFormat(&text, "%s %d/%d: %s  %d %d", profile.text(thread.comm), thread.pid,
                        thread.tid, StackText(profile, row.stack), row.count, row.period);
  if (profile[row.stack].frame != row.self) {
    absl::StrAppend(&text, " self ", FrameText(profile, profile[row.self]));
  }
  if (profile.CpuOf(id) != kNoCpu) absl::StrAppend(&text, " cpu ", profile.CpuOf(id));
  return text;
}

}  // namespace

std::string FrameText(const Profile& profile, const Frame& frame) {
  std::vector<std::string_view> names;
  for (const Line& line : profile.LinesOf(frame)) {
    names.push_back(profile.text(profile[line.symbol].name));
  }
  if (names.empty()) {
    return absl::StrFormat("%#x@%s", frame.place.value, profile.text(profile[frame.image].name));
  }
  std::string text;
  for (std::string_view name : names) {
    if (!text.empty()) text += '<';
    text += name;
  }
  return text;
}

std::string StackText(const Profile& profile, StackId stack) {
  std::vector<std::string> frames;
  const std::string_view mode = ModeText(profile[profile[stack].frame].mode);
  for (; stack != kNoStack; stack = profile[stack].parent) {
    frames.push_back(FrameText(profile, profile[profile[stack].frame]));
  }
  std::reverse(frames.begin(), frames.end());
  return absl::StrJoin(frames, ";") + std::string(mode);
}

std::string RowsText(const Profile& profile) {
  std::vector<std::string> lines;
  for (uint32_t row = 0; row < profile.rows.size(); ++row) {
    lines.push_back(RowText(profile, row) + "\n");
  }
  std::sort(lines.begin(), lines.end());
  return absl::StrJoin(lines, "");
}

}  // namespace profiler::profile
