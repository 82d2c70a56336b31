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
  text.Counter("samples_total", "Samples that were taken.", m.samples);
  text.Counter("lost_samples_total",
               "Samples that the kernel had no room for, or was told not to take.", m.lost);
  text.Counter("chains_total", "Call chains that were unwound.", m.chains);
  text.Counter("cut_chains_total", "Call chains that do not reach the start of their thread.",
               m.cut_chains);
  text.Counter("windows_total", "Windows that became segments.", m.windows);
  text.Counter("lost_windows_total",
               "Windows that came faster than they were named, or that could not be read or kept.",
               m.lost_windows);
  text.Counter("sessions_total", "Sessions of recording that have begun.", m.sessions);
  text.Counter("failed_sessions_total", "Sessions that could not begin, or ended by an error.",
               m.failed_sessions);
  text.Counter("gap_seconds_total", "Time between sessions, in which nothing was recorded.",
               m.gap_seconds);
  text.Counter("naming_seconds_total", "Time that windows took to be named.", m.naming_seconds);
  text.Counter("name_stores_total", "How often names were looked up anew, to give memory back.",
               m.name_stores);
  text.Gauge("frequency_hertz", "How often a CPU is sampled in a second.", m.frequency);
  text.Gauge("last_window_timestamp_seconds", "When the last window ended.", m.last_window);
}

void AddCosts(const AgentMetrics& m, TextMaker& text) {
  text.Counter("cpu_seconds_total", "CPU time of this process and those that it started.",
               m.cpu_seconds);
  text.Gauge("cpu_share", "CPU time in the last window, as a share of all CPUs together.",
             m.cpu_share);
  text.Gauge("cpu_budget", "What that share may be; the frequency follows it.", m.cpu_budget);
  text.Gauge("cpus", "CPUs of this machine that are online.", uint64_t{m.cpus});
  text.Gauge("memory_bytes",
             "Memory of this process and those that it started; of shared pages their part (PSS).",
             m.memory);
  text.Gauge("resident_bytes", "The same with all of the pages that are shared (RSS).", m.resident);
  text.Gauge("memory_limit_bytes", "What that may be.", m.memory_limit);
}

void AddSpool(const AgentMetrics& m, TextMaker& text) {
  text.Gauge("segments", "Segments that are in the spool.", m.segments);
  text.Gauge("spool_bytes", "Bytes of the segments that are in the spool.", m.spool_bytes);
  text.Counter("dropped_segments_total",
               "Segments that were removed, for want of room, before they were sent.",
               m.dropped_segments);
  text.Counter("dropped_samples_total", "Samples in these segments.", m.dropped_samples);
}

}  // namespace

std::string PrometheusText(const AgentMetrics& metrics, std::string_view version) {
  TextMaker text;
  text.Head("info", "gauge", "The program that this is.");
  text.Line("info", absl::StrCat("{version=\"", Escaped(version), "\"}"), "1");
  AddRecording(metrics, text);
  AddSpool(metrics, text);
  AddCosts(metrics, text);
  text.Gauge("metrics_timestamp_seconds", "When these figures were written.", metrics.written);
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
  add("pushed_segments_total", "counter", "Segments that a server has taken.", &Pushed::segments);
  add("pushed_samples_total", "counter", "Samples in these segments.", &Pushed::samples);
  add("refused_segments_total", "counter", "Segments that a server will never take.",
      &Pushed::refused);
  add("gone_segments_total", "counter", "Segments that were removed before they could be sent.",
      &Pushed::gone);
  add("push_failures_total", "counter", "Requests that have to be tried again.", &Pushed::failures);
  add("last_push_timestamp_seconds", "gauge", "When a server last took something; 0 for never.",
      &Pushed::last_success);
  return text.Take();
}

}  // namespace profiler::agent
