// Fetches files from debuginfod servers. Works around these properties of libdebuginfod 0.188:
//
// - An interrupted or cancelled download, and every HTTP error except "too large", returns -ENOENT,
//   as if no server had the file. In addition, an empty file stays in the cache and means for ten
//   minutes that no server has the file. This code recognizes the real error in the library's debug
//   output and removes the empty file. If the process ends before that, a mark
//   (DebuginfodCache::Unfinished) makes the next process remove it.
// - Contents are not checked. The caller checks them (debug_fetch.h).
//
// Source: debuginfod-client.c, <elfutils/debuginfod.h>, debuginfod_find_debuginfo(3), elfutils
// 0.188.

#include <dlfcn.h>
#include <elfutils/debuginfod.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "src/base/shown_url.h"
#include "src/base/text.h"
#include "src/base/unique_fd.h"
#include "symbolize/files/debug_file_source.h"
#include "symbolize/files/debuginfod_cache.h"

namespace profiler::symbolize {
namespace {

// The functions of libdebuginfod.so.1.
struct Library {
  decltype(&debuginfod_begin) begin;
  decltype(&debuginfod_end) end;
  decltype(&debuginfod_find_debuginfo) find_debuginfo;
  decltype(&debuginfod_find_executable) find_executable;
  decltype(&debuginfod_set_progressfn) set_progressfn;
  decltype(&debuginfod_set_user_data) set_user_data;
  decltype(&debuginfod_get_user_data) get_user_data;
  decltype(&debuginfod_set_verbose_fd) set_verbose_fd;
  decltype(&debuginfod_get_url) get_url;
};

template <class Function>
bool Load(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

absl::StatusOr<Library> LoadLibrary() {
  // Never unloaded, because libcurl and TLS libraries do not support that.
  void* const opened = dlopen(DEBUGINFOD_SONAME, RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) {
    return absl::UnimplementedError(absl::StrCat(dlerror(), " (Debian: libdebuginfod1)"));
  }
  Library library;
  const bool complete = Load(opened, "debuginfod_begin", &library.begin) &&
                        Load(opened, "debuginfod_end", &library.end) &&
                        Load(opened, "debuginfod_find_debuginfo", &library.find_debuginfo) &&
                        Load(opened, "debuginfod_find_executable", &library.find_executable) &&
                        Load(opened, "debuginfod_set_progressfn", &library.set_progressfn) &&
                        Load(opened, "debuginfod_set_user_data", &library.set_user_data) &&
                        Load(opened, "debuginfod_get_user_data", &library.get_user_data) &&
                        Load(opened, "debuginfod_set_verbose_fd", &library.set_verbose_fd) &&
                        Load(opened, "debuginfod_get_url", &library.get_url);
  if (!complete) {
    return absl::UnimplementedError(absl::StrCat(DEBUGINFOD_SONAME, " is too old: ", dlerror()));
  }
  return library;
}

// Returns the library, loaded by the first call.
const absl::StatusOr<Library>& TheLibrary() {
  static const absl::StatusOr<Library> library = LoadLibrary();
  return library;
}

// Returns the errors in the library's debug output about one request. The relevant lines are
//
//   url 0 http://localhost:8002/buildid/…/debuginfo
//   url 0 The requested URL returned error: 404
//
// Empty if the only error is that servers do not have the file.
std::string Troubles(absl::string_view transcript) {
  std::map<int, std::string> urls, troubles;
  for (const absl::string_view line : absl::StrSplit(transcript, '\n')) {
    const std::vector<absl::string_view> words = absl::StrSplit(line, absl::MaxSplits(' ', 2));
    int number;
    if (words.size() != 3 || words[0] != "url" || !absl::SimpleAtoi(words[1], &number)) continue;
    (urls.contains(number) && words[2] != urls[number] ? troubles : urls)[number] =
        std::string(words[2]);
  }
  std::vector<std::string> lines;
  for (const auto& [number, trouble] : troubles) {
    if (std::string_view(trouble).ends_with(" 404")) continue;
    lines.push_back(ShownUrl(urls[number]) + ": " + WithShownUrls(trouble));
  }
  return absl::StrJoin(lines, "; ");
}

std::string ReadAll(int fd) {
  constexpr size_t kLongest = 1 << 16;
  std::string text(kLongest, '\0');
  const ssize_t size = pread(fd, text.data(), text.size(), 0);
  text.resize(size < 0 ? 0 : static_cast<size_t>(size));
  return text;
}

struct Request {
  const KeepGoing& keep_going;
  bool cancelled = false;
};

// Reports the progress. Before a server sends data, `a` is not a number of bytes.
int OnProgress(debuginfod_client* client, long a, long b) {  // NOLINT(google-runtime-int)
  const Library& library = *TheLibrary();
  auto& request = *static_cast<Request*>(library.get_user_data(client));
  const bool sends = library.get_url(client) != nullptr;
  const uint64_t received = sends && a > 0 ? static_cast<uint64_t>(a) : 0;
  const uint64_t size = sends && b > 0 ? static_cast<uint64_t>(b) : 0;
  if (!request.keep_going(received, size)) request.cancelled = true;
  return request.cancelled ? 1 : 0;
}

absl::Status Failure(int error, const Request& request, const std::string& transcript) {
  if (request.cancelled) return absl::CancelledError("given up");
  const std::string troubles = Troubles(transcript);
  if (!troubles.empty()) return absl::UnavailableError(troubles);
  if (error == ENOENT) return absl::NotFoundError("no server has it");
  return ErrnoStatus(error, "debuginfod");
}

class DebuginfodSource : public DebugFileSource {
 public:
  absl::StatusOr<SourcedFile> Fetch(FileKind kind, std::span<const std::byte> build_id,
                                    const KeepGoing& keep_going) override;
  void Forget(FileKind kind, std::span<const std::byte> build_id) override {
    DebuginfodCache().Remove(kind, build_id);
  }
};

absl::StatusOr<SourcedFile> DebuginfodSource::Fetch(FileKind kind,
                                                    std::span<const std::byte> build_id,
                                                    const KeepGoing& keep_going) {
  const DebuginfodCache cache;
  const DebuginfodCache::Unfinished unfinished(cache.PathOf(kind, build_id));
  if (unfinished.was_there()) cache.RemoveMiss(kind, build_id);
  const Library& library = *TheLibrary();
  debuginfod_client* const client = library.begin();
  if (client == nullptr) return absl::UnknownError("libdebuginfod could not be set up");
  Request request{keep_going};
  library.set_user_data(client, &request);
  library.set_progressfn(client, OnProgress);
  const UniqueFd transcript(memfd_create("debuginfod", MFD_CLOEXEC));
  const char* const verbose = std::getenv(DEBUGINFOD_VERBOSE_ENV_VAR);
  const bool for_a_person = verbose != nullptr && *verbose != '\0';
  if (!for_a_person && transcript.valid()) library.set_verbose_fd(client, transcript.get());
  const auto find =
      kind == FileKind::kExecutable ? library.find_executable : library.find_debuginfo;
  char* path = nullptr;
  const int found = find(client, reinterpret_cast<const unsigned char*>(build_id.data()),
                         static_cast<int>(build_id.size()), &path);
  const char* const url = library.get_url(client);
  SourcedFile file{path == nullptr ? "" : path, url == nullptr ? "" : ShownUrl(url)};
  std::free(path);
  library.end(client);
  if (found >= 0) {
    close(found);
    return file;
  }
  const absl::Status failure = Failure(-found, request, ReadAll(transcript.get()));
  if (!absl::IsNotFound(failure)) cache.RemoveMiss(kind, build_id);
  return failure;
}

}  // namespace

absl::StatusOr<std::shared_ptr<DebugFileSource>> CreateDebuginfodSource() {
  PROFILER_RETURN_IF_ERROR(TheLibrary().status());
  return std::make_shared<DebuginfodSource>();
}

}  // namespace profiler::symbolize
