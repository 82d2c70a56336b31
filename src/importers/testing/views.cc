#include "src/importers/testing/views.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/base/text.h"
#include "src/views/flamegraph/folded.h"

namespace profiler::importers {

using profile::Profile;

std::string FileWith(std::string_view bytes) {
  static std::atomic<int> number = 0;
  std::string path = absl::StrCat(View(testing::TempDir()), "/profile-", ++number);
  std::ofstream stream(path, std::ios::binary | std::ios::trunc);
  stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return path;
}

naming::LoadedProfile Load(const std::string& path, const naming::LoadOptions& options) {
  naming::LoadOptions load = options;
  load.naming.places.no_cache = true;
  auto loaded = naming::LoadProfile(path, load);
  EXPECT_TRUE(loaded.ok()) << loaded.status();
  if (!loaded.ok()) return {};
  EXPECT_TRUE(loaded->reading.ok()) << loaded->reading;
  return *std::move(loaded);
}

std::string FoldedOf(const Profile& profile, std::string_view event) {
  exports::FoldedOptions options{.names = exports::NameStyle::kFull};
  for (uint32_t i = 0; i < profile.events.size(); ++i) {
    if (profile.text(profile.events[i].name) == event) options.event = profile::EventId{i};
  }
  return exports::Folded(profile, options);
}

std::string CollapsedOf(const Profile& profile) { return exports::Folded(profile, {}); }

std::string EventsOf(const Profile& profile) {
  std::string text;
  for (const profile::Event& event : profile.events) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", View(profile.text(event.name)), " ",
                    event.samples, "/", event.period);
  }
  return text;
}

namespace {

void AppendFrame(const Profile& profile, const profile::Frame& frame, std::string& text) {
  const auto lines = profile.LinesOf(frame);
  const std::string_view image = profile.text(profile[frame.image].name);
  if (lines.empty()) absl::StrAppend(&text, "?@", View(image));
  for (size_t i = lines.size(); i-- > 0;) {
    if (i + 1 != lines.size()) text += ';';
    absl::StrAppend(&text, View(profile.text(profile[lines[i].symbol].name)), "@", View(image),
                    lines[i].inlined ? "^" : "");
    if (lines[i].line != 0) {
      absl::StrAppend(&text, " ", View(profile.text(lines[i].file)), ":", lines[i].line);
    }
  }
}

}  // namespace

std::string FramesOf(const Profile& profile) {
  std::vector<std::string> rows;
  for (const profile::Row& row : profile.rows) {
    std::vector<profile::FrameId> frames;
    for (auto at = row.stack; at != profile::kNoStack; at = profile[at].parent) {
      frames.push_back(profile[at].frame);
    }
    std::string& text = rows.emplace_back();
    for (size_t i = frames.size(); i-- > 0;) {
      AppendFrame(profile, profile[frames[i]], text);
      if (i != 0) text += ';';
    }
    absl::StrAppend(&text, " ", row.count, "/", row.period, "\n");
  }
  std::sort(rows.begin(), rows.end());
  std::string all;
  for (const std::string& row : rows) all += row;
  return all;
}

std::string ErrorOf(const std::string& path) {
  auto loaded = naming::LoadProfile(path, {});
  std::string text(loaded.status().message());
  for (size_t at; (at = text.find(path)) != std::string::npos;) text.replace(at, path.size(), "F");
  return text;
}

}  // namespace profiler::importers
