#include "src/views/report/header.h"

#include <climits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/base/clock.h"
#include "src/base/percent.h"
#include "src/base/text.h"
#include "src/views/report/cell_text.h"

namespace profiler::report {
namespace {

// Numbers of the features that RecordingHeader has fields for. They determine the position of these
// lines among the other features.
constexpr int kSampleTimeFeature = 21, kClockidFeature = 23, kClockDataFeature = 29;

class HeaderText {
 public:
  void Line(std::string_view name, std::string_view value) {
    if (value.empty()) return;
    text_ += "# ";
    text_ += name;
    text_ += " : ";
    AppendPrintable(value, text_, '\t');
    text_ += '\n';
  }

  template <class T>
  void Line(std::string_view name, const std::optional<T>& value) {
    if (value) Line(name, std::to_string(*value));
  }

  std::string& text() { return text_; }

 private:
  std::string text_;
};

std::string SecondsOf(uint64_t ns) {
  return absl::StrFormat("%d.%06d", ns / kNanosecondsPerSecond, ns % kNanosecondsPerSecond / 1000);
}

void AppendFileLayout(const RecordingHeader& header, HeaderText& out) {
  if (!header.captured_on.empty()) {
    absl::StrAppend(&out.text(), "# captured on    : ");
    AppendPrintable(header.captured_on, out.text());
    out.text() += '\n';
  }
  absl::StrAppendFormat(&out.text(), "# header version : %d\n", header.version);
  if (header.data_offset == 0) return;
  absl::StrAppendFormat(&out.text(),
                        "# data offset    : %d\n# data size      : %d\n# feat offset    : %d\n",
                        header.data_offset, header.data_size, header.features_offset);
}

void AppendMachine(const RecordingHeader& header, HeaderText& out) {
  out.Line("hostname", header.hostname);
  out.Line("os release", header.os_release);
  out.Line("perf version", header.perf_version);
  out.Line("arch", header.arch);
  out.Line("nrcpus online", header.cpus_online);
  out.Line("nrcpus avail", header.cpus_available);
  out.Line("cpudesc", header.cpu_description);
  out.Line("cpuid", header.cpuid);
  if (header.total_memory_kb) {
    out.Line("total memory", absl::StrCat(*header.total_memory_kb, " kB"));
  }
  if (!header.command_line.empty()) {
    std::string line;
    for (const std::string& argument : header.command_line) absl::StrAppend(&line, argument, " ");
    out.Line("cmdline", line);
  }
}

void AppendEvents(const RecordingHeader& header, HeaderText& out) {
  for (const EventDescription& event : header.events) {
    std::string line = absl::StrCat("name = ", event.name, ", ");
    if (!event.ids.empty()) {
      line += ", id = {";
      for (size_t i = 0; i < event.ids.size(); ++i) {
        absl::StrAppend(&line, i == 0 ? " " : ", ", event.ids[i]);
      }
      line += " }";
    }
    for (const auto& [name, value] : event.fields) absl::StrAppend(&line, ", ", name, " = ", value);
    out.Line("event", line);
  }
}

void AppendTimes(const RecordingHeader& header, HeaderText& out) {
  if (header.first_sample_ns) out.Line("time of first sample", SecondsOf(*header.first_sample_ns));
  if (header.last_sample_ns) out.Line("time of last sample", SecondsOf(*header.last_sample_ns));
  if (header.first_sample_ns && header.last_sample_ns &&
      *header.last_sample_ns >= *header.first_sample_ns) {
    const uint64_t duration = *header.last_sample_ns - *header.first_sample_ns;
    absl::StrAppendFormat(&out.text(), "# sample duration : %10.3f ms\n",
                          static_cast<double>(duration) / 1e6);
  }
}

// Appends the resolution of the recording's clock. perf prints no space before this line's colon.
void AppendClockResolution(const RecordingHeader& header, HeaderText& out) {
  if (header.clock_resolution_ns) {
    // perf prints the resolution in picoseconds, and calls it MHz.
    absl::StrAppend(&out.text(), "# clockid frequency: ", *header.clock_resolution_ns * 1000,
                    " MHz\n");
  }
}

void AppendClock(const RecordingHeader& header, HeaderText& out) {
  if (!header.clock.empty()) absl::StrAppend(&out.text(), "# clockid: ", header.clock, "\n");
  if (!header.reference_time.empty()) {
    absl::StrAppend(&out.text(), "# reference time: ", header.reference_time, "\n");
  }
}

// Appends the features with numbers in [begin, end).
void AppendFeatures(const RecordingHeader& header, int begin, int end, HeaderText& out) {
  const auto stop = header.features.lower_bound(end);
  for (auto feature = header.features.lower_bound(begin); feature != stop; ++feature) {
    for (const std::string& line : feature->second) {
      out.text() += "# ";
      AppendPrintable(line, out.text(), '\t');
      out.text() += '\n';
    }
  }
}

}  // namespace

std::string FormatRecordingHeader(const RecordingHeader& header) {
  HeaderText out;
  out.text() += "# ========\n";
  AppendFileLayout(header, out);
  AppendMachine(header, out);
  AppendEvents(header, out);
  AppendFeatures(header, 0, kSampleTimeFeature, out);
  AppendTimes(header, out);
  AppendFeatures(header, kSampleTimeFeature, kClockidFeature, out);
  AppendClockResolution(header, out);
  AppendFeatures(header, kClockidFeature, kClockDataFeature, out);
  AppendClock(header, out);
  AppendFeatures(header, kClockDataFeature, INT_MAX, out);
  if (!header.missing_features.empty()) {
    out.text() += "# missing features: ";
    for (const std::string& feature : header.missing_features) {
      absl::StrAppend(&out.text(), feature, " ");
    }
    out.text() += '\n';
  }
  out.text() += "# ========\n#\n";
  return std::move(out.text());
}

std::string_view RecordingHeaderHint() {
  return "# To display the perf.data header info, please use --header/--header-only options.\n#\n";
}

std::string FormatStats(const std::vector<RecordCount>& records,
                        const std::vector<RecordCount>& samples_by_event) {
  uint64_t total = 0;
  for (const RecordCount& record : records) total += record.count;
  std::string text = "\nAggregated stats:\n";
  absl::StrAppendFormat(&text, "%20s events: %10d\n", "TOTAL", total);
  for (const RecordCount& record : records) {
    if (record.count == 0) continue;
    absl::StrAppendFormat(&text, "%20s events: %10d  (%4.1f%%)\n", record.name, record.count,
                          Percent(record.count, total));
  }
  for (const RecordCount& event : samples_by_event) {
    if (event.count == 0 && event.lost_samples == 0) continue;
    AppendPrintable(event.name, text);
    text += " stats:\n";
    const auto add = [&text](std::string_view name, uint64_t count) {
      if (count == 0) return;
      absl::StrAppendFormat(&text, "%20s events: %10d\n", name, count);
    };
    add("SAMPLE", event.count);
    add("LOST_SAMPLES", event.lost_samples);
  }
  return text;
}

}  // namespace profiler::report
