// profiler push

#include <signal.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/base/text.h"
#include "src/cli/command.h"
#include "src/cli/fleet/push_metrics.h"
#include "src/cli/fleet/server_arguments.h"
#include "src/cli/option_values.h"
#include "src/cli/recording/signal_counter.h"
#include "src/cli/terminal/output.h"
#include "src/fleet/agent/agent_metrics.h"
#include "src/fleet/agent/metrics_server.h"
#include "src/fleet/agent/push_thread.h"
#include "src/fleet/push/journal.h"
#include "src/fleet/push/push_loop.h"
#include "src/fleet/push/segment_delivery.h"
#include "src/fleet/push/sender_of_destination.h"
#include "src/fleet/segments/segment_directory.h"

namespace profiler::cli {
namespace {

using fleet::Destination;
using fleet::PushLoop;
using fleet::SegmentDelivery;
using fleet::SegmentDirectory;
using fleet::SegmentFile;

constexpr std::array kEndingSignals = {SIGINT, SIGTERM};
// Interval at which the signal count is checked.
constexpr std::chrono::milliseconds kLookForSignal(100);
// Time that a server has to answer after a signal.
constexpr std::chrono::milliseconds kForAnswer(600);

struct PushArguments {
  std::string spool = fleet::kUsualSpool;
  std::vector<std::string> to;
  http::Options server;
  bool follow = false;
  std::string metrics = "none";
  bool dry_run = false;
  uint32_t tries = 5;
  // Total size of the files in a batch. An agent uses smaller batches to save memory. Larger
  // batches are faster for a push of many machines' segments.
  std::string batch_size = "16M";
  bool quiet = false;
};

// A printer of one destination's events. Of successive failures it prints only the 1st, 2nd, 4th,
// 8th and so on, so that an outage of a night does not fill the log.
class Announcer : public SegmentDelivery::Listener {
 public:
  explicit Announcer(std::string destination) : destination_(std::move(destination)) {}

  void OnSkipped(const SegmentFile& file, std::string_view reason) override {
    PrintWarning(
        absl::StrCat(file.name, " cannot be pushed to ", destination_, ": ", View(reason)));
  }
  void OnFailure(std::string_view reason, uint64_t failures,
                 SegmentDelivery::Duration wait) override {
    if ((failures & (failures - 1)) != 0) return;
    PrintWarning(absl::StrFormat("%s: %s; trying again in %.1f s", destination_, View(reason),
                                 std::chrono::duration<double>(wait).count()));
  }
  void OnRemark(std::string_view remark) override {
    PrintWarning(absl::StrCat(destination_, ": ", View(remark)));
  }

 private:
  const std::string destination_;
};

// The delivery to one destination, for a thread of its own.
class Pushing {
 public:
  static absl::StatusOr<std::unique_ptr<Pushing>> Open(const SegmentDirectory& directory,
                                                       const Destination& destination,
                                                       const http::Options& server,
                                                       uint64_t batch_size) {
    auto pushing = std::make_unique<Pushing>(destination.Text());
    PROFILER_ASSIGN_OR_RETURN(pushing->sender_, fleet::SenderOfDestination(destination, server));
    PROFILER_ASSIGN_OR_RETURN(
        pushing->delivery_,
        SegmentDelivery::Open(directory, pushing->destination_, *pushing->sender_,
                              pushing->announcer_, {.most_bytes = batch_size}));
    return pushing;
  }
  explicit Pushing(std::string destination)
      : destination_(std::move(destination)), announcer_(destination_) {}

  void Run(PushLoop& loop) { ended_ = loop.Run(*delivery_); }

  // Returns a line about the delivery's results.
  std::string Summary() const {
    const SegmentDelivery::Counters done = delivery_->counters();
    std::string line = absl::StrCat("profiler push: ", done.samples, " samples in ", done.segments,
                                    " segments to ", destination_, " (", done.attempts,
                                    done.attempts == 1 ? " request)" : " requests)");
    const auto add = [&](uint64_t count, std::string_view text) {
      if (count > 0) absl::StrAppend(&line, ", ", count, View(text));
    };
    add(done.refused, " refused");
    add(done.damaged, " damaged");
    add(done.gone, " gone before they could be sent");
    add(delivery_->pending(), " not sent yet");
    return line;
  }
  bool is_whole() const {
    const SegmentDelivery::Counters done = delivery_->counters();
    return ended_.ok() && done.refused + done.damaged == 0;
  }
  agent::AgentMetrics::Pushed Figures() const {
    return agent::FiguresOf(destination_, delivery_->counters());
  }
  const absl::Status& ended() const { return ended_; }
  const std::string& destination() const { return destination_; }

