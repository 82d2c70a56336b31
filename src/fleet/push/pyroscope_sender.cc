#include "src/fleet/push/pyroscope_sender.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/analysis/amount.h"
#include "src/base/clock.h"
#include "src/base/text.h"
#include "src/base/utf8.h"
#include "src/fleet/push/http_answer.h"
#include "src/fleet/segments/profile_of_windows.h"
#include "src/fleet/segments/window_builder.h"
#include "src/format/perf_event/off_cpu_events.h"
#include "src/views/flamegraph/folded.h"
#include "src/views/interchange/pprof.h"

namespace profiler::fleet {
namespace {

constexpr uint64_t kUsualRate = 100;  // the server's default rate

bool IsOfName(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Replaces characters that the server does not allow in names by '_'.
std::string NameOf(std::string_view text, std::string_view also = "") {
  std::string name(text);
  for (char& c : name) {
    if (!IsOfName(c) && also.find(c) == also.npos) c = '_';
  }
  return name.empty() ? "unknown" : name;
}

std::string ValueOf(std::string_view text) {
  std::string value = ValidUtf8(text);
  for (char& c : value) {
    if (c == ',' || c == '}' || absl::ascii_iscntrl(c)) c = '_';
  }
  return value;
}

std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (IsOfName(c) || c == '-' || c == '.') {
      escaped += c;
    } else {
      absl::StrAppendFormat(&escaped, "%%%02X", static_cast<unsigned char>(c));
    }
  }
  return escaped;
}

// The service, pod and event that one request is about.
struct Subject {
  StringId service, pod;
  uint32_t event;
  bool operator==(const Subject&) const = default;
};

Subject SubjectOf(const Window& window, const Row& row) {
  const Workload& workload = window.workloads[row.workload];
  return {workload.service, workload.pod, row.event};
}

std::vector<Subject> SubjectsOf(const Window& window) {
  std::vector<Subject> subjects;
  for (const Row& row : window.rows) {
    const Subject subject = SubjectOf(window, row);
    if (std::ranges::find(subjects, subject) == subjects.end()) subjects.push_back(subject);
  }
  return subjects;
}

std::string SeriesOf(const Window& window, const Subject& subject) {
  const std::string_view event = window.strings[window.events[subject.event].name];
  std::string_view service = window.strings[subject.service];
  if (service.empty()) service = "unknown";
  const bool is_off_cpu = IsOffCpuEvent(event.substr(0, event.find(':')));
  std::vector<std::pair<std::string, std::string>> labels = {
      {"service_name", ValueOf(service)},
      {"host", ValueOf(window.host)},
      {"event", ValueOf(event)},
      {"pod", ValueOf(window.strings[subject.pod])}};
  for (const auto& [key, value] : window.labels) {
    std::string name = NameOf(key);
    const auto has_name = [&](const auto& label) { return label.first == name; };
    if (name.starts_with("__") || std::ranges::any_of(labels, has_name)) continue;
    labels.emplace_back(std::move(name), ValueOf(value));
  }
  std::string series = absl::StrCat(NameOf(service, "-"), is_off_cpu ? ".wall{" : ".cpu{");
  const char* separator = "";
  for (const auto& [key, value] : labels) {
    if (value.empty()) continue;
    absl::StrAppend(&series, std::exchange(separator, ","), key, "=", value);
  }
  return series + "}";
}

// Returns the rate to send: numbers divided by it are seconds.
uint64_t RateOf(const Window& window, bool is_time) {
  if (is_time) return kNanosecondsPerSecond;
  const auto rate = static_cast<uint64_t>(std::llround(window.frequency));
  return rate == 0 ? kUsualRate : rate;
}

profile::Profile ProfileOfSubject(const Window& window, const Subject& subject) {
  WindowBuilder builder;
  builder.window().begin = window.begin;
  builder.AddRows(window, [&](const Row& row) { return SubjectOf(window, row) == subject; });
  Window part = std::move(builder).Finish();
  // Stacks begin with the program, because the series' name already contains the service.
  for (Workload& workload : part.workloads) workload.service = StringId::kEmpty;
  return ProfileOf({&part, 1});
}

std::string BodyOf(const Window& window, const Subject& subject, bool is_time,
                   PyroscopeFormat format) {
  const profile::Profile profile = ProfileOfSubject(window, subject);
  if (format == PyroscopeFormat::kPprof) {
    return exports::Pprof(profile, {.hostname = window.host,
                                    .producer = window.version,
                                    .last_sample = window.length,
                                    .clock_started = window.begin});
  }
  return exports::Folded(
      profile, {.weight = is_time ? exports::WeightBy::kPeriod : exports::WeightBy::kSamples,
                .names = exports::NameStyle::kFull});
}

http::Request RequestOf(const Window& window, const Subject& subject, std::string_view url,
                        PyroscopeFormat format) {
  const bool is_time = analysis::IsTime(window.strings[window.events[subject.event].name]);
  const bool is_pprof = format == PyroscopeFormat::kPprof;
  const UnixTime end = window.begin + static_cast<UnixTime>(window.length);
  return {.url = absl::StrCat(
              View(url), "/ingest?name=", Escaped(SeriesOf(window, subject)),
              "&from=", window.begin / kNanosecondsPerSecond,
              "&until=", (end + kNanosecondsPerSecond - 1) / kNanosecondsPerSecond,
              "&units=samples&sampleRate=", RateOf(window, is_time),
              "&aggregationType=sum&spyName=profiler&format=", is_pprof ? "pprof" : "folded"),
          .headers = {{"Content-Type", is_pprof ? "application/octet-stream" : "text/plain"},
                      {"User-Agent", window.version}},
          .body = BodyOf(window, subject, is_time, format),
          .most = kMostAnswer};
}

class PyroscopeOverHttp : public Sender {
 public:
  PyroscopeOverHttp(std::string url, PyroscopeFormat format, std::unique_ptr<http::Client> client)
      : url_(std::move(url)), format_(format), client_(std::move(client)) {}

