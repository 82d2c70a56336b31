#include "src/machine/reader/readers.h"

#include <linux/capability.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace profiler::reader {
namespace {

constexpr size_t kPage = 4096;
static_assert(kMostPieces <= IOV_MAX);

// Capabilities to read processes, and to adopt the program's priority.
constexpr uint64_t kToServeMemory =
    Capability(CAP_SYS_PTRACE) | Capability(CAP_DAC_READ_SEARCH) | Capability(CAP_SYS_NICE);

Service ServiceThat(ReadFunction read) {
  const auto answer = [read](Exchange& exchange, int) {
    exchange.result =
        read(exchange.pid, std::span(exchange.pieces).first(exchange.pieces_count), exchange.data);
  };
  return {.answer = answer, .capabilities = kToServeMemory};
}

}  // namespace

int64_t ReadMemory(uint32_t pid, std::span<const RemotePiece> pieces, std::span<std::byte> into) {
  std::array<iovec, kMostPieces> remote;
  size_t size = 0;
  for (size_t i = 0; i < pieces.size(); ++i) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address in the other process.
    remote[i] = {reinterpret_cast<void*>(pieces[i].address), pieces[i].size};
    size += pieces[i].size;
  }
  const iovec local{into.data(), size};
  const ssize_t count =
      process_vm_readv(static_cast<pid_t>(pid), &local, 1, remote.data(), pieces.size(), 0);
  return count < 0 ? -errno : count;
}

Readers::Readers(ReadersOptions options)
    : options_(std::move(options)),
      pool_({.proc = options_.proc,
             .deadline = options_.deadline,
             .most_rounds = options_.most_rounds,
             .most_abandoned = kMostAbandoned},
            ServiceThat(options_.read)) {}

int64_t Readers::Read(uint32_t pid, uint32_t tid, std::span<const Piece> pieces) {
  if (const int64_t refused = Standing(pid); refused != 0) return refused;
  if (!pool_.Start().ok()) return -EAGAIN;
  int64_t all = 0;
  size_t skipped = 0;  // bytes of the first piece that are already read
  while (!pieces.empty()) {
    if (!pool_.HasReader()) return -EAGAIN;
    Exchange& exchange = pool_.current();
    size_t count = 0, asked = 0, begin = skipped;
    for (size_t i = 0; i < pieces.size() && count < kMostPieces && asked < kMostBytes; ++i) {
      const size_t size = std::min(pieces[i].bytes.size() - begin, kMostBytes - asked);
      exchange.pieces[count++] = {pieces[i].address + begin, size};
      asked += size;
      begin = 0;
    }
    exchange.pieces_count = static_cast<uint32_t>(count);
    const int64_t result = Ask(pid, tid);
    if (result < 0) return all == 0 ? result : all;
    const size_t read = std::min(static_cast<size_t>(result), asked);
    for (size_t done = 0; done < read;) {
      const std::span<std::byte> to = pieces.front().bytes.subspan(skipped);
      const size_t size = std::min(to.size(), read - done);
      std::memcpy(to.data(), exchange.data.data() + done, size);
      done += size;
      skipped += size;
      if (skipped < pieces.front().bytes.size()) break;
      pieces = pieces.subspan(1);
      skipped = 0;
    }
    while (!pieces.empty() && pieces.front().bytes.empty()) pieces = pieces.subspan(1);
    all += static_cast<int64_t>(read);
    if (read < asked || asked == 0) break;
  }
  return all;
}

int64_t Readers::ReadPages(uint32_t pid, uint32_t tid, uint64_t address,
                           std::span<std::byte> bytes) {
  int64_t all = 0;
  while (!bytes.empty()) {
    std::array<Piece, kMostPieces> pieces;
    size_t count = 0, asked = 0;
    while (count < pieces.size() && asked < bytes.size()) {
      const uint64_t start = address + asked;
      const size_t size = std::min<size_t>(kPage - start % kPage, bytes.size() - asked);
      pieces[count++] = {start, bytes.subspan(asked, size)};
      asked += size;
    }
    const int64_t read = Read(pid, tid, std::span(pieces).first(count));
    if (read < 0) return all == 0 ? read : all;
    all += read;
    if (static_cast<size_t>(read) < asked) break;
    address += asked;
    bytes = bytes.subspan(asked);
  }
  return all;
}

int64_t Readers::Standing(uint32_t pid) const {
  if (waits_.contains(pid)) return -ETIMEDOUT;
  if (!has_refused_) return 0;
  return HasCostTooMany(UserOf(options_.proc, pid)) ? -EACCES : 0;
}

bool Readers::HasCostTooMany(std::optional<uint32_t> user) const {
  if (pool_.abandoned() >= kMostAbandoned) return true;
  if (!user) return false;  // unknown, because the process is gone
  const auto found = of_user_.find(*user);
  if (found != of_user_.end() && found->second >= kMostOfUser) return true;
  return *user != getuid() && of_others_ >= kMostOfOthers;
}

int64_t Readers::Ask(uint32_t pid, uint32_t tid) {
  const Exchange& exchange = pool_.current();
  pool_.current().pid = tid;
  const ReaderPool::Answer answer = pool_.Ask();
  if (answer == ReaderPool::Answer::kGiven) return exchange.result;
  if (answer == ReaderPool::Answer::kWaits) CountWait(pid);
  if (pool_.abandoned() >= kMostAbandoned) has_refused_ = true;
  return answer == ReaderPool::Answer::kWaits ? -ETIMEDOUT : -EAGAIN;
}

void Readers::CountWait(uint32_t pid) {
  waits_.insert(pid);
  std::string name = BeginningOf(absl::StrCat(options_.proc, "/", pid, "/comm"));
  if (name.ends_with('\n')) name.pop_back();
  const std::optional<uint32_t> user = UserOf(options_.proc, pid);
  noted_.push_back({pid, std::move(name), user});
  if (user && ++of_user_[*user] >= kMostOfUser) has_refused_ = true;
  if (user != getuid() && ++of_others_ >= kMostOfOthers) has_refused_ = true;
}

std::vector<std::string> Readers::Notes() const {
  std::vector<std::string> notes;
  if (pool_.is_started() && !pool_.started().ok()) {
    notes.push_back(absl::StrCat("cannot start a process that reads memory (",
                                 pool_.started().message(),
                                 "): call chains end at code that no file contains"));
  }
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(options_.deadline).count();
  for (const Wait& wait : noted_) {
    notes.push_back(
        absl::StrCat("memory of process ", wait.pid, wait.name.empty() ? "" : " (", wait.name,
                     wait.name.empty() ? "" : ")", " could not be read within ", milliseconds,
                     " ms, so it was not read again: some call chains of this process are cut"));
  }
  for (const auto& [user, count] : of_user_) {
    if (count < kMostOfUser) continue;
    notes.push_back(absl::StrCat(count, " reads from processes of user ", user,
                                 " did not end, so memory of this user's processes was not read "
                                 "again: some of their call chains are cut"));
  }
  if (pool_.abandoned() >= kMostAbandoned) {
    notes.push_back(absl::StrCat(pool_.abandoned(),
                                 " reads from other processes did not end, so no memory was read "
                                 "again: some call chains are cut"));
  } else if (of_others_ >= kMostOfOthers) {
    notes.push_back(absl::StrCat(of_others_,
                                 " reads from other users' processes did not end, so their memory "
                                 "was not read again: some call chains are cut"));
  }
  return notes;
}

}  // namespace profiler::reader
