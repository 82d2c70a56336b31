// Sends a request over HTTP and takes the answer: what is sent to servers that keep profiles, and
// asked of them.
//
// Two things can do it, of which a program has one (CreateHttpClient): libcurl, loaded when it is
// first needed, for with all that it needs it would slow every start; or, in the one program for
// every Linux, which cannot load libraries, curl(1), run once a request. To either, secrets come
// from files and are handed on where no other process can read them: never on a command line.

#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/status.h"

namespace profiler::http {

struct Request {
  std::string method = "POST";
  std::string url;  // http:// or https://, without a user or a password
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::chrono::milliseconds timeout{30'000};  // for all of it
  // Of the answer's body, in bytes; more of it is an error.
  size_t most = size_t{1} << 30;
};

struct Response {
  int status = 0;                                            // 200
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::string body;

  // Of a header by its name in lower case; empty where there is none.
  std::string_view Header(std::string_view name) const;
};

// How a server is reached. File names, where nothing is named the usual ones hold.
struct Options {
  std::string user_file;   // one line, "USER:PASSWORD": basic authentication
  std::string token_file;  // one line: a bearer token
  std::string ca_file;     // certificates of authorities, PEM; empty: those of the system
  std::string certificate_file, key_file;  // this client's own, PEM
  std::string proxy;  // URL; empty: that of the environment (https_proxy, no_proxy)
};

// One thread at a time. Keeps connections open from one request to the next, where it can.
class Client {
 public:
  virtual ~Client() = default;

  // The answer, whatever its status says: redirections are not followed. Errors: kUnavailable where
  // nobody answered, the connection broke, or its certificate is not trusted, with what happened;
  // kDeadlineExceeded; kResourceExhausted for an answer that is too long; kInvalidArgument for what
  // is no URL, or a file of certificates that has none; kFailedPrecondition where neither libcurl
  // nor curl is installed; those of CreateClient for files with secrets.
  virtual absl::StatusOr<Response> Send(const Request& request) = 0;
};

// Reads the files with secrets, now and again whenever they have changed, so that tokens can be
// renewed. The program must ignore SIGPIPE (src/base/write_signals.h). Errors: those of open(2);
// kInvalidArgument for a file that is not as it should be; kPermissionDenied for one with a secret
// that all users may read.
absl::StatusOr<std::unique_ptr<Client>> CreateClient(const Options& options);

}  // namespace profiler::http
