#include "src/fleet/query/segment_source.h"

#include <algorithm>
#include <span>
#include <thread>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "src/base/text.h"
#include "src/fleet/query/event_rule.h"
#include "src/fleet/query/stack_sums.h"
#include "src/fleet/query/sum_table.h"

namespace profiler::fleet {
namespace {

// Receives a window of a selected machine and the selection of its rows.
using TakeWindow = absl::FunctionRef<void(const Window& window, const RowSelection& is_wanted)>;

bool IsOneHost(const Condition& condition) {
  return condition.field.field == Field::kHost && !condition.is_pattern && !condition.negated;
}

bool IsOfHeads(const Condition& condition) {
  return (condition.field.field == Field::kHost || condition.field.field == Field::kLabel) &&
         !IsOneHost(condition);
}

// Returns the part of a segment's name with the host's hash: "-8f3a91c2d5e60b17.seg".
std::string_view HostPart(std::string_view name) { return name.substr(name.find('-')); }

std::vector<SegmentFile> OfHosts(std::vector<SegmentFile> files, const Selection& selection) {
  for (const Condition& condition : selection.conditions) {
    if (!IsOneHost(condition)) continue;
    const std::string wanted = SegmentName(condition.value, 0);
    std::erase_if(files,
                  [&](const SegmentFile& file) { return HostPart(file.name) != HostPart(wanted); });
  }
  return files;
}

// The outcome of one thread's reading.
struct Reading {
  absl::Status status;
  uint64_t vanished = 0;
  std::vector<std::string> damaged;

