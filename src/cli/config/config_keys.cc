#include "src/cli/config/config_keys.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "src/base/nearest_word.h"
#include "src/base/text.h"

namespace profiler::config {
namespace {

enum class Kind : uint8_t {
  kValue,   // --yes=VALUE
  kSwitch,  // true: --yes; false: --no
  kChains,  // call chains that -g means; --call-graph=VALUE
  kGraph,   // a part of report --call-graph=PART,PART,…
  kColour,  // --color=VALUE; true is auto, false is never
  kSize,    // number of bytes behind call-graph.record-mode = dwarf
};

struct Key {
  std::string_view name;
  std::string_view commands;  // commands that it applies to, with a blank around each
  Kind kind = Kind::kValue;
  std::string_view yes = "", no = "";
  // A further option that contradicts it, if the user gives it.
  std::string_view against = "";
};

constexpr std::string_view kReaders = " annotate diff list record report stat summary top ";

constexpr Key kKeys[] = {
    {"annotate.disassembler_style", " annotate ", Kind::kValue, "--disassembler-style"},
    {"annotate.hide_src_code", " annotate ", Kind::kSwitch, "--no-source"},
    {"annotate.show_nr_samples", " annotate ", Kind::kSwitch, "--show-nr-samples"},
    {"call-graph.dump-size", " record top ", Kind::kSize},
    {"call-graph.order", " report ", Kind::kGraph, "--call-graph", "", "--inverted"},
    {"call-graph.print-type", " report ", Kind::kGraph, "--call-graph"},
    {"call-graph.record-mode", " record top ", Kind::kChains, "--call-graph"},
    {"call-graph.threshold", " report ", Kind::kGraph, "--call-graph"},
    {"color.ui", kReaders, Kind::kColour, "--color"},
    {"hist.percentage", " report top ", Kind::kValue, "--percentage"},
    {"names.demangle", " annotate report top ", Kind::kSwitch, "", "--no-demangle"},
    {"names.fold-templates", " report top ", Kind::kValue, "--fold-templates"},
    {"names.inline", " report top ", Kind::kSwitch, "", "--no-inline"},
    {"names.merge-clones", " report top ", Kind::kSwitch, "--merge-clones"},
    {"names.strip-args", " report top ", Kind::kSwitch, "--strip-args"},
    {"record.call-graph", " record ", Kind::kChains, "--call-graph"},
    {"record.freq", " record ", Kind::kValue, "--freq", "", "--count"},
    {"record.mmap-pages", " record ", Kind::kValue, "--mmap-pages"},
    {"report.children", " report ", Kind::kSwitch, "--children", "--no-children"},
    {"report.group", " report ", Kind::kSwitch, "--group", "--no-group"},
    {"report.percent-limit", " report ", Kind::kValue, "--percent-limit"},
    {"report.sort_order", " report ", Kind::kValue, "--sort", "", "--fields"},
    {"top.call-graph", " top ", Kind::kChains, "--call-graph"},
    {"top.children", " top ", Kind::kSwitch, "--children", "--no-children"},
    {"top.delay", " top ", Kind::kValue, "--delay"},
    {"top.freq", " top ", Kind::kValue, "--freq", "", "--count"},
    {"top.sort_order", " top ", Kind::kValue, "--sort"},
    {"tui.report", " report ", Kind::kSwitch, "", "--stdio", "--tui"},
    {"tui.top", " top ", Kind::kSwitch, "", "--stdio", "--tui"},
};

// Sections of perf whose keys have no effect here, except those above.
constexpr std::string_view kPerfSections[] = {
    "addr2line", "annotate", "auxtrace", "buildid",      "colors",   "convert", "core", "daemon",
    "diff",      "ftrace",   "gtk",      "help",         "intel-pt", "kmem",    "llvm", "lock",
    "man",       "samples",  "scripts",  "session-list", "stat",     "trace",   "tui",  "ui"};

// Keys of perf without effect in sections that have keys with one.
constexpr std::string_view kPerfKeys[] = {
    "call-graph.print-limit", "call-graph.sort-key", "record.build-id",
    "record.debuginfod",      "report.queue-size",   "report.skip-empty",
};

bool Contains(std::string_view words, std::string_view word) {
  return words.find(std::string(" ").append(word).append(" ")) != words.npos;
}

const Key* Find(std::string_view name) {
  const auto* const key = std::find_if(std::begin(kKeys), std::end(kKeys),
                                       [&](const Key& k) { return k.name == name; });
  return key == std::end(kKeys) ? nullptr : key;
}

std::string_view SectionOf(std::string_view key) { return key.substr(0, key.find('.')); }

bool IsOfPerf(std::string_view key) {
  const auto* const section =
      std::find(std::begin(kPerfSections), std::end(kPerfSections), SectionOf(key));
  return section != std::end(kPerfSections) ||
         std::find(std::begin(kPerfKeys), std::end(kPerfKeys), key) != std::end(kPerfKeys);
}

// Collects the options for one command.
class Collector {
 public:
  explicit Collector(const Typed& typed) : typed_(typed) {}

