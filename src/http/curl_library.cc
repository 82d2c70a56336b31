// Source: libcurl-easy(3), curl_easy_setopt(3), libcurl-errors(3) of curl 7.88.

#include "src/http/curl_library.h"

#include <curl/curl.h>
#include <dlfcn.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/shown_url.h"
#include "src/http/credentials.h"
#include "src/http/message.h"

namespace profiler::http {
namespace {

// Debian builds libcurl with OpenSSL and with GnuTLS; either will do.
constexpr std::array kSonames = {"libcurl.so.4", "libcurl-gnutls.so.4"};

// The type of numeric options, as in curl_easy_setopt(3).
using Number = long;  // NOLINT(google-runtime-int)

struct Library {
  decltype(&curl_global_init) global_init;
  decltype(&curl_easy_init) easy_init;
  decltype(&curl_easy_cleanup) easy_cleanup;
  decltype(&curl_easy_reset) easy_reset;
  decltype(&curl_easy_perform) easy_perform;
  // The type is written out, because decltype cannot be used: curl's header defines a macro of this
  // name, which checks types.
  CURLcode (*easy_setopt)(CURL*, CURLoption, ...);
  decltype(&curl_easy_strerror) easy_strerror;
  decltype(&curl_slist_append) slist_append;
  decltype(&curl_slist_free_all) slist_free_all;
};

template <class Function>
bool Load(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

absl::StatusOr<Library> LoadLibrary() {
  void* opened = nullptr;
  for (const char* const soname : kSonames) {
    // The library is never unloaded, because TLS libraries cannot be unloaded safely.
    if (opened == nullptr) opened = dlopen(soname, RTLD_NOW | RTLD_LOCAL);
  }
  if (opened == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat(dlerror(), " (Debian: libcurl4)"));
  }
  Library library;
  const bool complete = Load(opened, "curl_global_init", &library.global_init) &&
                        Load(opened, "curl_easy_init", &library.easy_init) &&
                        Load(opened, "curl_easy_cleanup", &library.easy_cleanup) &&
                        Load(opened, "curl_easy_reset", &library.easy_reset) &&
                        Load(opened, "curl_easy_perform", &library.easy_perform) &&
                        Load(opened, "curl_easy_setopt", &library.easy_setopt) &&
                        Load(opened, "curl_easy_strerror", &library.easy_strerror) &&
                        Load(opened, "curl_slist_append", &library.slist_append) &&
                        Load(opened, "curl_slist_free_all", &library.slist_free_all);
  if (!complete || library.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
    return absl::FailedPreconditionError("libcurl is too old, or could not be set up");
  }
  return library;
}

// Returns the library, which is loaded once.
const absl::StatusOr<Library>& TheLibrary() {
  static const absl::StatusOr<Library> library = LoadLibrary();
  return library;
}

// A list of headers in libcurl's form.
class HeaderList {
 public:
  HeaderList(const Library& library, const std::vector<std::string>& lines) : library_(library) {
    for (const std::string& line : lines) {
      curl_slist* const longer = library_.slist_append(list_, line.c_str());
      if (longer != nullptr) list_ = longer;
    }
  }
  HeaderList(const HeaderList&) = delete;
  ~HeaderList() { library_.slist_free_all(list_); }
  curl_slist* get() const { return list_; }

 private:
  const Library& library_;
  curl_slist* list_ = nullptr;
};

// The answer to one request, as it arrives.
struct Arriving {
  explicit Arriving(size_t most) : most(most) {}
  const size_t most;
  HeaderReader headers;
  std::string body;
  bool is_too_long = false;
};

// OnHeader and OnBody return the number of accepted bytes. If they return less than they got,
// libcurl aborts the transfer.
size_t OnHeader(const char* text, size_t size, size_t count, void* user) {
  auto& arriving = *static_cast<Arriving*>(user);
  arriving.is_too_long = !arriving.headers.Add({text, size * count});
  return arriving.is_too_long ? 0 : size * count;
}

size_t OnBody(const char* text, size_t size, size_t count, void* user) {
  auto& arriving = *static_cast<Arriving*>(user);
  const size_t bytes = size * count;
  arriving.is_too_long = bytes > arriving.most - arriving.body.size();
  if (arriving.is_too_long) return 0;
  arriving.body.append(text, bytes);
  return bytes;
}

absl::StatusCode CodeOf(CURLcode code) {
  switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
      return absl::StatusCode::kDeadlineExceeded;
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CACERT_BADFILE:
      return absl::StatusCode::kInvalidArgument;
    default:
      return absl::StatusCode::kUnavailable;
  }
}

class LibraryClient : public Client {
 public:
  LibraryClient(const Library& library, CURL* handle, Options options)
      : library_(library), handle_(handle), options_(std::move(options)) {}
  LibraryClient(const LibraryClient&) = delete;
  ~LibraryClient() override { library_.easy_cleanup(handle_); }

