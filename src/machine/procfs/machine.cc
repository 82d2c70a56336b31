#include "src/machine/procfs/machine.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "absl/strings/str_cat.h"

namespace profiler::procfs {
namespace {

constexpr int kMaxCpu = 65535;

std::string LineOrEmpty(const std::string& path) { return ReadLine(path).value_or(""); }

std::string Architecture() {
  utsname names;
  return uname(&names) == 0 ? names.machine : "";
}

uint32_t CountCpus(const std::string& path) {
  const auto cpus = ParseCpuList(LineOrEmpty(path));
  return cpus.ok() ? static_cast<uint32_t>(cpus->size()) : 0;
}

// True if this process is in another namespace of this kind than `first`.
bool IsInOther(const Roots& roots, std::string_view kind, std::string_view first) {
  std::array<char, 64> text;
  const std::string path = absl::StrCat(roots.proc, "/self/ns/", std::string(kind));
  const ssize_t size = readlink(path.c_str(), text.data(), text.size());
  return size > 0 && std::string_view(text.data(), static_cast<size_t>(size)) != first;
}

}  // namespace

MachineFacts ReadMachineFacts(const Roots& roots) {
  MachineFacts facts;
  facts.hostname = LineOrEmpty(roots.proc + "/sys/kernel/hostname");
  facts.osrelease = LineOrEmpty(roots.proc + "/sys/kernel/osrelease");
  facts.arch = LineOrEmpty(roots.proc + "/sys/kernel/arch");  // since Linux 6.1
  if (facts.arch.empty()) facts.arch = Architecture();
  const std::string cpus = roots.sys + "/devices/system/cpu/";
  facts.cpus_available = CountCpus(cpus + "present");
  facts.cpus_online = CountCpus(cpus + "online");
  std::string text;
  if (ReadFile(roots.proc + "/cpuinfo", &text).ok()) {
    const auto field = [&text](std::string_view key) {
      const std::string_view value = ValueOf(text, key).value_or("");
      return absl::string_view(value.data(), value.size());
    };
    facts.cpudesc = std::string(field("model name"));
    if (!field("vendor_id").empty()) {
      facts.cpuid = absl::StrCat(field("vendor_id"), ",", field("cpu family"), ",", field("model"),
                                 ",", field("stepping"));
    }
  }
  if (ReadFile(roots.proc + "/meminfo", &text).ok()) {
    TextScanner total(ValueOf(text, "MemTotal").value_or(""));
    facts.total_mem_kb = ParseNumber<uint64_t>(total.Word()).value_or(0);
  }
  return facts;
}

PerfLimits ReadPerfLimits(const Roots& roots) {
  const std::string kernel = roots.proc + "/sys/kernel/";
  PerfLimits limits;
  limits.paranoid = ReadNumber(kernel + "perf_event_paranoid");
  limits.mlock_kb = ReadNumber(kernel + "perf_event_mlock_kb");
  limits.max_sample_rate = ReadNumber(kernel + "perf_event_max_sample_rate");
  limits.max_stack = ReadNumber(kernel + "perf_event_max_stack");
  limits.kptr_restrict = ReadNumber(kernel + "kptr_restrict");
  return limits;
}

absl::StatusOr<std::vector<int>> OnlineCpus(const Roots& roots) {
  const std::string path = roots.sys + "/devices/system/cpu/online";
  const std::optional<std::string> line = ReadLine(path);
  if (!line.has_value()) return absl::NotFoundError(path + " cannot be read");
  return ParseCpuList(*line);
}

absl::StatusOr<std::vector<int>> ParseCpuList(std::string_view text) {
  const auto bad = [text] {
    return absl::InvalidArgumentError(absl::StrCat("not a list of CPUs like 0,2-3: ",
                                                   absl::string_view(text.data(), text.size())));
  };
  std::vector<int> cpus;
  TextScanner ranges(text);
  if (ranges.done()) return bad();
  while (!ranges.done()) {
    const std::string_view range = ranges.Until(',');
    const size_t dash = range.find('-');
    const auto first = ParseNumber<int>(range.substr(0, dash));
    const auto last =
        dash == std::string_view::npos ? first : ParseNumber<int>(range.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last > kMaxCpu) return bad();
    for (int cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
  }
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

uint64_t PermittedCapabilities(const Roots& roots) {
  std::string text;
  if (!ReadFile(roots.proc + "/self/status", &text).ok()) return 0;
  return ParseNumber<uint64_t>(ValueOf(text, "CapPrm").value_or(""), 16).value_or(0);
}

bool IsRoot(const Roots& roots) {
  std::string text;
  if (!ReadFile(roots.proc + "/self/status", &text).ok()) return false;
  const std::string_view ids = ValueOf(text, "Uid").value_or("");
  TextScanner words(ids);
  words.Word();  // the real user
  return words.Word() == "0";
}

bool IsInPidNamespace(const Roots& roots) { return IsInOther(roots, "pid", "pid:[4026531836]"); }

bool IsInUserNamespace(const Roots& roots) { return IsInOther(roots, "user", "user:[4026531837]"); }

}  // namespace profiler::procfs
