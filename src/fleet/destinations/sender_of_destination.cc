#include "src/fleet/push/sender_of_destination.h"

#include <utility>

#include "src/fleet/clickhouse/clickhouse_sender.h"
#include "src/fleet/push/otlp_sender.h"
#include "src/fleet/push/pyroscope_sender.h"

namespace profiler::fleet {
namespace {

absl::StatusOr<std::unique_ptr<Sender>> ToClickHouse(const Destination& destination,
                                                     std::unique_ptr<http::Client> client) {
  clickhouse::SenderOptions options = {.address = {.url = destination.url}};
  if (!destination.database.empty()) options.address.database = destination.database;
  if (const std::string_view schema = destination.Parameter("schema"); !schema.empty()) {
    PROFILER_ASSIGN_OR_RETURN(options.schema, clickhouse::ParseSchema(schema));
  }
  return clickhouse::ClickHouseSender(std::move(client), std::move(options));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Sender>> SenderOfDestination(const Destination& destination,
                                                            const http::Options& options) {
  PROFILER_ASSIGN_OR_RETURN(auto client, http::CreateClient(options));
  switch (destination.kind) {
    case DestinationKind::kOtlp:
      return OtlpSender(destination, std::move(client));
    case DestinationKind::kPyroscope:
      return PyroscopeSender(destination, std::move(client));
    case DestinationKind::kClickHouse:
      break;
  }
  return ToClickHouse(destination, std::move(client));
}

}  // namespace profiler::fleet
