#include "src/fleet/agent/agent_metrics.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/base/text.h"

namespace profiler::agent {
namespace {

// Escapes backslashes, quotes and line feeds of a label's value.
std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\n') {
      escaped += "\\n";
      continue;
    }
    if (c == '\\' || c == '"') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string Number(double value) { return absl::StrFormat("%.12g", value); }
std::string Number(uint64_t value) { return absl::StrCat(value); }

class TextMaker {
 public:
  template <class Value>
  void Counter(std::string_view name, std::string_view help, Value value) {
    Head(name, "counter", help);
    Line(name, "", Number(value));
  }
  template <class Value>
  void Gauge(std::string_view name, std::string_view help, Value value) {
    Head(name, "gauge", help);
    Line(name, "", Number(value));
  }
  void Head(std::string_view name, std::string_view type, std::string_view help) {
    absl::StrAppend(&text_, "# HELP profiler_agent_", View(name), " ", View(help), "\n",
                    "# TYPE profiler_agent_", View(name), " ", View(type), "\n");
  }
  void Line(std::string_view name, std::string_view labels, const std::string& value) {
    absl::StrAppend(&text_, "profiler_agent_", View(name), View(labels), " ", value, "\n");
  }
  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
};

void AddRecording(const AgentMetrics& m, TextMaker& text) {
  text.Counter("samples_total", "Recorded samples.", m.samples);
  text.Counter(
      "lost_samples_total",
      "Samples that the kernel dropped, because its buffer was full or it throttled an event.",
      m.lost);
  text.Counter("chains_total", "Unwound call chains.", m.chains);
  text.Counter("cut_chains_total", "Call chains that do not reach the start of their thread.",
               m.cut_chains);
  text.Counter("windows_total", "Windows written as segments.", m.windows);
  text.Counter("lost_windows_total", "Windows that could not be read, named in time, or written.",
               m.lost_windows);
  text.Counter("sessions_total", "Started recording sessions.", m.sessions);
  text.Counter("failed_sessions_total",
               "Recording sessions that could not start or ended with an error.",
               m.failed_sessions);
  text.Counter("gap_seconds_total", "Time between sessions, when nothing was recorded.",
               m.gap_seconds);
  text.Counter("naming_seconds_total", "Time spent on looking up names.", m.naming_seconds);
  text.Counter("name_stores_total", "Times that the looked-up names were discarded to free memory.",
               m.name_stores);
  text.Gauge("frequency_hertz", "Samples per second on each CPU.", m.frequency);
  text.Gauge("last_window_timestamp_seconds", "End of the last window, in Unix time.",
             m.last_window);
}

void AddCosts(const AgentMetrics& m, TextMaker& text) {
  text.Counter("cpu_seconds_total", "CPU time of this process and its child processes.",
               m.cpu_seconds);
  text.Gauge("cpu_share", "CPU time in the last window, as a share of all CPUs together.",
             m.cpu_share);
  text.Gauge("cpu_budget",
             "Largest permitted share (--cpu-budget); the frequency is adjusted to it.",
             m.cpu_budget);
  text.Gauge("cpus", "Online CPUs of this machine.", uint64_t{m.cpus});
  text.Gauge("memory_bytes",
             "Memory of this process and its child processes; shared pages count in part (PSS).",
             m.memory);
  text.Gauge("resident_bytes",
             "Memory of this process and its child processes; shared pages count in full (RSS).",
             m.resident);
  text.Gauge("memory_limit_bytes", "Largest permitted memory (--memory).", m.memory_limit);
}

void AddSpool(const AgentMetrics& m, TextMaker& text) {
  text.Gauge("segments", "Segments in the spool.", m.segments);
  text.Gauge("spool_bytes", "Size of all segments in the spool.", m.spool_bytes);
  text.Counter("dropped_segments_total",
               "Segments deleted before they were sent, because the spool was full.",
               m.dropped_segments);
  text.Counter("dropped_samples_total", "Samples in dropped segments.", m.dropped_samples);
}

}  // namespace

std::string PrometheusText(const AgentMetrics& metrics, std::string_view version) {
  TextMaker text;
  text.Head("info", "gauge", "Version of the program.");
  text.Line("info", absl::StrCat("{version=\"", Escaped(version), "\"}"), "1");
  AddRecording(metrics, text);
  AddSpool(metrics, text);
  AddCosts(metrics, text);
  text.Gauge("metrics_timestamp_seconds", "Time when these metrics were written, in Unix time.",
             metrics.written);
  return text.Take() + PushedText(metrics.pushed);
}

std::string PushedText(const std::vector<AgentMetrics::Pushed>& all) {
  if (all.empty()) return {};
  TextMaker text;
  const auto add = [&](std::string_view name, std::string_view type, std::string_view help,
                       auto AgentMetrics::Pushed::*value) {
    text.Head(name, type, help);
    for (const AgentMetrics::Pushed& pushed : all) {
      text.Line(name, absl::StrCat("{destination=\"", Escaped(pushed.destination), "\"}"),
                Number(pushed.*value));
    }
  };
  using Pushed = AgentMetrics::Pushed;
  add("pushed_segments_total", "counter", "Segments that a server accepted.", &Pushed::segments);
  add("pushed_samples_total", "counter", "Samples in segments that a server accepted.",
      &Pushed::samples);
  add("refused_segments_total", "counter", "Segments that a server refused for good.",
      &Pushed::refused);
  add("gone_segments_total", "counter", "Segments deleted before they could be sent.",
      &Pushed::gone);
  add("push_failures_total", "counter", "Failed requests that are retried.", &Pushed::failures);
  add("last_push_timestamp_seconds", "gauge",
      "Time when a server last accepted segments, in Unix time; 0: never.", &Pushed::last_success);
  return text.Take();
}

}  // namespace profiler::agent
