// A ClickHouse server over HTTP: statements are the bodies of POST requests.
//
//   POST /?database=D&setting=value…              a statement; the answer's rows in RowBinary
//   POST /?query=INSERT INTO T (…) FORMAT …&…     rows, gzipped
//
// An answer is complete or an error. The server sends an answer only when the query has finished
// (wait_end_of_query), so that a late error still sets the HTTP status.
//
// Source: clickhouse.com/docs, "HTTP Interface".

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/status.h"
#include "src/fleet/clickhouse/server_version.h"
#include "src/http/http_client.h"

namespace profiler::fleet::clickhouse {

// The address of a server and of a database on it.
struct ServerAddress {
  std::string url;  // "http://host:8123", without a slash at its end
  std::string database = "default";
};

// A server's error message.
struct ServerError {
  int code = 0;  // ClickHouse's error code; 0: none in the answer
  std::string text;
};
// Returns the error in an answer, if there is one. Also finds an error in a body whose status is
// success.
std::optional<ServerError> ErrorOf(const http::Response& response);

using Settings = std::vector<std::pair<std::string, std::string>>;

// A server, for one thread at a time.
class Server {
 public:
  // `client` must outlive the server.
  Server(http::Client& client, ServerAddress address)
      : client_(client), address_(std::move(address)) {}

  const ServerAddress& address() const { return address_; }

  // Returns the answer to a statement. Errors: those of the client, and for errors of the server:
  //
  //   kNotFound           a table or the database is missing; the message says how to make them
  //   kUnauthenticated, kPermissionDenied
  //   kUnavailable        the server, or one of its shards, cannot answer now
  //   kResourceExhausted  the query is too large, or its answer is longer than `most` bytes
  //   kInternal           any other error
  //
  // The default of `most`, 32 MiB, suits an agent, whose memory is limited.
  static constexpr size_t kMostAnswer = size_t{32} << 20;
  absl::StatusOr<std::string> Ask(std::string_view statement, const Settings& settings = {},
                                  size_t most = kMostAnswer);

  // Sends rows and returns the answer, even if the answer is an error. Errors: those of the client.
  absl::StatusOr<http::Response> Insert(std::string_view table, std::string_view columns,
                                        std::string_view body, const Settings& settings);

  // Returns the version. Only the first call asks the server.
  absl::StatusOr<ServerVersion> Version();
  absl::StatusOr<std::string> VersionText();  // "24.8.4.13"

  // Converts the server's error to a status.
  absl::Status StatusOf(const ServerError& error) const;

 private:
  std::string UrlWith(Settings settings) const;

  http::Client& client_;
  const ServerAddress address_;
  std::string version_text_;
  std::optional<ServerVersion> version_;
};

// Checks that the database has the tables of schema.h in a version that this program supports.
// Errors: those of Ask; the message of kNotFound says how to create the tables. Returns
// kFailedPrecondition if the tables are newer than this program.
absl::Status CheckSchema(Server& server);

}  // namespace profiler::fleet::clickhouse
