// Files from debuginfod servers. What libdebuginfod 0.188 does that is worked around here:
//
//   a download that breaks off, or is stopped, and every HTTP error but "too large"
//     is -ENOENT, as if no server had the file, and an empty file in the cache says so for ten
//     minutes. We tell by what it writes for a person who debugs it, and remove that file; a
//     process that ends before it can do so has left a mark (Unfinished) for the next one.
//   a file is not looked at
//     Ours is checked by who asked for it (debug_fetch.h).
//
// Source: debuginfod-client.c, <elfutils/debuginfod.h>, debuginfod_find_debuginfo(3), elfutils
// 0.188.

#include <dlfcn.h>
#include <elfutils/debuginfod.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "src/base/text.h"
#include "src/base/unique_fd.h"
#include "symbolize/files/debug_file_source.h"

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
  // Never unloaded: libcurl and TLS libraries do not stand that.
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

// Loaded once.
const absl::StatusOr<Library>& TheLibrary() {
  static const absl::StatusOr<Library> library = LoadLibrary();
  return library;
}

std::string_view Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

// As libdebuginfod finds it.
std::string CacheDirectory() {
  if (const auto path = Variable(DEBUGINFOD_CACHE_PATH_ENV_VAR); !path.empty()) {
    return std::string(path);
  }
  std::string home(Variable("HOME"));
  if (home.empty()) home = "/";
  const std::string old = home + "/.debuginfod_client_cache";
  if (access(old.c_str(), F_OK) == 0) return old;
  std::string caches(Variable("XDG_CACHE_HOME"));
  if (caches.empty()) caches = home + "/.cache";
  return caches + "/debuginfod_client";
}

std::string CachedPath(FileKind kind, std::span<const std::byte> build_id) {
  return absl::StrCat(CacheDirectory(), "/", HexOf(build_id),
                      kind == FileKind::kExecutable ? "/executable" : "/debuginfo");
}

// The folder goes as well, if nothing else is in it.
void RemoveFromCache(const std::string& path) {
  unlink(path.c_str());
  rmdir(path.substr(0, path.rfind('/')).c_str());
}

// While a file is asked for another one stands beside its place in the cache, empty, whose name has
// this behind it. Found later, it says that what the cache says of a miss is not to be believed.
class Unfinished {
 public:
  explicit Unfinished(std::string of)
      : mark_(std::move(of) + ".unfinished"), was_there_(access(mark_.c_str(), F_OK) == 0) {
    std::error_code unwritable;  // then there will be no cache either
    std::filesystem::create_directories(std::filesystem::path(mark_).parent_path(), unwritable);
    const UniqueFd created(open(mark_.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  }
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;
  ~Unfinished() { RemoveFromCache(mark_); }

  // Whether an earlier process did not come to the end of it.
  bool was_there() const { return was_there_; }

 private:
  const std::string mark_;
  const bool was_there_;
};

// What the library writes about one request, of which these lines say what came of it:
//
//   url 0 http://localhost:8002/buildid/…/debuginfo
//   url 0 The requested URL returned error: 404
//
// Empty where nothing went wrong but that servers did not have the file.
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
    lines.push_back(urls[number] + ": " + trouble);
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

// Before a server has begun to send, `a` counts something else.
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
    RemoveFromCache(CachedPath(kind, build_id));
  }

 private:
  void ForgetMiss(FileKind kind, std::span<const std::byte> build_id);
};

absl::StatusOr<SourcedFile> DebuginfodSource::Fetch(FileKind kind,
                                                    std::span<const std::byte> build_id,
                                                    const KeepGoing& keep_going) {
  const Unfinished unfinished(CachedPath(kind, build_id));
  if (unfinished.was_there()) ForgetMiss(kind, build_id);
  const Library& library = *TheLibrary();
  debuginfod_client* const client = library.begin();
  if (client == nullptr) return absl::UnknownError("libdebuginfod could not be set up");
  Request request{keep_going};
  library.set_user_data(client, &request);
  library.set_progressfn(client, OnProgress);
  const UniqueFd transcript(memfd_create("debuginfod", MFD_CLOEXEC));
  const bool for_a_person = !Variable(DEBUGINFOD_VERBOSE_ENV_VAR).empty();
  if (!for_a_person && transcript.valid()) library.set_verbose_fd(client, transcript.get());
  const auto find =
      kind == FileKind::kExecutable ? library.find_executable : library.find_debuginfo;
  char* path = nullptr;
  const int found = find(client, reinterpret_cast<const unsigned char*>(build_id.data()),
                         static_cast<int>(build_id.size()), &path);
  const char* const url = library.get_url(client);
  SourcedFile file{path == nullptr ? "" : path, url == nullptr ? "" : url};
  std::free(path);
  library.end(client);
  if (found >= 0) {
    close(found);
    return file;
  }
  const absl::Status failure = Failure(-found, request, ReadAll(transcript.get()));
  if (!absl::IsNotFound(failure)) ForgetMiss(kind, build_id);
  return failure;
}

void DebuginfodSource::ForgetMiss(FileKind kind, std::span<const std::byte> build_id) {
  struct stat status;
  if (stat(CachedPath(kind, build_id).c_str(), &status) == 0 && status.st_size == 0) {
    Forget(kind, build_id);
  }
}

}  // namespace

absl::StatusOr<std::shared_ptr<DebugFileSource>> CreateDebuginfodSource() {
  PROFILER_RETURN_IF_ERROR(TheLibrary().status());
  return std::make_shared<DebuginfodSource>();
}

}  // namespace profiler::symbolize
