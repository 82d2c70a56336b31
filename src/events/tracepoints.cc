#include "src/events/tracepoints.h"

#include <dirent.h>
#include <fnmatch.h>
#include <traceevent/event-parse.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "absl/strings/str_cat.h"

namespace profiler::events {
namespace {

bool IsPattern(const std::string& text) { return text.find_first_of("*?[") != std::string::npos; }

bool IsFolder(const std::string& path) {
  return access((path + "/events").c_str(), F_OK) == 0 || errno == EACCES;
}

// The mount point of a tracefs in /proc/mounts: DEVICE POINT TYPE OPTIONS …
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

// Names in a folder that fit the pattern, sorted; without a pattern there is nothing to list.
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

}  // namespace

absl::StatusOr<std::string> TracingDirectory(const procfs::Roots& roots) {
  std::string found;
  for (const char* usual : {"/kernel/tracing", "/kernel/debug/tracing"}) {
    if (found.empty() && IsFolder(roots.sys + usual)) found = roots.sys + usual;
  }
  if (found.empty()) found = MountedTracing(roots);
  if (found.empty()) {
    return absl::NotFoundError(
        "tracepoints: tracefs is not mounted; `sudo mount -t tracefs nodev /sys/kernel/tracing` "
        "does that");
  }
  if (access((found + "/events").c_str(), R_OK | X_OK) != 0) {
    return ErrnoStatus(errno, "tracepoints: " + found,
                       "run as root, or let this user read it: `sudo mount -o "
                       "remount,mode=755 " +
                           found + "`");
  }
  return found;
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
  const std::unique_ptr<tep_handle, void (*)(tep_handle*)> fields(tep_alloc(), tep_free);
  if (fields == nullptr) return ErrnoStatus(ENOMEM, "reading tracepoints");
  tep_set_loglevel(TEP_LOG_NONE);
  if (tep_parse_event(fields.get(), format.c_str(), format.size(), tracepoint.system.c_str()) !=
      TEP_ERRNO__SUCCESS) {
    return absl::OkStatus();  // the kernel will say
  }
  const std::unique_ptr<tep_event_filter, void (*)(tep_event_filter*)> parsed(
      tep_filter_alloc(fields.get()), tep_filter_free);
  const std::string with_event = absl::StrCat(tracepoint.full_name(), ": ", filter);
  const tep_errno error = tep_filter_add_filter_str(parsed.get(), with_event.c_str());
  const tep_event* const event =
      tep_find_event_by_name(fields.get(), tracepoint.system.c_str(), tracepoint.name.c_str());
  if (error == TEP_ERRNO__SUCCESS || event == nullptr) return absl::OkStatus();
  std::string known;
  for (const tep_format_field* field = event->format.fields; field != nullptr;
       field = field->next) {
    absl::StrAppend(&known, known.empty() ? "" : ", ", field->name);
  }
  char text[256] = "";
  tep_filter_strerror(parsed.get(), error, text, sizeof(text));
  std::string why = text;
  std::replace(why.begin(), why.end(), '\n', ' ');
  return absl::InvalidArgumentError(absl::StrCat("--filter: '", filter, "' of ",
                                                 tracepoint.full_name(), ": ", why,
                                                 "; its fields are ", known));
}

}  // namespace profiler::events
