#include "src/record/waiting_thread.h"

#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"

namespace profiler::record {

std::optional<WaitingThread> ReadWaitingThread(const procfs::Roots& roots, uint32_t pid,
                                               uint32_t tid) {
  const auto line = procfs::ReadLine(absl::StrCat(roots.proc, "/", pid, "/task/", tid, "/syscall"));
  if (!line) return std::nullopt;
  std::vector<std::string_view> words;
  for (procfs::TextScanner scanner(*line); !scanner.done();) words.push_back(scanner.Word());
  if (words.size() < 3) return std::nullopt;
  const auto number = [](std::string_view word) {
    if (word.starts_with("0x")) word.remove_prefix(2);
    return procfs::ParseNumber<uint64_t>(word, 16);
  };
  const auto call = procfs::ParseNumber<int64_t>(words.front());
  const auto sp = number(words[words.size() - 2]);
  const auto pc = number(words.back());
  if (!call || !sp || !pc) return std::nullopt;
  return WaitingThread{*call, *sp, *pc};
}

}  // namespace profiler::record