 private:
  const std::string destination_;
  Announcer announcer_;
  std::unique_ptr<fleet::Sender> sender_;
  std::unique_ptr<SegmentDelivery> delivery_;
  absl::Status ended_;
};

// Runs all deliveries until the last one ends or a signal comes. Without deliveries, waits for a
// signal. After a signal, waits at most kForAnswer for answers to requests in flight, and then ends
// the process. A second signal ends the process at once.
void RunAll(const std::vector<std::unique_ptr<Pushing>>& all, PushLoop& loop) {
  const SignalCounter signals(kEndingSignals, /*once=*/true);
  std::mutex mutex;
  std::condition_variable changed;
  size_t running = all.size();
  std::vector<std::thread> threads;
  for (const auto& pushing : all) {
    threads.emplace_back([&, one = pushing.get()] {
      one->Run(loop);
      const std::lock_guard lock(mutex);
      --running;
      changed.notify_all();
    });
  }
  {
    const auto is_over = [&] { return running == 0 && (!all.empty() || signals.count() > 0); };
    std::unique_lock lock(mutex);
    while (!changed.wait_for(lock, kLookForSignal, is_over) && signals.count() == 0) {
    }
    if (running > 0) {
      loop.Stop();
      if (!changed.wait_for(lock, kForAnswer, is_over)) {
        PrintWarning(
            "ended before a server answered; unconfirmed segments are sent again next time");
        std::_Exit(kExitFailure);
      }
    }
  }
  for (std::thread& thread : threads) thread.join();
}

// Returns what would be sent to one destination.
absl::StatusOr<std::string> DryRun(const SegmentDirectory& directory,
                                   const Destination& destination) {
  PROFILER_ASSIGN_OR_RETURN(const auto files, directory.List(INT64_MIN, INT64_MAX));
  PROFILER_ASSIGN_OR_RETURN(const auto journal,
                            fleet::PushJournal::Peek(directory.path(), destination.Text()));
  uint64_t segments = 0, samples = 0, bytes = 0, sent = 0;
  std::string skipped;
  for (const SegmentFile& file : files) {
    if (journal.IsSkipped(file.name)) {
      absl::StrAppend(&skipped, "  skipped  ", file.name, "  ", journal.skipped().at(file.name),
                      "\n");
    } else if (journal.IsDone(file.name)) {
      ++sent;
    } else {
      const auto head = directory.ReadHead(file);
      samples += head.ok() ? head->samples : 0;
      bytes += file.bytes;
      ++segments;
    }
  }
  return absl::StrFormat(
      "%s\n  to send  %d segments with %d samples, %.1f MB\n  sent     %d segments\n%s",
      destination.Text(), segments, samples, static_cast<double>(bytes) / 1e6, sent, skipped);
}

absl::Status PrintDryRun(const SegmentDirectory& directory,
                         const std::vector<Destination>& destinations) {
  Output output("-");
  for (const Destination& destination : destinations) {
    PROFILER_ASSIGN_OR_RETURN(const std::string text, DryRun(directory, destination));
    output.Write(text);
  }
  return output.Close();
}

absl::StatusOr<std::vector<Destination>> Destinations(const PushArguments& arguments) {
  std::vector<Destination> destinations;
  for (const std::string& text : arguments.to) {
    PROFILER_ASSIGN_OR_RETURN(const Destination destination, fleet::ParseDestination(text));
    for (const Destination& other : destinations) {
      if (other == destination) {
        return absl::InvalidArgumentError(absl::StrCat("--to ", text, " is given twice"));
      }
    }
    destinations.push_back(destination);
  }
  return destinations;
}

// Sends all segments. Returns true if every segment was delivered.
absl::StatusOr<bool> PushAll(const PushArguments& arguments, const SegmentDirectory& directory,
                             const std::vector<Destination>& destinations, uint64_t batch_size) {
  std::vector<std::unique_ptr<Pushing>> all;
  for (const Destination& destination : destinations) {
    PROFILER_ASSIGN_OR_RETURN(all.emplace_back(),
                              Pushing::Open(directory, destination, arguments.server, batch_size));
  }
  PushLoop::Options options = {.follow = arguments.follow};
  if (arguments.follow) {
    options.on_error = [](const absl::Status& status) {
      PrintWarning(std::string(status.message()));
    };
  } else {
    options.most_failures = arguments.tries;
  }
  std::unique_ptr<PushMetrics> metrics;
  if (arguments.metrics != "none") {
    PROFILER_ASSIGN_OR_RETURN(const auto address, agent::ParseListenAddress(arguments.metrics));
    const auto figures = [&all] {
      std::vector<agent::AgentMetrics::Pushed> pushed;
      for (const auto& pushing : all) pushed.push_back(pushing->Figures());
      return pushed;
    };
    PROFILER_ASSIGN_OR_RETURN(metrics, PushMetrics::Start(address, arguments.spool, figures));
    if (agent::IsForOthers(address)) {
      PrintWarning(
          absl::StrCat("--metrics: everybody who can reach ", address.host, " can read them"));
    }
    if (!arguments.quiet) {
      PrintNote(absl::StrCat("profiler push: metrics at port ", metrics->port(), ", /metrics"));
    }
  }
  PushLoop loop(options);
  RunAll(all, loop);
  bool is_whole = true;
  for (const auto& pushing : all) {
    if (!pushing->ended().ok()) {
      PrintError(Prefixed(pushing->destination() + ": ", pushing->ended()));
    }
    if (!arguments.quiet) PrintNote(pushing->Summary());
    is_whole = is_whole && pushing->is_whole();
  }
  return is_whole;
}

absl::Status CheckTask(const PushArguments& arguments) {
  const bool has_metrics = arguments.metrics != "none";
  if (has_metrics && !arguments.follow) {
    return absl::InvalidArgumentError(
        "--metrics needs --follow, because push ends soon without it");
  }
  if (arguments.to.empty() && !has_metrics) {
    return absl::InvalidArgumentError(
        "there is nothing to do; give --to DESTINATION, or --follow --metrics ADDRESS:PORT");
  }
  if (has_metrics) {
    const auto address = agent::ParseListenAddress(arguments.metrics);
    if (!address.ok()) return Prefixed("--metrics: ", address.status());
  }
  return absl::OkStatus();
}

int Push(const PushArguments& arguments) {
  const auto destinations = Destinations(arguments);
  if (!destinations.ok()) {
    PrintError(destinations.status());
    return kExitUsage;
  }
  const absl::Status checked = CheckTask(arguments);
  if (!checked.ok()) {
    PrintError(checked);
    return kExitUsage;
  }
  const auto batch_size = ParseSize(arguments.batch_size);
  if (!batch_size.ok()) {
    PrintError(Prefixed("--batch-size: ", batch_size.status()));
    return kExitUsage;
  }
  const auto directory = SegmentDirectory::Open(arguments.spool);
  if (!directory.ok()) {
    PrintError(directory.status());
    return kExitFailure;
  }
  if (arguments.dry_run) {
    const absl::Status printed = PrintDryRun(*directory, *destinations);
    if (!printed.ok()) PrintError(printed);
    return printed.ok() ? kExitOk : kExitFailure;
  }
  const auto is_whole = PushAll(arguments, *directory, *destinations, *batch_size);
  if (!is_whole.ok()) PrintError(is_whole.status());
  return is_whole.ok() && *is_whole ? kExitOk : kExitFailure;
}

}  // namespace

void AddPushCommand(usage::Command& app, Commands& commands) {
  usage::Command& command = app.AddCommand("push", "Send the segments of an agent to a server");
  command.SetFooter(
      "The progress is written beside the segments, so the next run continues there, even after "
      "kill -9. The segments stay in the directory.");
  auto arguments = std::make_shared<PushArguments>();
  PushArguments& a = *arguments;
  command.AddOption("SPOOL", a.spool, "directory of the segments").ShowDefault();
  command
      .AddOption("--to", a.to,
                 "server to send to: clickhouse+http://HOST:PORT/DATABASE, otlp+http://HOST:PORT "
                 "or pyroscope+http://HOST:PORT, or with https; may be given several times")
      .ValueName("DESTINATION")
      .OneValueEach();
  AddServerOptions(command, a.server);
  command.AddFlag("--follow", a.follow, "keep running, send new segments, and retry without end");
  command
      .AddOption("--metrics", a.metrics,
                 "with --follow: serve metrics of the agent and of push at http://ADDRESS/metrics, "
                 "for example 127.0.0.1:9099")
      .ValueName("ADDRESS:PORT|none")
      .ShowDefault();
  command
      .AddOption("--tries", a.tries, "without --follow: give up after this many failures in a row")
      .ValueName("N")
      .InRange(uint32_t{1}, uint32_t{1000})
      .ShowDefault();
  command
      .AddOption("--batch-size", a.batch_size,
                 "bytes of segments in one request; push needs about 22 times as much memory; "
                 "smaller requests cost the server more")
      .ValueName("SIZE")
      .ShowDefault();
  command.AddFlag("--dry-run", a.dry_run, "print what would be sent, but send nothing");
  command.AddFlag("-q,--quiet", a.quiet, "print warnings and errors only");
  commands[&command] = [arguments] { return Push(*arguments); };
}

}  // namespace profiler::cli