  // Notes the outcome of reading a segment. Returns true to go on. Damaged segments, and segments
  // that have disappeared, are noted and skipped.
  bool GoesOn(const absl::Status& read) {
    if (absl::IsNotFound(read)) {
      ++vanished;
    } else if (absl::IsDataLoss(read)) {
      damaged.emplace_back(read.message());
    } else {
      status = read;
    }
    return status.ok();
  }
};

Reading ReadFiles(const SegmentDirectory& directory, std::span<const SegmentFile> files,
                  const Selection& selection, TakeWindow take) {
  const bool asks_heads = std::ranges::any_of(selection.conditions, IsOfHeads);
  Reading reading;
  for (const SegmentFile& file : files) {
    if (asks_heads) {
      const auto head = directory.ReadHead(file);
      if (!head.ok()) {
        if (!reading.GoesOn(head.status())) break;
        continue;
      }
      if (!HoldsOfMachine(selection, head->window)) continue;
    }
    const auto window = directory.Read(file);
    if (!window.ok()) {
      if (!reading.GoesOn(window.status())) break;
      continue;
    }
    if (HoldsOfMachine(selection, *window)) take(*window, RowSelection(selection, *window));
  }
  return reading;
}

void AddNotes(std::span<const Reading> readings, std::vector<std::string>* notes) {
  constexpr size_t kNamed = 5;
  uint64_t vanished = 0;
  size_t damaged = 0;
  for (const Reading& reading : readings) {
    vanished += reading.vanished;
    for (const std::string& line : reading.damaged) {
      if (damaged++ < kNamed) notes->push_back(absl::StrCat(line, "; it is left out"));
    }
  }
  if (damaged > kNamed) {
    notes->push_back(absl::StrCat(damaged - kNamed,
                                  damaged == kNamed + 1 ? " more segment is" : " more segments are",
                                  " damaged and left out"));
  }
  if (vanished > 0) {
    notes->push_back(absl::StrCat(vanished, vanished == 1 ? " segment was" : " segments were",
                                  " deleted to make room for new ones during this query"));
  }
}

// The answer, and whether the interval contains segments at all.
template <class Answer>
struct Found {
  Answer answer;
  bool had_segments = false;
};

// Divides the segments among threads. Each thread adds up the windows of its segments to one
// answer. The answers are merged in the order of the segments.
template <class Answer, class Question>
absl::StatusOr<Found<Answer>> Ask(const SegmentDirectory& directory, const Question& question,
                                  unsigned most_threads, std::vector<std::string>* notes) {
  const Selection& selection = question.selection;
  PROFILER_ASSIGN_OR_RETURN(auto files, directory.List(selection.since, selection.until));
  const bool had_segments = !files.empty();
  files = OfHosts(std::move(files), selection);
  constexpr size_t kFewest = 16;  // segments; for fewer, starting a thread costs more than it saves
  const size_t count = std::clamp<size_t>(files.size() / kFewest, 1, most_threads);
  std::vector<Answer> parts;
  for (size_t i = 0; i < count; ++i) parts.emplace_back(question);
  std::vector<Reading> readings(count);
  const auto read = [&](size_t i) {
    const size_t begin = files.size() * i / count, end = files.size() * (i + 1) / count;
    readings[i] = ReadFiles(directory, std::span(files).subspan(begin, end - begin), selection,
                            [&](const Window& window, const RowSelection& is_wanted) {
                              parts[i].Add(window, is_wanted);
                            });
  };
  {
    std::vector<std::jthread> threads;
    for (size_t i = 1; i < count; ++i) threads.emplace_back(read, i);
    read(0);
  }
  for (const Reading& reading : readings) PROFILER_RETURN_IF_ERROR(reading.status);
  AddNotes(readings, notes);
  for (size_t i = 1; i < count; ++i) parts[0].Merge(std::move(parts[i]));
  return Found<Answer>{std::move(parts[0]), had_segments};
}

// Returns an error that says which segments exist instead.
absl::Status NothingSelected(const SegmentDirectory& directory, bool had_segments) {
  if (had_segments) {
    return absl::NotFoundError(absl::StrCat(
        directory.path(), ": nothing in this time range matches; leave out a condition, or list ",
        "services and hosts with --by service or --by host"));
  }
  PROFILER_ASSIGN_OR_RETURN(const auto all, directory.List(INT64_MIN, INT64_MAX));
  if (all.empty()) {
    return absl::NotFoundError(
        absl::StrCat(directory.path(),
                     ": the directory has no segments; check that `profiler agent` is running"));
  }
  return absl::NotFoundError(
      absl::StrCat(directory.path(), ": this time range has no segments; segments exist from ",
                   TextOfTime(all.front().begin), " to ", TextOfTime(all.back().begin),
                   "; choose them with --since"));
}

}  // namespace

SegmentSource::SegmentSource(SegmentDirectory directory, unsigned threads)
    : directory_(std::move(directory)),
      threads_(threads != 0 ? threads : std::clamp(std::thread::hardware_concurrency(), 1u, 8u)) {}

absl::StatusOr<std::vector<Window>> SegmentSource::Stacks(const StacksQuestion& question,
                                                          std::vector<std::string>* notes) {
  PROFILER_ASSIGN_OR_RETURN(auto found, Ask<StackSums>(directory_, question, threads_, notes));
  std::vector<Window> windows = std::move(found.answer).Finish();
  if (windows.empty()) return NothingSelected(directory_, found.had_segments);
  return windows;
}

absl::StatusOr<SumTable> SegmentSource::SumUp(const SumsQuestion& question,
                                              std::vector<std::string>* notes) {
  PROFILER_ASSIGN_OR_RETURN(auto found, Ask<SumTable>(directory_, question, threads_, notes));
  if (found.answer.empty()) return NothingSelected(directory_, found.had_segments);
  return std::move(found.answer);
}

absl::StatusOr<fleet::Sums> SegmentSource::Sums(const SumsQuestion& question,
                                                std::vector<std::string>* notes) {
  PROFILER_ASSIGN_OR_RETURN(const SumTable table, SumUp(question, notes));
  return table.Answer(question.most);
}

absl::StatusOr<SumsOfEvent> SegmentSource::SumsOfOneEvent(const SumsQuestion& question,
                                                          std::vector<std::string>* notes) {
  if (TellsEventsApart(question)) return Source::SumsOfOneEvent(question, notes);
  SumsQuestion by_event = question;
  by_event.by.insert(by_event.by.begin(), FieldName{.field = Field::kEvent, .label = {}});
  PROFILER_ASSIGN_OR_RETURN(const SumTable table, SumUp(by_event, notes));
  const std::vector<Sum> events = table.ByFirstKey();
  const Sum& chosen = ChooseEvent(events);
  if (events.size() > 1) notes->push_back(NoteOfChoice(events, chosen));
  return SumsOfEvent{.event = chosen.keys[0],
                     .sums = table.AnswerOf(chosen.keys[0], question.most)};
}

}  // namespace profiler::fleet
