#include "src/machine/events/tracepoints.h"

#include <dirent.h>
#include <fnmatch.h>
#include <traceevent/event-parse.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/base/text.h"
#include "src/machine/events/event_text.h"

namespace profiler::events {
namespace {

bool IsFolder(const std::string& path) {
  return access((path + "/events").c_str(), F_OK) == 0 || errno == EACCES;
}

// Returns the mount point of a tracefs in /proc/mounts: DEVICE POINT TYPE OPTIONS …
std::string MountedTracing(const procfs::Roots& roots) {
  std::string text;
  if (!procfs::ReadFile(roots.proc + "/mounts", &text).ok()) return "";
  procfs::TextScanner lines(text);
  while (!lines.done()) {
    procfs::TextScanner line(lines.Until('\n'));
    line.Word();
    const std::string_view point = line.Word();
    if (line.Word() == "tracefs") return std::string(point);
  }
  return "";
}

// Returns the names in a folder that match the pattern, sorted; a name that is no pattern is
// returned unchecked.
absl::StatusOr<std::vector<std::string>> Matching(const std::string& folder,
                                                  const std::string& pattern) {
  if (!IsPattern(pattern)) return std::vector<std::string>{pattern};
  const std::unique_ptr<DIR, int (*)(DIR*)> opened(opendir(folder.c_str()), closedir);
  if (opened == nullptr) return ErrnoStatus(errno, folder);
  std::vector<std::string> names;
  while (const dirent* entry = readdir(opened.get())) {
    const std::string name = entry->d_name;
    if (name.starts_with('.') || entry->d_type == DT_REG) continue;
    if (fnmatch(pattern.c_str(), name.c_str(), 0) == 0) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Returns the names of a tracepoint's fields, the common fields last; empty if the format cannot be
// read.
std::vector<std::string> FieldsOf(const std::string& format, const std::string& system) {
  const std::unique_ptr<tep_handle, void (*)(tep_handle*)> events(tep_alloc(), tep_free);
  tep_set_loglevel(TEP_LOG_NONE);
  tep_event* event = nullptr;
  if (events == nullptr || tep_parse_format(events.get(), &event, format.c_str(), format.size(),
                                            system.c_str()) != TEP_ERRNO__SUCCESS) {
    return {};
  }
  std::vector<std::string> names;
  for (const tep_format_field* list : {event->format.fields, event->format.common_fields}) {
    for (; list != nullptr; list = list->next) names.emplace_back(list->name);
  }
  // A filter may use these fields for every tracepoint, Documentation/trace/events.rst.
  for (const char* name : {"CPU", "cpu", "COMM", "comm", "stacktrace"}) names.emplace_back(name);
  return names;
}

// Returns the words before each comparison operator. A filter treats these words as fields.
std::vector<std::string_view> ComparedWords(std::string_view filter) {
  std::vector<std::string_view> words;
  for (size_t at = 0; at < filter.size();) {
    const char c = filter[at];
    const auto is_of_word = [&](size_t i) {
      return absl::ascii_isalnum(static_cast<unsigned char>(filter[i])) || filter[i] == '_' ||
             filter[i] == '.';
    };
    if (c == '"' || c == '\'') {
      at = std::min(filter.find(c, at + 1), filter.size() - 1) + 1;
    } else if (is_of_word(at)) {
      const size_t start = at;
      while (at < filter.size() && is_of_word(at)) ++at;
      const std::string_view word = filter.substr(start, at - start);
      const size_t next = std::min(filter.find_first_not_of(' ', at), filter.size());
      const bool is_compared = next < filter.size() && std::string_view("=!<>~").find(
                                                           filter[next]) != std::string_view::npos;
      if (is_compared && !absl::ascii_isdigit(static_cast<unsigned char>(word[0]))) {
        words.push_back(word);
      }
    } else {
      ++at;
    }
  }
  return words;
}

}  // namespace

TracingAccess FindTracing(const procfs::Roots& roots) {
  TracingAccess found;
  for (const char* usual : {"/kernel/tracing", "/kernel/debug/tracing"}) {
    if (found.directory.empty() && IsFolder(roots.sys + usual)) found.directory = roots.sys + usual;
  }
  if (found.directory.empty()) found.directory = MountedTracing(roots);
  if (found.directory.empty()) {
    found.error = ENOENT;
    found.command = "sudo mount -t tracefs nodev /sys/kernel/tracing";
  } else if (access((found.directory + "/events").c_str(), R_OK | X_OK) != 0) {
    found.error = errno;
    // Event files keep the mode 0440, so only the group can be changed.
    found.command = "sudo mount -o remount,mode=750,gid=$(id -g) " + found.directory;
  }
  return found;
}

absl::StatusOr<std::string> TracingDirectory(const procfs::Roots& roots) {
  TracingAccess found = FindTracing(roots);
  if (found.error == 0) return std::move(found.directory);
  if (found.directory.empty()) {
    return absl::NotFoundError(
        absl::StrCat("tracepoints: tracefs is not mounted; run `", found.command, "`"));
  }
  return ErrnoStatus(
      found.error, "tracepoints: " + found.directory,
      absl::StrCat("run as root, or let this user's group read it: `", found.command, "`"));
}

absl::StatusOr<std::vector<Tracepoint>> FindTracepoints(const procfs::Roots& roots,
                                                        const std::string& system,
                                                        const std::string& name) {
  PROFILER_ASSIGN_OR_RETURN(const std::string tracing, TracingDirectory(roots));
  const std::string events = tracing + "/events/";
  PROFILER_ASSIGN_OR_RETURN(const std::vector<std::string> systems, Matching(events, system));
  std::vector<Tracepoint> found;
  for (const std::string& fitting : systems) {
    const auto names = Matching(events + fitting, name);
    if (!names.ok()) continue;
    for (const std::string& event : *names) {
      const auto id = procfs::ReadNumber(absl::StrCat(events, fitting, "/", event, "/id"));
      if (id) found.push_back({fitting, event, static_cast<uint64_t>(*id)});
    }
  }
  if (!found.empty()) return found;
  return absl::NotFoundError(absl::StrCat("this kernel has no tracepoint ", system, ":", name));
}

absl::StatusOr<std::string> TracepointFormat(const procfs::Roots& roots,
                                             const Tracepoint& tracepoint) {
  PROFILER_ASSIGN_OR_RETURN(const std::string tracing, TracingDirectory(roots));
  std::string text;
  PROFILER_RETURN_IF_ERROR(procfs::ReadFile(
      absl::StrCat(tracing, "/events/", tracepoint.system, "/", tracepoint.name, "/format"),
      &text));
  return text;
}

absl::Status CheckFilter(const procfs::Roots& roots, const Tracepoint& tracepoint,
                         const std::string& filter) {
  PROFILER_ASSIGN_OR_RETURN(const std::string format, TracepointFormat(roots, tracepoint));
  const std::vector<std::string> fields = FieldsOf(format, tracepoint.system);
  for (const std::string_view compared : ComparedWords(filter)) {
    const auto is_it = [&](const std::string& field) { return field == compared; };
    if (fields.empty() || std::any_of(fields.begin(), fields.end(), is_it)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--filter: '", filter, "': ", tracepoint.full_name(), " has no field '",
                     View(compared), "'; it has ", absl::StrJoin(fields, ", ")));
  }
  return absl::OkStatus();
}

}  // namespace profiler::events