  absl::StatusOr<Response> Send(const Request& request) override {
    PROFILER_RETURN_IF_ERROR(CheckRequest(request));
    PROFILER_ASSIGN_OR_RETURN(const std::string authorization, AuthorizationHeader(options_));
    const HeaderList headers(library_, HeaderLines(request, authorization));
    Arriving arriving(request.most);
    std::array<char, CURL_ERROR_SIZE> said = {};
    library_.easy_reset(handle_);  // resets all options; connections stay open
    SetTransfer(request, headers, arriving);
    SetServer();
    Set(CURLOPT_ERRORBUFFER, said.data());
    const CURLcode code = library_.easy_perform(handle_);
    Set(CURLOPT_ERRORBUFFER, nullptr);
    if (arriving.is_too_long) {
      return absl::ResourceExhaustedError(
          absl::StrCat(ShownUrl(request.url), ": the answer is too long"));
    }
    if (code != CURLE_OK) {
      const char* const why = said[0] != '\0' ? said.data() : library_.easy_strerror(code);
      return absl::Status(CodeOf(code),
                          absl::StrCat(ShownUrl(request.url), ": ", WithShownUrls(why)));
    }
    Response response = arriving.headers.Take();
    response.body = std::move(arriving.body);
    return response;
  }

 private:
  template <class Value>
  bool Set(CURLoption option, Value value) {
    return library_.easy_setopt(handle_, option, value) == CURLE_OK;
  }
  void SetFile(CURLoption option, const std::string& path) {
    if (!path.empty()) Set(option, path.c_str());
  }

  void SetTransfer(const Request& request, const HeaderList& headers, Arriving& arriving) {
    Set(CURLOPT_URL, request.url.c_str());
    if (HasBody(request)) {
      Set(CURLOPT_POSTFIELDS, request.body.data());
      Set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    }
    if (request.method == "HEAD") {
      Set(CURLOPT_NOBODY, Number{1});
    } else {
      Set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
    }
    Set(CURLOPT_HTTPHEADER, headers.get());
    // Do not send the headers to proxies.
    Set(CURLOPT_HEADEROPT, static_cast<Number>(CURLHEADER_SEPARATE));
    Set(CURLOPT_HEADERFUNCTION, OnHeader);
    Set(CURLOPT_HEADERDATA, static_cast<void*>(&arriving));
    Set(CURLOPT_WRITEFUNCTION, OnBody);
    Set(CURLOPT_WRITEDATA, static_cast<void*>(&arriving));
    Set(CURLOPT_TIMEOUT_MS, static_cast<Number>(request.timeout.count()));
  }

  void SetServer() {
    Set(CURLOPT_NOSIGNAL, Number{1});
    Set(CURLOPT_FOLLOWLOCATION, Number{0});
    Set(CURLOPT_SUPPRESS_CONNECT_HEADERS, Number{1});
    Set(CURLOPT_SSL_VERIFYPEER, Number{1});
    Set(CURLOPT_SSL_VERIFYHOST, Number{2});
    // This option exists since curl 7.85. It is not essential, because CheckRequest has checked the
    // URL, and redirections are not followed.
    Set(CURLOPT_PROTOCOLS_STR, "http,https");
    SetFile(CURLOPT_CAINFO, options_.ca_file);
    SetFile(CURLOPT_SSLCERT, options_.certificate_file);
    SetFile(CURLOPT_SSLKEY, options_.key_file);
    SetFile(CURLOPT_PROXY, options_.proxy);
  }

  const Library& library_;
  CURL* const handle_;
  const Options options_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Client>> CreateLibraryClient(const Options& options) {
  PROFILER_RETURN_IF_ERROR(CheckOptions(options));
  PROFILER_RETURN_IF_ERROR(TheLibrary().status());
  CURL* const handle = TheLibrary()->easy_init();
  if (handle == nullptr) return absl::FailedPreconditionError("libcurl could not be set up");
  return std::make_unique<LibraryClient>(*TheLibrary(), handle, options);
}

}  // namespace profiler::http