  Defaults Collect(const std::vector<Setting>& settings) {
    // The last one of a key is meant.
    std::map<std::string_view, const Setting*> last;
    for (const Setting& setting : settings) last[setting.key] = &setting;
    for (const auto& [name, setting] : last) {
      if (const Key* const key = Find(name)) {
        if (Contains(key->commands, typed_.command) && !typed_.makes_page) Apply(*key, *setting);
      } else if (SectionOf(name) == "pager") {
        if (name.substr(name.find('.') + 1) == typed_.command) ApplyPager(*setting);
      } else if (!IsOfPerf(name)) {
        Warn(*setting);
      }
    }
    AddChains(last);
    AddGraph();
    return std::move(result_);
  }

 private:
  bool Gave(std::string_view option) const {
    return !option.empty() && typed_.options.contains(std::string(option));
  }

  void Add(const Setting& setting, std::string word) {
    result_.options.push_back({.key = setting.key, .line = setting.line, .word = std::move(word)});
  }

  void Fail(const Setting& setting, std::string_view why) {
    result_.errors.push_back(absl::StrCat(setting.line, ": ", setting.key, ": ", View(why)));
  }

  void Warn(const Setting& setting) {
    result_.warnings.push_back(absl::StrCat(setting.line, ": there is no key '", setting.key, "'",
                                            DidYouMean(setting.key, KnownKeys())));
  }

  void Apply(const Key& key, const Setting& setting) {
    if (Gave(key.yes) || Gave(key.no) || Gave(key.against)) return;
    switch (key.kind) {
      case Kind::kValue:
        return Add(setting, absl::StrCat(View(key.yes), "=", setting.value));
      case Kind::kSwitch: {
        const absl::StatusOr<bool> is_on = ParseSwitch(setting.value);
        if (!is_on.ok()) return Fail(setting, std::string(is_on.status().message()));
        const std::string_view word = *is_on ? key.yes : key.no;
        if (!word.empty()) Add(setting, std::string(word));
        return;
      }
      case Kind::kColour:
        return ApplyColour(setting);
      case Kind::kGraph:
        graph_.push_back(&setting);
        return;
      case Kind::kChains:
        // The key of the command itself goes before the common one.
        if (chains_ == nullptr || SectionOf(key.name) == typed_.command) chains_ = &setting;
        return;
      case Kind::kSize:
        return;
    }
  }

  void ApplyColour(const Setting& setting) {
    const absl::StatusOr<bool> is_on = ParseSwitch(setting.value);
    const std::string when = is_on.ok() ? (*is_on ? "auto" : "never") : setting.value;
    Add(setting, "--color=" + when);
  }

  void ApplyPager(const Setting& setting) {
    if (Gave("--no-pager")) return;
    const absl::StatusOr<bool> is_on = ParseSwitch(setting.value);
    if (!is_on.ok()) {
      result_.pager = setting.value;
    } else if (!*is_on) {
      Add(setting, "--no-pager");
    }
  }

  // Adds the meaning of -g.
  void AddChains(const std::map<std::string_view, const Setting*>& last) {
    if (chains_ == nullptr || !Gave("-g")) return;
    const auto size = last.find("call-graph.dump-size");
    const bool has_size = chains_->value == "dwarf" && size != last.end();
    Add(*chains_, absl::StrCat("--call-graph=", chains_->value,
                               has_size ? absl::StrCat(",", size->second->value) : ""));
  }

  // Adds how report draws call graphs.
  void AddGraph() {
    if (graph_.empty() || Gave("--branch-stack") || Gave("--mem-mode")) return;
    std::string parts;
    for (const Setting* const part : graph_) {
      absl::StrAppend(&parts, parts.empty() ? "" : ",", part->value);
    }
    Add(*graph_.front(), "--call-graph=" + parts);
  }

  const Typed& typed_;
  const Setting* chains_ = nullptr;
  std::vector<const Setting*> graph_;
  Defaults result_;
};

}  // namespace

bool ReadsConfig(std::string_view command) { return Contains(kReaders, command); }

Defaults DefaultsFor(const Typed& typed, const std::vector<Setting>& settings) {
  return Collector(typed).Collect(settings);
}

std::vector<std::string> KnownKeys() {
  std::vector<std::string> keys;
  for (const Key& key : kKeys) keys.emplace_back(key.name);
  return keys;
}

}  // namespace profiler::config
