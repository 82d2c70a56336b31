#include "src/fleet/push/destination.h"

#include <algorithm>
#include <array>
#include <span>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "src/base/shown_url.h"
#include "src/base/text.h"

namespace profiler::fleet {
namespace {

constexpr std::array<std::string_view, 1> kClickHouseParameters = {"schema"};
constexpr std::array<std::string_view, 1> kPyroscopeParameters = {"format"};

struct KindOfServer {
  DestinationKind kind;
  std::string_view prefix;
  std::string_view port, tls_port;
  std::span<const std::string_view> parameters;
};
constexpr std::array<KindOfServer, 3> kKinds = {{
    {DestinationKind::kClickHouse, "clickhouse+", "8123", "8443", kClickHouseParameters},
    {DestinationKind::kOtlp, "otlp+", "4318", "4318", {}},
    {DestinationKind::kPyroscope, "pyroscope+", "4040", "4040", kPyroscopeParameters},
}};

const KindOfServer& Of(DestinationKind kind) { return kKinds[static_cast<size_t>(kind)]; }

absl::Status Wrong(std::string_view text, std::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat(ShownUrl(text), ": ", View(why),
                   "; a destination is clickhouse+http://HOST:PORT/DATABASE, otlp+http://HOST:PORT "
                   "or pyroscope+http://HOST:PORT, or the same with https"));
}

// Removes `prefix` from the text. Returns false if the text does not begin with it.
bool Take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// Removes and returns the text before the first of these characters.
std::string_view TakeUpTo(std::string_view& rest, std::string_view characters) {
  const std::string_view part = rest.substr(0, rest.find_first_of(characters));
  rest.remove_prefix(part.size());
  return part;
}

bool IsVisible(char c) { return c > ' ' && c < '\x7f' && c != '#'; }

bool IsNameOfDatabase(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_';
  });
}

// Parses "host", "host:port" or "[::1]:port"; adds the default port if there is none.
absl::Status ReadServer(std::string_view server, std::string_view usual_port, std::string* out) {
  const size_t bracket = server.starts_with('[') ? server.find(']') : 0;
  if (bracket == server.npos) return absl::InvalidArgumentError("its address has no ]");
  const size_t colon = server.find(':', bracket);
  const std::string_view host = server.substr(0, colon);
  if (host.empty()) return absl::InvalidArgumentError("its host is missing");
  uint32_t port = 0;
  const std::string_view port_text = colon == server.npos ? usual_port : server.substr(colon + 1);
  if (!absl::SimpleAtoi(View(port_text), &port) || port == 0 || port > UINT16_MAX) {
    return absl::InvalidArgumentError("its port is not a number from 1 to 65535");
  }
  *out = absl::StrCat(absl::AsciiStrToLower(View(host)), ":", port);
  return absl::OkStatus();
}

absl::Status ReadParameters(std::string_view text, Destination& destination) {
  if (text.empty()) return absl::OkStatus();
  const auto known = Of(destination.kind).parameters;
  for (const absl::string_view part : absl::StrSplit(View(text.substr(1)), '&')) {
    const std::pair<std::string, std::string> parameter =
        absl::StrSplit(part, absl::MaxSplits('=', 1));
    if (std::ranges::find(known, parameter.first) == known.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("it has an unknown parameter ", parameter.first,
                       known.empty() ? "" : absl::StrCat(", only ", View(known.front()))));
    }
    if (!destination.Parameter(parameter.first).empty()) {
      return absl::InvalidArgumentError(absl::StrCat("it has ", parameter.first, " twice"));
    }
    destination.parameters.push_back(parameter);
  }
  std::ranges::sort(destination.parameters);
  const std::string_view format = destination.Parameter("format");
  if (!format.empty() && format != "folded" && format != "pprof") {
    return absl::InvalidArgumentError("its format must be folded or pprof");
  }
  return absl::OkStatus();
}

// Reads the path. For ClickHouse it is the name of a database; for other servers it precedes the
// usual path.
absl::Status ReadPath(std::string_view path, Destination& destination) {
  while (path.ends_with('/')) path.remove_suffix(1);
  if (destination.kind != DestinationKind::kClickHouse) {
    destination.url += path;
    return absl::OkStatus();
  }
  if (path.empty()) return absl::OkStatus();
  if (!IsNameOfDatabase(path.substr(1))) {
    return absl::InvalidArgumentError("only the name of a database may follow the host");
  }
  destination.database = path.substr(1);
  return absl::OkStatus();
}

absl::Status Read(std::string_view rest, Destination& destination) {
  const KindOfServer& server = Of(destination.kind);
  std::string host;
  if (Take(rest, "http://")) {
    PROFILER_RETURN_IF_ERROR(ReadServer(TakeUpTo(rest, "/?"), server.port, &host));
    destination.url = "http://" + host;
  } else if (Take(rest, "https://")) {
    PROFILER_RETURN_IF_ERROR(ReadServer(TakeUpTo(rest, "/?"), server.tls_port, &host));
    destination.url = "https://" + host;
  } else {
    return absl::InvalidArgumentError("http:// or https:// must follow the kind of server");
  }
  PROFILER_RETURN_IF_ERROR(ReadPath(TakeUpTo(rest, "?"), destination));
  return ReadParameters(rest, destination);
}

}  // namespace

std::string_view Destination::Parameter(std::string_view name) const {
  for (const auto& [key, value] : parameters) {
    if (key == name) return value;
  }
  return {};
}

std::string Destination::Text() const {
  std::string text = absl::StrCat(View(Of(kind).prefix), url);
  if (!database.empty()) absl::StrAppend(&text, "/", database);
  if (parameters.empty()) return text;
  return absl::StrCat(text, "?", absl::StrJoin(parameters, "&", absl::PairFormatter("=")));
}

absl::StatusOr<Destination> ParseDestination(std::string_view text) {
  // If the text may contain a password, the error does not quote it.
  const size_t server = std::min(text.find("://"), text.size());
  if (text.substr(server, text.find_first_of("/?", server + 3) - server).find('@') != text.npos) {
    return absl::InvalidArgumentError(
        "a destination cannot contain a user or a password, because other users can read command "
        "lines; write USER:PASSWORD into a file and pass --user-file FILE");
  }
  if (!std::ranges::all_of(text, IsVisible))
    return Wrong(text, "it has characters that URLs cannot contain");
  for (const KindOfServer& server_kind : kKinds) {
    std::string_view rest = text;
    if (!Take(rest, server_kind.prefix)) continue;
    Destination destination;
    destination.kind = server_kind.kind;
    const absl::Status read = Read(rest, destination);
    if (read.ok()) return destination;
    return Wrong(text, {read.message().data(), read.message().size()});
  }
  return Wrong(text, "it does not begin with the kind of server");
}

}  // namespace profiler::fleet
