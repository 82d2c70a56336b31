#include "src/importers/firefox.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/base/text.h"
#include "src/importers/library_code.h"
#include "src/importers/text_lines.h"

namespace profiler::importers {
namespace {

using profile::StackId;
using Value = JsonTree::Value;

constexpr double kNanosecondsInAMillisecond = 1e6;

// Returns a column of a table. The table is stored in columns, or in rows with a schema.
std::vector<Value> Column(Value table, std::string_view name) {
  if (!table["schema"].exists()) return table[name].elements();
  const auto at = table["schema"][name].index();
  std::vector<Value> column;
  if (!at) return column;
  for (const Value row : table["data"].elements()) {
    Value cell = row.child();
    for (uint64_t i = 0; i < *at; ++i) {
      const bool is_last = !cell.has_next();
      cell = cell.next();
      if (is_last) break;
    }
    column.push_back(cell);
  }
  return column;
}

Value At(const std::vector<Value>& column, size_t index) {
  return index < column.size() ? column[index] : Value();
}

// Parses the number of a process or thread: 1234, "1234", or "1234.2", where Firefox has added a
// counter.
uint32_t NumberBeforePoint(Value value) {
  if (const auto number = value.index()) return static_cast<uint32_t>(*number);
  uint32_t id = 0;
  const std::string_view text = value.text();
  (void)std::from_chars(text.data(), text.data() + text.size(), id);
  return id;
}

// The tables of one thread, or the tables that all threads share.
class Tables {
 public:
  Tables(Value tables, Value libs, Value fallback_libs, LibraryCode& code, ProfileMaker& maker)
      : strings_(First(tables["stringArray"], tables["stringTable"]).elements()),
        code_(code),
        maker_(maker) {
    for (const Value lib : First(libs, fallback_libs).elements()) libs_.push_back(lib);
    const Value frames = tables["frameTable"], functions = tables["funcTable"];
    function_of_ = Column(frames, "func");
    line_of_ = Column(frames, "line");
    address_of_ = Column(frames, "address");
    location_of_ = Column(frames, "location");
    lib_of_ = Column(frames, "lib");
    name_of_ = Column(functions, "name");
    file_of_ = Column(functions, "fileName");
    source_of_ = Column(functions, "source");
    resource_of_ = Column(functions, "resource");
    lib_of_resource_ = Column(tables["resourceTable"], "lib");
    file_of_source_ = Column(tables["sources"], "filename");
    if (file_of_source_.empty()) file_of_source_ = Column(tables["sources"], "url");
  }

  absl::Status MakeStacks(Value stack_table) {
    const std::vector<Value> frames = Column(stack_table, "frame");
    const std::vector<Value> prefixes = Column(stack_table, "prefix");
    const std::vector<Value> offsets = Column(stack_table, "prefixOffset");
    for (size_t i = 0; i < frames.size(); ++i) {
      StackId caller = profile::kNoStack;
      std::optional<uint64_t> prefix = At(prefixes, i).index();
      if (const auto offset = At(offsets, i).index(); offset && *offset != 0 && *offset <= i) {
        prefix = i - *offset;
      }
      if (prefix) {
        if (*prefix >= i) {
          return absl::DataLossError(
              absl::StrCat("stack ", i, " is called by one that does not stand before it"));
        }
        caller = stacks_[*prefix];
      }
      stacks_.push_back(maker_.Stack(caller, FrameAt(frames[i].index().value_or(UINT32_MAX))));
    }
    return absl::OkStatus();
  }

  const std::vector<StackId>& stacks() const { return stacks_; }

 private:
  static Value First(Value a, Value b) { return a.exists() ? a : b; }

  std::string_view TextAt(Value index) const {
    const auto number = index.index();
    return number && *number < strings_.size() ? strings_[*number].text() : std::string_view();
  }

  profile::FrameId FrameAt(uint64_t index) {
    if (index >= frames_.size()) {
      constexpr size_t kMostFrames = size_t{1} << 28;
      const size_t size = std::max(function_of_.size(), location_of_.size());
      if (index >= size || size > kMostFrames) return maker_.Frame({});
      frames_.resize(size);
    }
    if (!frames_[index]) frames_[index] = MakeFrame(index);
    return *frames_[index];
  }

