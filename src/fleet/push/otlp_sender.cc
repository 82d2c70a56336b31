#include "src/fleet/push/otlp_sender.h"

#include <protozero/exception.hpp>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/gzip.h"
#include "src/base/text.h"
#include "src/fleet/push/http_answer.h"
#include "src/format/otlp/request.h"

namespace profiler::fleet {
namespace {

// Rows per batch. Their request is small enough for a Collector's receiver, which by default
// accepts some megabytes.
constexpr size_t kRows = 20'000;

// The profiles that a receiver rejected:
//
//   ExportProfilesServiceResponse { 1 partial_success { 1 rejected_profiles, 2 error_message } }
struct PartialSuccess {
  int64_t rejected = 0;
  std::string message;
};

PartialSuccess PartialSuccessIn(protozero::pbf_reader message) {
  PartialSuccess success;
  while (message.next()) {
    if (message.tag() == 1 && message.wire_type() == protozero::pbf_wire_type::varint) {
      success.rejected = message.get_int64();
    } else if (message.tag() == 2 &&
               message.wire_type() == protozero::pbf_wire_type::length_delimited) {
      success.message = message.get_string();
    } else {
      message.skip();
    }
  }
  return success;
}

// Parses a response; nothing if the bytes are malformed.
std::optional<PartialSuccess> ReadResponse(const std::string& bytes) {
  PartialSuccess success;
  try {  // protozero reports malformed bytes by exceptions
    protozero::pbf_reader response(bytes);
    while (response.next()) {
      if (response.tag() == 1 &&
          response.wire_type() == protozero::pbf_wire_type::length_delimited) {
        success = PartialSuccessIn(response.get_message());
      } else {
        response.skip();
      }
    }
  } catch (const protozero::exception&) {
    return std::nullopt;
  }
  return success;
}

// Interprets a response with status 200. Rejected profiles are not sent again, because the accepted
// profiles of the batch would then count twice.
Delivery DeliveryOfResponse(const http::Response& response) {
  if (response.Header("content-type").starts_with("application/json")) return {};
  const auto success = ReadResponse(response.body);
  if (!success) {
    return {
        .outcome = Delivery::Outcome::kTryAgain,
        .reason = absl::StrCat("the server does not receive OpenTelemetry profiles; it answered: ",
                               AnswerText(response))};
  }
  if (success->rejected == 0 && success->message.empty()) return {};
  std::string message;
  AppendPrintable(success->message, message);
  return {.reason = absl::StrCat("the server rejected ", success->rejected,
                                 " profiles: ", message.empty() ? "it gave no reason" : message)};
}

class OtlpOverHttp : public Sender {
 public:
  OtlpOverHttp(std::string url, std::unique_ptr<http::Client> client)
      : url_(std::move(url)), client_(std::move(client)) {}

  Delivery Send(std::span<const Window> batch) override {
    const auto answer =
        client_->Send({.url = url_,
                       .headers = {{"Content-Type", "application/x-protobuf"},
                                   {"Content-Encoding", "gzip"},
                                   {"User-Agent", batch.empty() ? "" : batch.front().version}},
                       .body = Gzip(OtlpRequest(batch), kGzipMessage),
                       .most = kMostAnswer});
    if (answer.ok() && answer->status == 200) return DeliveryOfResponse(*answer);
    return DeliveryOf(answer);
  }
  size_t RowsOfBatch() const override { return kRows; }

 private:
  const std::string url_;
  const std::unique_ptr<http::Client> client_;
};

}  // namespace

std::unique_ptr<Sender> OtlpSender(const Destination& destination,
                                   std::unique_ptr<http::Client> client) {
  return std::make_unique<OtlpOverHttp>(absl::StrCat(destination.url, View(otlp::kPath)),
                                        std::move(client));
}

}  // namespace profiler::fleet
