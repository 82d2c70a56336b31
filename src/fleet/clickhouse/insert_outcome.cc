#include "src/fleet/clickhouse/insert_outcome.h"

#include <chrono>

#include "src/fleet/clickhouse/error_codes.h"
#include "src/fleet/push/http_answer.h"

namespace profiler::fleet::clickhouse {
namespace {

bool IsOfTheRows(const http::Response& response, const ServerError& error) {
  // A proxy in front of the server may find the body too long. This error is also final, so that
  // the batch is halved: half of it may fit.
  constexpr int kContentTooLarge = 413;
  if (error.code == 0) return response.status == kContentTooLarge;
  return error.code == kCannotParse || error.code == kCannotReadAllData;
}

}  // namespace

Delivery TryAgain(const absl::Status& status) {
  return {.outcome = Delivery::Outcome::kTryAgain,
          .reason = std::string(status.message()),
          .wait = std::nullopt};
}

Delivery OutcomeOf(const Server& server, const absl::StatusOr<http::Response>& answer) {
  if (!answer.ok()) return TryAgain(answer.status());
  const auto error = ErrorOf(*answer);
  if (!error) return {.outcome = Delivery::Outcome::kDelivered, .reason = {}, .wait = {}};
  Delivery delivery = TryAgain(server.StatusOf(*error));
  delivery.wait = RetryAfter(answer->Header("retry-after"), std::chrono::system_clock::now());
  if (IsOfTheRows(*answer, *error)) delivery.outcome = Delivery::Outcome::kRefused;
  return delivery;
}

}  // namespace profiler::fleet::clickhouse