  profile::FrameId MakeFrame(size_t index) {
    FunctionLine function{.line = static_cast<uint32_t>(At(line_of_, index).index().value_or(0))};
    CodeSpec code{.functions = {&function, 1}};
    if (!location_of_.empty()) {
      SplitLocation(TextAt(At(location_of_, index)), function);
    } else {
      const auto number = At(function_of_, index).index();
      const size_t of = number ? static_cast<size_t>(*number) : name_of_.size();
      function.name = TextAt(At(name_of_, of));
      function.file = TextAt(At(file_of_, of));
      if (const auto source = At(source_of_, of).index()) {
        function.file = TextAt(At(file_of_source_, *source));
      }
      std::optional<uint64_t> lib = At(lib_of_, index).index();
      if (!lib) {
        const auto resource = At(resource_of_, of).index();
        if (resource) lib = At(lib_of_resource_, *resource).index();
      }
      if (lib && *lib < libs_.size()) {
        SetImage(libs_[*lib], code);
        if (function.name.starts_with("0x")) {
          NameByAddress(libs_[*lib], At(address_of_, index).index(), function, code);
        }
      }
    }
    if (function.name.empty()) code.functions = {};
    return maker_.Frame(code);
  }

  // Looks up the name of a function, if the profile has its address instead of its name.
  void NameByAddress(Value lib, std::optional<uint64_t> address, FunctionLine& function,
                     CodeSpec& code) {
    const std::string_view code_id = lib["codeId"].text(), path = lib["path"].text();
    if (!address || code_id.empty() || code.mode == profile::Mode::kKernel) return;
    const std::string_view name = code_.NameAt(code_id, *address);
    if (!name.empty()) {
      function.name = name;
      return;
    }
    const std::optional<uint64_t> offset = code_.FileOffsetOf(path, code_id, *address);
    if (!offset) return;
    code.functions = {};
    code.image = maker_.Image(symbolize::ImageKind::kUser, path, BuildIdOfText(code_id));
    code.address = address;
    code.file_offset = offset;
  }

  // Splits a location of the Gecko form: "name (https://x/y.js:12:3)".
  static void SplitLocation(std::string_view location, FunctionLine& function) {
    function.name = location;
    const size_t open = location.rfind(" (");
    if (open == std::string_view::npos || !location.ends_with(')')) return;
    std::string_view where = location.substr(open + 2);
    where.remove_suffix(1);
    // The line number, and after it perhaps the column.
    uint32_t numbers[2] = {0, 0};
    size_t count = 0;
    while (count < 2) {
      const size_t colon = where.rfind(':');
      if (colon == std::string_view::npos) break;
      const char* const end = where.data() + where.size();
      const auto [stop, error] = std::from_chars(where.data() + colon + 1, end, numbers[count]);
      if (error != std::errc() || stop != end) break;
      where = where.substr(0, colon);
      ++count;
    }
    if (count == 0) return;
    function.name = location.substr(0, open);
    function.file = where;
    function.line = numbers[count - 1];
  }

  void SetImage(Value lib, CodeSpec& code) {
    std::string_view path = lib["path"].text();
    if (path.empty()) path = lib["name"].text();
    if (path.starts_with("[kernel") || BaseName(path) == "kernel.kallsyms") {
      code.mode = profile::Mode::kKernel;
      code.image = maker_.KernelImage();
    } else if (!path.empty()) {
      code.image = maker_.UserImage(path, std::nullopt);
    }
  }

  const std::vector<Value> strings_;
  LibraryCode& code_;
  ProfileMaker& maker_;
  std::vector<Value> libs_;
  // Columns of the tables. First those of the table of frames, then those of the table of
  // functions, then those of the tables of resources and sources.
  std::vector<Value> function_of_, line_of_, location_of_, lib_of_, address_of_;
  std::vector<Value> name_of_, file_of_, source_of_, resource_of_;
  std::vector<Value> lib_of_resource_, file_of_source_;
  std::vector<std::optional<profile::FrameId>> frames_;
  std::vector<StackId> stacks_;
};

class FirefoxReader {
 public:
  FirefoxReader(std::string_view symbols, ProfileMaker& maker) : code_(symbols), maker_(maker) {}

