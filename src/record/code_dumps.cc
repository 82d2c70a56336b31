#include "src/record/code_dumps.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "src/base/byte_reader.h"
#include "src/base/clock.h"
#include "src/base/transfer.h"
#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/records.h"
#include "symbolize/symbols/jit_dump_writer.h"
#include "symbolize/unwind/arch/architecture.h"

namespace profiler::record {
namespace {

using symbolize::VmCode;

// Number of bytes that a dump collects in memory before it writes them: some hundred functions.
constexpr size_t kMostKept = 256 << 10;

// Sets the file's times back to the time of the sample: readers ignore a file that was written
// after its process had ended (files/jit_file.h). `monotonic` is converted to the clock of file
// times.
void SetTimeOfFile(int fd, uint64_t monotonic) {
  const uint64_t now = MonotonicNow();
  const auto age = static_cast<int64_t>(now - std::min(now, monotonic));
  const int64_t then = std::max(ReadClock(CLOCK_REALTIME) - age, int64_t{0});
  const timespec time{.tv_sec = then / kNanosecondsPerSecond,
                      .tv_nsec = then % kNanosecondsPerSecond};
  const timespec times[2] = {time, time};
  futimens(fd, times);
}

}  // namespace

// One dump file.
class CodeDumps::Dump {
 public:
  Dump(UniqueFd file, std::string path, std::string header, uint64_t since)
      : file_(std::move(file)), path_(std::move(path)), since_(since), kept_(std::move(header)) {}

  const std::string& path() const { return path_; }

  // Adds a piece of code. Returns the number of bytes by which the dump has grown.
  size_t Add(const VmCode& code, uint32_t pid, uint64_t time) {
    const size_t before = kept_.size();
    const Piece piece{.index = next_index_,
                      .size = code.bytes.size(),
                      .print = absl::HashOf(code.name, TextOf(code.bytes), code.places.size())};
    const auto [known, is_new] = pieces_.try_emplace(code.start.value, piece);
    if (!is_new && known->second.size == piece.size && known->second.print == piece.print) {
      AppendReturn(code, pid, time, known->second.index, &kept_);
    } else {
      known->second = piece;
      AppendLoad(code, pid, time, next_index_++, &kept_);
    }
    return kept_.size() - before;
  }

  bool Flush() {
    if (kept_.empty()) return true;
    const bool is_written = WriteFully(file_.get(), BytesOfText(kept_)) == 0;
    kept_.clear();
    SetTimeOfFile(file_.get(), since_);
    return is_written;
  }
  bool IsFull() const { return kept_.size() >= kMostKept; }

 private:
  struct Piece {
    uint64_t index = 0, size = 0;
    size_t print = 0;  // hash of the code's name and bytes
  };

  const UniqueFd file_;
  const std::string path_;
  const uint64_t since_;
  std::string kept_;
  uint64_t next_index_ = 0;
  absl::flat_hash_map<uint64_t, Piece> pieces_;  // keyed by address
};

class CodeDumps::Process final : public symbolize::CodeSink {
 public:
  Process(CodeDumps& all, uint32_t pid, uint64_t since)
      : all_(all), pid_(pid), since_(since != 0 ? since : MonotonicNow()) {}

  void Add(const VmCode& code) override {
    if (leaves_compiled_ && !code.is_bytecode) return;
    std::optional<Dump>& dump = !code.is_bytecode    ? compiled_
                                : code.image.empty() ? bytecodes_
                                                     : named_;
    if (!dump && !Begin(code, dump)) return;
    if (has_failed_ || all_.bytes_ > kMostBytes) return;
    if (code.is_bytecode) MapPagesOf(code);
    all_.bytes_ += dump->Add(code, pid_, all_.time_);
    if (dump->IsFull()) Flush();
  }
  uint64_t Generation() const override { return generation_; }
  bool LeavesCompiled() const override { return leaves_compiled_; }

  void LeaveCompiled() { leaves_compiled_ = true; }
  void Cover() {
    ++generation_;
    mapped_.clear();
  }
  void Flush() {
    for (std::optional<Dump>* dump : {&compiled_, &bytecodes_, &named_}) {
      if (*dump && !(*dump)->Flush()) has_failed_ = true;
    }
  }