  Delivery Send(std::span<const Window> batch) override {
    std::vector<http::Request> requests;
    for (const Window& window : batch) {
      for (http::Request& request : PyroscopeRequests(window, url_, format_)) {
        requests.push_back(std::move(request));
      }
    }
    GoOn(requests);
    while (answered_ < requests.size()) {
      const Delivery delivery = DeliveryOf(client_->Send(requests[answered_]));
      if (delivery.outcome == Delivery::Outcome::kTryAgain) return delivery;
      if (delivery.outcome == Delivery::Outcome::kRefused) {
        ++refused_;
        reason_ = delivery.reason;
      }
      ++answered_;
    }
    return Outcome(requests.size());
  }

  // Batches have one window, because each window takes several requests.
  size_t RowsOfBatch() const override { return 1; }

 private:
  // If the batch equals the previous one, continues after its last answered request.
  void GoOn(const std::vector<http::Request>& requests) {
    std::vector<std::string> names;
    names.reserve(requests.size());
    for (const http::Request& request : requests) names.push_back(request.url);
    if (names == names_) return;
    names_ = std::move(names);
    answered_ = refused_ = 0;
  }

  // If only some requests were refused, returns kDelivered, so that the accepted requests are not
  // sent again.
  Delivery Outcome(size_t requests) {
    names_.clear();
    if (refused_ == 0) return {};
    if (refused_ == requests) {
      return {.outcome = Delivery::Outcome::kRefused, .reason = reason_};
    }
    return {.reason = absl::StrCat(refused_, " of the ", requests,
                                   " requests of a window were refused: ", reason_)};
  }

  const std::string url_;
  const PyroscopeFormat format_;
  const std::unique_ptr<http::Client> client_;
  // State of the batch in flight:
  std::vector<std::string> names_;
  size_t answered_ = 0, refused_ = 0;
  std::string reason_;
};

}  // namespace

std::vector<http::Request> PyroscopeRequests(const Window& window, std::string_view url,
                                             PyroscopeFormat format) {
  std::vector<http::Request> requests;
  for (const Subject& subject : SubjectsOf(window)) {
    requests.push_back(RequestOf(window, subject, url, format));
  }
  return requests;
}

std::unique_ptr<Sender> PyroscopeSender(const Destination& destination,
                                        std::unique_ptr<http::Client> client) {
  const bool is_pprof = destination.Parameter("format") == "pprof";
  return std::make_unique<PyroscopeOverHttp>(
      destination.url, is_pprof ? PyroscopeFormat::kPprof : PyroscopeFormat::kFolded,
      std::move(client));
}

}  // namespace profiler::fleet
