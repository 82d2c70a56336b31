#include "src/cli/recording/record_once.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "ringbuf/kernel.h"
#include "src/base/percent.h"
#include "src/cli/command.h"
#include "src/cli/command_end.h"
#include "src/cli/recording/naming_monitor.h"
#include "src/cli/recording/verbose_kernel.h"
#include "src/cli/terminal/output.h"
#include "src/cli/views/naming_arguments.h"
#include "src/format/perf_data/write/writer.h"
#include "src/profile/naming/collect_names.h"
#include "src/profile/naming/embed_names.h"
#include "src/profile/naming/naming_queue.h"
#include "src/record/session.h"

namespace profiler::cli {
namespace {

// Returns the progress line of a recording on a terminal.
std::string ProgressOf(const record::RecordProgress& progress) {
  return absl::StrFormat("Recording: %.0f s, %d samples, %d lost, %.1f MB",
                         progress.elapsed.count() / 1e3, progress.samples, progress.lost,
                         progress.bytes / 1e6);
}

void PrintChains(const record::RecordSummary& summary) {
  const ChainQuality& chains = summary.chains;
  const std::vector<ChainWeights>& events = summary.chain_weights;
  const auto percent = [](const ChainWeights& event) {
    return Percent(event.whole, event.whole + event.cut);
  };
  std::string line = absl::StrFormat("%.2f %% of %d call chains are whole by weight",
                                     events.empty() ? 0 : percent(events[0]), chains.chains());
  if (events.size() > 1) absl::StrAppend(&line, " of ", events[0].event);
  for (size_t i = 1; i < events.size(); ++i) {
    absl::StrAppendFormat(&line, ", %.2f %% of %s", percent(events[i]), events[i].event);
  }
  const auto add = [&](uint64_t count, const char* what) {
    if (count > 0) absl::StrAppend(&line, ", ", count, " ", what);
  };
  add(chains.late_read, "read while threads waited");
  add(chains.guessed, "guessed");
  add(chains.cut(), "are cut (`profiler report --chains` shows where)");
  add(chains.no_stack, "without a user stack (exec or exit)");
  add(summary.hurried_passes, "times a ring was read early because it was full");
  PrintNote(line);
}

// Prints how many samples of Python have their functions. Prints nothing if Python did not run.
void PrintPython(const record::python::Counts& python) {
  const uint64_t all = python.whole + python.partly + python.unknown + python.early;
  if (all == 0) return;
  std::string line =
      absl::StrFormat("Python: %.2f %% of %d stacks are whole", Percent(python.whole, all), all);
  const auto add = [&](uint64_t count, const char* what) {
    if (count > 0) absl::StrAppend(&line, ", ", count, " ", what);
  };
  add(python.partly, "lack callers");
  add(python.unknown, "lack all functions");
  add(python.early, "precede the start of the walk");
  add(python.torn, "walks were cut");
  PrintNote(line);
}

void PrintStates(const record::ThreadStates& states) {
  const double sum =
      static_cast<double>(states.running + states.preempted + states.blocked + states.unknown);
  if (sum == 0) return;
  const auto percent = [sum](uint64_t time) { return static_cast<double>(time) * 100 / sum; };
  std::string line =
      absl::StrFormat("%d threads: run %.1f %%, runnable %.1f %%, blocked %.1f %%", states.threads,
                      percent(states.running), percent(states.preempted + states.awakened),
                      percent(states.blocked - states.awakened));
  constexpr size_t kMostCalls = 4;
  for (size_t i = 0; i < std::min(kMostCalls, states.calls.size()); ++i) {
    absl::StrAppend(&line, i == 0 ? "; were in " : ", ", states.calls[i].first,
                    absl::StrFormat(" %.1f %%", percent(states.calls[i].second)));
  }
  if (states.unknown > 0)
    absl::StrAppendFormat(&line, "; unknown %.1f %%", percent(states.unknown));
  PrintNote(line);
  line = absl::StrFormat("%d context switches", states.switches);
  if (states.sampled > 0 && states.sampled < states.switches) {
    absl::StrAppendFormat(&line, ", %d of them sampled", states.sampled);
  }
  const auto percent_off = [&](uint64_t time) {
    return static_cast<double>(time) * 100 / static_cast<double>(states.preempted + states.blocked);
  };
  if (states.estimated > 0) {
    absl::StrAppendFormat(
        &line, "; for %.1f %% of the off-CPU time, stacks are estimated from other switches",
        percent_off(states.estimated));
  }
  if (states.without_stack > 0) {
    absl::StrAppendFormat(&line, "; %.1f %% of the off-CPU time has no stack",
                          percent_off(states.without_stack));
  }
  PrintNote(line);
}

std::string OutputOf(const record::RecordSummary& summary) {
  if (summary.last_file == "-") return "standard output";
  if (summary.files == 1) return summary.last_file;
  return absl::StrCat(summary.files, " files");
}

// Says how the memory of a flight recorder becomes a file.
void PrintFlight(const record::FlightOptions& flight) {
  const std::string kept =
      flight.before.count() == 0
          ? absl::StrFormat("the last %d MB", flight.bytes >> 20)
          : absl::StrFormat("the last %g s, at most %d MB,",
                            static_cast<double>(flight.before.count()) / 1e3, flight.bytes >> 20);
  std::string triggers;
  for (const record::FlightTrigger& trigger : flight.triggers) {
    absl::StrAppend(&triggers, triggers.empty() ? ", and so does " : " or ", trigger.text);
  }
  PrintNote(absl::StrFormat("flight recorder: %s are in memory; `kill -USR2 %d` writes them%s",
                            kept, getpid(), triggers));
}

void PrintSummary(const record::RecordSummary& summary, bool is_flight, bool verbose) {
  const double cpu_ms = (summary.user_time + summary.system_time).count() / 1e3;
  std::string line = absl::StrFormat("profiler record: %d samples, %d lost, %.2f s, ",
                                     summary.samples, summary.lost, summary.duration.count() / 1e9);
  if (is_flight && summary.files == 0) {
    line += "of which nothing was written";
  } else {
    absl::StrAppendFormat(&line, "%s%.3f MB in %s", is_flight ? "of which " : "",
                          summary.bytes / 1e6, OutputOf(summary));
  }
  PrintNote(absl::StrFormat("%s; recording took %.0f ms of CPU", line, cpu_ms));
  if (summary.lost_chunks > 0) {
    PrintNote(
        absl::StrFormat("the rings were full %d times; pass a larger ring size (-m, now %dK per "
                        "CPU) or a lower frequency (-F)",
                        summary.lost_chunks, summary.ring_bytes / 1024));
  }
  if (summary.states) PrintStates(*summary.states);
  if (summary.chains.chains() > 0) PrintChains(summary);
  if (summary.python) PrintPython(*summary.python);
  if (verbose) {
    PrintNote(absl::StrFormat("ring size %dK per CPU, %d wake-ups, %.0f ms user, %.0f ms system",
                              summary.ring_bytes / 1024, summary.wakeups,
                              summary.user_time.count() / 1e3, summary.system_time.count() / 1e3));
    PrintNote("priority of the recorder: " +
              (summary.priority.empty() ? "normal" : summary.priority));
  }
}

using Kept = std::shared_ptr<symbolize::KeptFiles>;

naming::NamingOptions NamingOptionsOf(const RecordArguments& arguments, const Kept& kept) {
  naming::NamingOptions naming;
  naming.places.no_cache = arguments.no_cache;
  naming.places.no_sandbox = arguments.no_sandbox;
  naming.places.vmlinux = arguments.vmlinux;
  naming.warn = PrintWarning;
  naming.files_name = symbolize::FilesName::kOthers;
  naming.is_this_machine = true;
  naming.kept = kept;
  return naming;
}

// Lowers the priority, except with --repeat, because the next run's command would inherit it.
void GiveWay(const RecordArguments& arguments) {
  if (!arguments.repeat) naming::LowerPriority();
}

// The outcome of naming a file.
struct Named {
  bool is_whole = true;  // False if the user ended naming early.
  std::string missing;   // a line for the user, as Recorded::missing_names
};

// Names the recorded addresses and appends the names to the recording: the file `path`, or the
// stream that `stream` has seen. The samples are safe by now, so callers treat errors as warnings.
absl::StatusOr<Named> NameLastFile(const RecordArguments& arguments, const Kept& kept,
                                   const std::string& path, naming::StreamNames& stream,
                                   record::RecordSession& session) {
  const auto began = std::chrono::steady_clock::now();
  perf_data::Writer& file = *session.last_file();
  absl::StatusOr<naming::Embedded> embedded;
  bool is_whole = true;
  GiveWay(arguments);
  {
    NamingMonitor monitor(!arguments.quiet);
    embedded = file.readable_file() >= 0
                   ? naming::EmbedNames(file, path, naming::EmbeddingOf(arguments.embed),
                                        NamingOptionsOf(arguments, kept), monitor.callback())
                   : naming::EmbedNames(file, std::move(stream).Collect(monitor.callback()));
    is_whole = !monitor.was_ended();
  }
  PROFILER_RETURN_IF_ERROR(embedded.status());
  if (!arguments.quiet) {
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    PrintNote(absl::StrFormat("%s; %.2f s", embedded->found, took.count()));
  }
  Named named = {.is_whole = is_whole, .missing = std::move(embedded->missing)};
  if (!session.summary().python_is_refused && !embedded->missing_python.empty()) {
    absl::StrAppend(&named.missing, named.missing.empty() ? "" : "; ", embedded->missing_python);
  }
  return named;
}

// Names the last file. In the result, is_whole is true if the file has all names that could be
// found, and `missing` says which names the program did not provide.
Named NameRecording(const RecordArguments& arguments, const Kept& kept, naming::StreamNames& stream,
                    record::RecordSession& session) {
  constexpr bool kNo = false, kYes = true;
  const record::RecordSummary& summary = session.summary();
  const bool has_reader = summary.stop_reason != record::StopReason::kReaderLeft;
  if (!has_reader) return {kNo, {}};
  const perf_data::Writer* const file = session.last_file();
  const bool is_readable = file != nullptr && (stream.has_events() || file->readable_file() >= 0);
  if (!is_readable) return {kNo, {}};
  if (summary.last_file_samples == 0) return {kYes, {}};
  absl::StatusOr<Named> named = NameLastFile(arguments, kept, summary.last_file, stream, session);
  if (!named.ok()) {
    PrintWarning(absl::StrCat("the recording contains no names: ", named.status().message()));
  }
  return named.ok() ? *std::move(named) : Named{kNo, {}};
}

// Waits for the command. This is the last step, because the command may run for a long time after
// the recording.
absl::Status AwaitCommand(const RecordArguments& arguments, record::RecordSession& session) {
  if (session.summary().command_runs_on && !arguments.quiet) {
    PrintNote(
        absl::StrCat("the recording is complete; waiting for the command, which has not ended "
                     "after SIGTERM (Ctrl-C ends only profiler)"));
  }
  return session.AwaitCommand();
}

// Finishes naming the files before the last one.
void FinishNaming(const RecordArguments& arguments, naming::NamingQueue& files) {
  {
    GiveWay(arguments);
    NamingMonitor monitor(!arguments.quiet);
    files.Finish(monitor.callback());
  }
  for (const std::string& warning : files.warnings()) PrintWarning(warning);
}

void PrintFile(const std::string& path, uint64_t samples, const std::string& about) {
  PrintNote(absl::StrCat("profiler record: ", samples, " samples in ", path,
                         about.empty() ? "" : ": ", about));
}

}  // namespace

Recorded RecordOnce(const RecordArguments& arguments, record::RecordOptions options, Said& said) {
  // A command may write to the terminal, too, where its text would follow the line.
  const bool is_shown = !arguments.quiet && options.targets.command.empty() && ErrorsAreShownLive();
  Progress line(is_shown);
  if (is_shown) {
    options.on_progress = [&line](const record::RecordProgress& progress) {
      line.Show([&] { return ProgressOf(progress); });
    };
  }
  const bool names_follow = arguments.embed != "none";
  const Kept kept = names_follow ? std::make_shared<symbolize::KeptFiles>() : nullptr;
  options.kept = kept;
  const naming::NamingOptions naming = NamingOptionsOf(arguments, kept);
  naming::StreamNames stream(naming::EmbeddingOf(arguments.embed), naming);
  if (names_follow) options.on_stream = [&stream](auto pieces) { stream.Take(pieces); };
  const bool is_switching = options.switch_output.has_value();
  const std::optional<record::FlightOptions> flight = options.flight;
  naming::NamingQueue files(naming::EmbeddingOf(arguments.embed), naming);
  options.on_file = [&](record::CompleteFile file) {
    line.Clear();
    if (!arguments.quiet) PrintFile(file.path, file.samples, file.about);
    if (names_follow) files.Add({std::move(file.path), file.samples, std::move(file.writer)});
  };
  options.on_failure = [&line](const std::string& message) {
    line.Clear();
    PrintWarning(message);
  };
  VerboseKernel verbose_kernel(ringbuf::LinuxKernel(), PrintLines);
  ringbuf::Kernel& kernel = arguments.verbosity > 1 ? verbose_kernel : ringbuf::LinuxKernel();
  for (const std::string& note : options.targets.notes) {
    if (!arguments.quiet && said.insert(note).second) PrintNote(note);
  }
  auto session = record::RecordSession::Create(kernel, std::move(options));
  if (!session.ok()) {
    PrintError(session.status());
    return {.status = session.status()};
  }
  const record::RecordSummary& summary = (*session)->summary();
  size_t printed_notes = 0;
  const auto print_notes = [&] {
    for (; printed_notes < summary.notes.size(); ++printed_notes) {
      const std::string& note = summary.notes[printed_notes];
      if (!arguments.quiet && said.insert(note).second) PrintWarning(note);
    }
  };
  print_notes();
  if (!arguments.quiet && !summary.call_graph.empty() && said.insert(summary.call_graph).second) {
    PrintNote("call graph: " + summary.call_graph);
  }
  if (!arguments.quiet && flight) PrintFlight(*flight);
  const absl::Status status = (*session)->Run();
  line.Clear();
  print_notes();
  if (!status.ok()) PrintError(status);
  if (!arguments.quiet && is_switching) PrintFile(summary.last_file, summary.last_file_samples, "");
  if (!arguments.quiet) PrintSummary(summary, flight.has_value(), arguments.verbosity > 0);
  FinishNaming(arguments, files);
  Recorded recorded = {.status = status};
  if (status.ok() && names_follow && !flight) {
    Named named = NameRecording(arguments, kept, stream, **session);
    recorded.has_all_names = named.is_whole;
    recorded.missing_names = std::move(named.missing);
  }
  recorded.status.Update(AwaitCommand(arguments, **session));
  recorded.summary = summary;
  return recorded;
}

int ExitCodeOf(const Recorded& recorded) {
  if (recorded.status.ok()) return EndAsTheCommand(recorded.summary.command);
  return target::CommandFailure(recorded.status).value_or(kExitFailure);
}

}  // namespace profiler::cli