  absl::Status Read(Value root) {
    PROFILER_RETURN_IF_ERROR(ReadProcess(root));
    if (freed_ != 0) {
      maker_.Warn(absl::StrCat(freed_, " samples have a weight below zero and were left out"));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status ReadProcess(Value root) {
    const Value shared = root["shared"];
    if (shared["stackTable"].exists()) {
      Tables tables(shared, root["libs"], {}, code_, maker_);
      PROFILER_RETURN_IF_ERROR(tables.MakeStacks(shared["stackTable"]));
      for (const Value thread : root["threads"].elements()) AddThread(thread, root, tables);
    } else {
      for (const Value thread : root["threads"].elements()) {
        const Value strings =
            thread["stringArray"].exists() || thread["stringTable"].exists() ? thread : shared;
        if (!strings.exists()) continue;
        Tables tables(thread, root["libs"], thread["libs"], code_, maker_);
        PROFILER_RETURN_IF_ERROR(tables.MakeStacks(thread["stackTable"]));
        AddThread(thread, root, tables);
      }
    }
    // In the Gecko form, each process may contain further processes.
    for (const Value process : root["processes"].elements()) {
      PROFILER_RETURN_IF_ERROR(ReadProcess(process));
    }
    return absl::OkStatus();
  }

  profile::ThreadId ThreadOf(Value thread, Value root) {
    std::string_view name = thread["name"].text();
    if (name.empty()) name = thread["processName"].text();
    if (name.empty()) name = "[unknown]";
    const Value pid = thread["pid"].exists() ? thread["pid"] : root["pid"];
    if (!pid.exists()) return maker_.NamedThread(name);
    const uint32_t number = NumberBeforePoint(pid);
    return maker_.Thread(number, thread["tid"].exists() ? NumberBeforePoint(thread["tid"]) : number,
                         name);
  }

  void AddThread(Value thread, Value root, const Tables& tables) {
    const Value samples = thread["samples"];
    const std::vector<Value> stacks = Column(samples, "stack");
    if (stacks.empty()) return;
    const std::vector<Value> times = Column(samples, "time");
    const std::vector<Value> deltas = Column(samples, "timeDeltas");
    const std::vector<Value> weights = Column(samples, "weight");
    const std::string_view type = samples["weightType"].text();
    const bool is_time = type == "tracing-ms";
    const bool is_bytes = type == "bytes";
    const profile::EventId event = maker_.Event(is_time ? "time" : is_bytes ? "bytes" : "samples");
    const profile::ThreadId id = ThreadOf(thread, root);
    double at = 0;
    for (size_t i = 0; i < stacks.size(); ++i) {
      at = times.empty() ? at + At(deltas, i).number().value_or(0)
                         : At(times, i).number().value_or(at);
      const auto stack = stacks[i].index();
      if (!stack || *stack >= tables.stacks().size()) continue;  // the thread did not run
      const double weight = At(weights, i).number().value_or(1);
      const double period = weight * (is_time ? kNanosecondsInAMillisecond : 1);
      if (!(period >= 0) || period > kMostExactNumber) {
        ++freed_;
        continue;
      }
      const auto amount = static_cast<uint64_t>(std::llround(period));
      SampleSpec sample{.event = event, .thread = id, .stack = tables.stacks()[*stack]};
      sample.count = is_time || is_bytes ? 1 : amount;
      sample.period = amount;
      const double nanoseconds = std::clamp(at * kNanosecondsInAMillisecond, 0.0, kMostExactNumber);
      sample.time = static_cast<uint64_t>(std::llround(nanoseconds));
      if (amount != 0) maker_.Add(sample);
    }
  }

  LibraryCode code_;
  ProfileMaker& maker_;
  size_t freed_ = 0;
};

}  // namespace

absl::Status ReadFirefox(Value root, std::string_view symbols, ProfileMaker& maker) {
  return FirefoxReader(symbols, maker).Read(root);
}

bool LooksLikeFirefox(std::string_view text) {
  const auto has = [&](std::string_view key) { return Contains(text, key); };
  return has("\"preprocessedProfileVersion\"") ||
         (has("\"meta\"") && (has("\"threads\"") || has("\"interval\"")));
}

}  // namespace profiler::importers