 private:
  bool Begin(const VmCode& code, std::optional<Dump>& dump) {
    if (has_failed_) return false;
    const std::optional<std::string> path = all_.NewPath(pid_, code.image);
    UniqueFd file;
    if (path) file = UniqueFd(open(path->c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    has_failed_ = !path || file.get() < 0;
    if (has_failed_) return false;
    all_.made_.push_back(*path);
    all_.on_signal_.emplace_back(*path);
    const uint16_t machine = code.is_bytecode ? symbolize::kBytecodeMachine
                                              : symbolize::kNativeArchitecture->elf_machine;
    dump.emplace(std::move(file), *path, symbolize::JitDumpHeader(machine, pid_, all_.time_),
                 since_);
    // A JIT maps its dump at some address. This dump counts as mapped in the first pages of memory,
    // which processes never use.
    const uint64_t page = !code.is_bytecode ? 1 : code.image.empty() ? 2 : 3;
    all_.AddMapping(pid_, page * kPage, kPage, *path);
    return true;
  }

  // Adds mappings for the pages of bytecodes. The kernel writes no records for these pages, because
  // they are not executable.
  void MapPagesOf(const VmCode& code) {
    const uint64_t end = code.start.value + code.bytes.size();
    for (uint64_t page = code.start.value & ~(kPage - 1); page < end; page += kPage) {
      if (mapped_.insert(page).second) all_.AddMapping(pid_, page, kPage, "//anon");
    }
  }

  CodeDumps& all_;
  const uint32_t pid_;
  const uint64_t since_;
  uint64_t generation_ = 1;
  bool has_failed_ = false;
  bool leaves_compiled_ = false;
  std::optional<Dump> compiled_, bytecodes_;
  std::optional<Dump> named_;             // bytecodes that have VmCode::image
  absl::flat_hash_set<uint64_t> mapped_;  // pages of bytecodes
};

CodeDumps::CodeDumps(const perf_event::RecordLayout& written) : written_(written) {}

CodeDumps::~CodeDumps() {
  processes_.clear();
  for (const std::string& path : made_) {
    unlink(path.c_str());
    for (size_t end = path.rfind('/'); end > directory_.size(); end = path.rfind('/', end - 1)) {
      rmdir(path.substr(0, end).c_str());
    }
  }
  if (!directory_.empty()) rmdir(directory_.c_str());
}

symbolize::CodeSink& CodeDumps::Of(uint32_t pid, uint64_t since) {
  std::unique_ptr<Process>& process = processes_[pid];
  if (process == nullptr) process = std::make_unique<Process>(*this, pid, since);
  return *process;
}

void CodeDumps::LeaveCompiled(uint32_t pid) {
  const auto found = processes_.find(pid);
  if (found != processes_.end()) found->second->LeaveCompiled();
}

void CodeDumps::Mapped(uint32_t pid) {
  if (const auto found = processes_.find(pid); found != processes_.end()) found->second->Cover();
}

void CodeDumps::Forget(uint32_t pid) {
  const auto found = processes_.find(pid);
  if (found == processes_.end()) return;
  found->second->Flush();
  processes_.erase(found);
}

void CodeDumps::Flush() {
  for (const auto& [pid, process] : processes_) process->Flush();
}

std::optional<std::string> CodeDumps::NewPath(uint32_t pid, std::string_view image) {
  if (directory_.empty() && !has_failed_) {
    const char* const temporary = getenv("TMPDIR");
    std::string pattern = absl::StrCat(
        temporary != nullptr && *temporary == '/' ? temporary : "/tmp", "/profiler-XXXXXX");
    has_failed_ = mkdtemp(pattern.data()) == nullptr;
    if (!has_failed_) directory_ = pattern;
  }
  if (has_failed_) return std::nullopt;
  std::string inside = absl::StrCat(directory_, "/", made_.size() + 1);
  if (mkdir(inside.c_str(), 0700) != 0) return std::nullopt;
  if (!image.empty()) {
    inside.append("/").append(image);
    if (mkdir(inside.c_str(), 0700) != 0) return std::nullopt;
  }
  return absl::StrCat(inside, "/jit-", pid, ".dump");
}

// Adds a mapping just before the sample's time. So the code that the sample added is newer than the
// mapping, and replaces it.
void CodeDumps::AddMapping(uint32_t pid, uint64_t start, uint64_t size, const std::string& name) {
  perf_event::Mmap2 mapping{.pid = pid, .tid = pid, .addr = start, .len = size};
  mapping.prot = PROT_READ | PROT_EXEC;
  mapping.flags = MAP_PRIVATE;
  mapping.filename = name;
  mapping.sample_id = {.pid = pid, .tid = pid, .time = time_ - std::min<uint64_t>(time_, 1)};
  Encode(perf_event::kRecordMmap2, perf_event::kMiscUser, written_, mapping, &records_);
}

void CodeDumps::TakeRecords(std::vector<std::byte>* out) {
  out->insert(out->end(), records_.begin(), records_.end());
  records_.clear();
}

}  // namespace profiler::record
