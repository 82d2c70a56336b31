// HTTP requests to servers that keep profiles, to push profiles and to query them.
//
// A program links one of two implementations (see CreateClient). The usual one loads libcurl when
// it is first needed, because libcurl and its dependencies would slow every start. The program that
// is linked statically cannot load libraries, so it runs curl(1) once per request. Both read
// secrets from files. They never pass secrets on a command line, where other processes could read
// them.

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
  std::string url;  // http:// or https://, without user and password
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::chrono::milliseconds timeout{30'000};  // for the whole request and its answer
  // Limit of the answer's body, in bytes; a longer body is an error.
  size_t most = size_t{1} << 30;
};

struct Response {
  int status = 0;                                            // for example 200
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::string body;

  // Returns the header's value, or "" if there is none. `name` is in lower case.
  std::string_view Header(std::string_view name) const;
};

// How to reach a server. The fields are file names, except `proxy`. An empty field means the
// default.
struct Options {
  std::string user_file;                   // one line, "USER:PASSWORD": basic authentication
  std::string token_file;                  // one line: a bearer token
  std::string ca_file;                     // certificates of authorities, PEM; empty: the system's
  std::string certificate_file, key_file;  // the client's own certificate, PEM
  std::string proxy;  // URL; empty: from the environment (https_proxy, no_proxy)
};

// A client, for one thread at a time. Reuses open connections if it can.
class Client {
 public:
  virtual ~Client() = default;

  // Returns the answer, whatever its status. Follows no redirections. Errors, with the reason in
  // the message:
  //   kUnavailable         no answer, a broken connection, or a certificate that is not trusted
  //   kDeadlineExceeded    `timeout` is over
  //   kResourceExhausted   the answer is too long
  //   kInvalidArgument     the URL is wrong, or a file of certificates contains none
  //   kFailedPrecondition  neither libcurl nor curl is installed
  // Files with secrets fail as in CreateClient.
  virtual absl::StatusOr<Response> Send(const Request& request) = 0;
};

// Creates a client. Reads the files with secrets now, and again with each request, so that tokens
// can be renewed. The program must ignore SIGPIPE (src/base/write_signals.h). Errors: those of
// open(2); kInvalidArgument for a malformed file; kPermissionDenied for a secret file that
// everybody can read.
absl::StatusOr<std::unique_ptr<Client>> CreateClient(const Options& options);

}  // namespace profiler::http
