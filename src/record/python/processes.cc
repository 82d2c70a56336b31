#include "src/record/python/processes.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "src/base/byte_reader.h"
#include "src/base/text.h"
#include "src/record/bpf/python_stack.h"
#include "src/record/live_memory.h"
#include "src/record/managed_processes.h"
#include "src/record/python/copied_memory.h"
#include "symbolize/image_file.h"
#include "symbolize/process_memory.h"

namespace profiler::record::python {
namespace {

namespace cpython = symbolize::python;
using symbolize::JitDump;

// At most as many processes as the map of the programs holds (maps.bpf.h).
constexpr size_t kMostImages = 256, kMostProcesses = 4096;
// Number of passes in which a starting interpreter is looked at each time, and the interval in
// passes after that. A program may map libpython and never use it.
constexpr uint64_t kImpatientTries = 64, kPatientInterval = 16;
// Limits of one function: bytes of its instructions, and of its names.
constexpr uint32_t kMostCodeBytes = 1 << 20;
// Limit for the functions of one process that stay known, in bytes.
constexpr size_t kMostKnownBytes = size_t{64} << 20;
// Bytes between the addresses of two functions are unused, so that a range never follows another.
constexpr uint64_t kGap = 16;

// Addresses of frames that are no functions.
constexpr uint64_t kUnknownCallers = Processes::kFirstAddress;
constexpr uint64_t kUnknownFunction = Processes::kFirstAddress + kGap;

symbolize::ImageSpec SpecOf(const perf_event::Mmap2& mmap) {
  return {.kind = symbolize::ImageKind::kUser,
          .path = std::string(mmap.filename),
          .build_id = {mmap.build_id.begin(), mmap.build_id.end()},
          .pid = mmap.pid,
          .life = {}};
}

}  // namespace

bool MayBePython(std::string_view path) {
  const std::string_view name = BaseName(path);
  return name.starts_with("python") || name.starts_with("libpython");
}

class Processes::Process final : public Loops {
 public:
  Process(uint32_t of_pid, symbolize::ImageSpec of_spec, std::shared_ptr<const Image> of_image,
          uint64_t of_bias, const std::string& proc, reader::Readers& readers)
      : pid(of_pid),
        spec(std::move(of_spec)),
        image(std::move(of_image)),
        bias(of_bias),
        live_(proc, of_pid, readers),
        memory_(live_),
        copied_(memory_) {}

  bool HasLoop(RuntimeAddress address) const override {
    const ElfAddress place{address.value - bias};
    return std::ranges::any_of(image->python.evaluation_loops, [&](const auto& range) {
      return range.begin <= place && place < range.end;
    });
  }
  bool IsAtEntry(RuntimeAddress address) const override {
    constexpr uint64_t kEntryBytes = 1024;
    const uint64_t place = address.value - bias;
    return std::ranges::any_of(image->python.evaluation_loops, [&](const auto& range) {
      return place - range.begin.value < kEntryBytes;
    });
  }
  bool AllKnown() const override { return image->python.has_all_loops; }
  bool IsInImage(RuntimeAddress address) const override {
    return address.value >= start && address.value - start < size;
  }

  cpython::CodeObjects& codes() {
    if (!codes_) codes_.emplace(copied_, *interpreter);
    return *codes_;
  }
  symbolize::ProcessMemory& memory() { return memory_; }
  void Refresh() {
    memory_.Forget();
    if (codes_) codes_->Refresh();
  }

  // Returns the address to list for a frame; nothing for a frame that is not to be shown.
  std::optional<uint64_t> AddressOf(const PythonStackFrame& frame, symbolize::CodeSink& sink) {
    const uint64_t address = frame.code & ((uint64_t{1} << kPythonKindShift) - 1);
    auto found = known_.find(address);
    if (found == known_.end() || found->second.print != frame.print) {
      std::optional<cpython::CodeObjects::Code> code = ReadCode(address, frame);
      if (!code) return Named(kUnknownFunction, "[unknown Python function]", sink);
      found = Keep(address, frame.print, *std::move(code));
    }
    Known& known = found->second;
    if (known.code.is_internal) return std::nullopt;
    if (known.first == 0) {
      known.first = next_;
      AddCode(known.code, sink);
    }
    return known.first + known.code.OffsetOf(frame.instruction);
  }
  // Keeps the function of a copied code object.
  void TakeCopy(std::span<const std::byte> record) {
    memory_.Forget();
    const std::optional<CopiedCode> copied = copied_.Take(record);
    if (copied && copied->generation == generation) {
      codes().Refresh();
      const cpython::CodeObjects::Code* const code = codes().Find(copied->code, copied->globals);
      if (code != nullptr) Keep(copied->code, copied->print, *code);
    }
    copied_.Clear();
  }
  uint64_t UnknownCallers(symbolize::CodeSink& sink) {
    return Named(kUnknownCallers, "[unknown Python callers]", sink);
  }

  const uint32_t pid;
  const symbolize::ImageSpec spec;
  const std::shared_ptr<const Image> image;
  const uint64_t bias;
  uint64_t start = 0, size = 0;  // the mapping
  std::optional<cpython::Interpreter> interpreter;
  uint32_t generation = 0;  // 0: not walked
  uint64_t since = 0;       // time since which frames are walked
  uint64_t tries = 0;

 private:
  // A function, which stays known when its code object is gone.
  struct Known {
    uint64_t print = 0;
    cpython::CodeObjects::Code code;
    uint64_t first = 0;  // address of the function's first instruction; 0: none yet
  };
  using KnownCodes = absl::flat_hash_map<uint64_t, Known>;

  KnownCodes::iterator Keep(uint64_t address, uint64_t print, cpython::CodeObjects::Code code) {
    if (known_bytes_ > kMostKnownBytes) {
      known_.clear();
      known_bytes_ = 0;
    }
    known_bytes_ += sizeof(Known) + code.name.size() + code.file.size() +
                    code.lines.size() * sizeof(code.lines.front()) +
                    code.instructions.size() * sizeof(uint64_t);
    return known_.insert_or_assign(address, Known{print, std::move(code)}).first;
  }

  // Returns the code object, if it is still the one that the frame ran. It was not copied, because
  // the record is lost.
  std::optional<cpython::CodeObjects::Code> ReadCode(uint64_t address,
                                                     const PythonStackFrame& frame) {
    memory_.Forget();
    codes().Refresh();
    const cpython::CodeObjects::Code* const code = codes().Find(address, frame.globals);
    if (code == nullptr) return std::nullopt;
    const cpython::WalkLayout& layout = interpreter->layout.walk;
    std::array<uint64_t, kPythonPrintWords> words{};
    const auto bytes = std::as_writable_bytes(std::span(words));
    if (!live_.Read(address + layout.code_file,
                    bytes.first(PythonPrintBytes(layout.code_file, layout.code_lines)))) {
      return std::nullopt;
    }
    const auto print = PythonPrint(reinterpret_cast<const __u64*>(words.data()));
    return print == frame.print ? std::optional(*code) : std::nullopt;
  }

  void AddCode(const cpython::CodeObjects::Code& code, symbolize::CodeSink& sink) {
    const uint32_t bytes = std::clamp<uint32_t>(code.size, 1, kMostCodeBytes);
    places_.clear();
    if (code.lines.empty() || code.lines.front().offset != 0) {
      places_.push_back({.distance = 0, .call = JitDump::kNone, .line = code.first_line});
    }
    for (const auto& line : code.lines) {
      places_.push_back({.distance = line.offset, .call = JitDump::kNone, .line = line.line});
    }
    Add(next_, bytes, code.name, code.file, sink);
    next_ += bytes + kGap;
  }

  uint64_t Named(uint64_t address, std::string_view name, symbolize::CodeSink& sink) {
    places_.clear();
    if (named_.insert(address).second) Add(address, 1, name, {}, sink);
    return address;
  }

  void Add(uint64_t address, uint32_t bytes, std::string_view name, std::string_view file,
           symbolize::CodeSink& sink) {
    zeros_.assign(bytes, std::byte{0});
    sink.Add({.start = {address},
              .bytes = zeros_,
              .is_bytecode = true,
              .name = name,
              .file = file,
              .image = "[python]",
              .places = places_});
  }

  LiveMemory live_;
  symbolize::PagedMemory memory_;
  CopiedMemory copied_;
  std::optional<cpython::CodeObjects> codes_;
  KnownCodes known_;  // keyed by the address of the code object
  size_t known_bytes_ = 0;
  absl::flat_hash_set<uint64_t> named_;       // addresses of frames that are no functions
  uint64_t next_ = kFirstAddress + 2 * kGap;  // the next unused address
  std::vector<JitDump::Place> places_;        // scratch
  std::vector<std::byte> zeros_;              // scratch
};

Processes::Processes(const symbolize::SymbolizerOptions& files, CodeDumps& dumps,
                     reader::Readers& readers)
    : files_(files), dumps_(dumps), readers_(readers) {}
Processes::~Processes() = default;

std::shared_ptr<const Processes::Image> Processes::ImageOf(const perf_event::Mmap2& mmap) {
  if (images_.size() >= kMostImages) images_.clear();
  const auto [known, is_new] = images_.try_emplace(
      {std::string(mmap.filename), std::string(TextOf(mmap.build_id)), mmap.pgoff});
  if (!is_new && !mmap.build_id.empty()) return known->second;
  known->second = nullptr;
  const symbolize::OpenedImage opened = symbolize::OpenImage(SpecOf(mmap), files_);
  if (!opened.file) return nullptr;
  const std::optional<ElfAddress> start = opened.file->elf.AddressOf(FileOffset{mmap.pgoff});
  auto python = cpython::PythonImage::Read(opened.file->elf);
  if (!start || !python) return nullptr;
  known->second = std::make_shared<const Image>(Image{*std::move(python), *start});
  return known->second;
}

void Processes::Mapped(const perf_event::Mmap2& mmap) {
  if (walker_ == nullptr || !MayBePython(mmap.filename)) return;
  if (processes_.contains(mmap.pid) || processes_.size() >= kMostProcesses) return;
  std::shared_ptr<const Image> image = ImageOf(mmap);
  if (image == nullptr) return;
  walker_->Prepare();
  const uint64_t bias = mmap.addr - image->start.value;
  auto process = std::make_unique<Process>(mmap.pid, SpecOf(mmap), std::move(image), bias,
                                           files_.proc_path, readers_);
  process->start = mmap.addr;
  process->size = mmap.len;
  Process& added = *(processes_[mmap.pid] = std::move(process));
  Try(added);
  if (!added.interpreter) starting_.push_back(mmap.pid);
}

void Processes::Try(Process& process) {
  ++process.tries;
  absl::StatusOr<cpython::Interpreter> found =
      cpython::Recognise(process.image->python, process.bias, process.memory());
  if (!found.ok()) return;
  process.interpreter = *std::move(found);
  Begin(process);
}

// Lets the kernel walk, unless the interpreter writes a map of its functions itself (-X perf).
void Processes::Begin(Process& process) {
  if (HasJitMap(process.spec, files_)) return;
  if (!walker_->Walk(process.pid, process.interpreter->layout.walk, ++last_generation_)) return;
  process.generation = last_generation_;
  process.since = process.memory().Now();
}

void Processes::Forked(uint32_t parent, uint32_t child) {
  const auto found = processes_.find(parent);
  if (found == processes_.end() || processes_.size() >= kMostProcesses) return;
  const Process& from = *found->second;
  symbolize::ImageSpec spec = from.spec;
  spec.pid = child;
  auto process = std::make_unique<Process>(child, std::move(spec), from.image, from.bias,
                                           files_.proc_path, readers_);
  process->start = from.start;
  process->size = from.size;
  process->interpreter = from.interpreter;
  Process& added = *(processes_[child] = std::move(process));
  if (added.interpreter) {
    Begin(added);
  } else {
    starting_.push_back(child);
  }
}

void Processes::Ended(uint32_t pid) {
  const auto found = processes_.find(pid);
  if (found != processes_.end() && found->second->generation != 0) walker_->Leave(pid);
}

void Processes::Forget(uint32_t pid) {
  Ended(pid);
  processes_.erase(pid);
}

void Processes::Refresh() {
  ++passes_;
  std::erase_if(starting_, [this](uint32_t pid) {
    const auto found = processes_.find(pid);
    if (found == processes_.end() || found->second->interpreter) return true;
    Process& process = *found->second;
    if (process.tries > kImpatientTries && passes_ % kPatientInterval != 0) return false;
    process.Refresh();
    Try(process);
    return process.interpreter.has_value();
  });
}

void Processes::TakeCopy(uint32_t pid, std::span<const std::byte> record) {
  const auto found = processes_.find(pid);
  if (found != processes_.end() && found->second->generation != 0) {
    found->second->TakeCopy(record);
  }
}

bool Processes::ReadStack(Process& process, std::span<const std::byte> record) {
  stack_.Clear();
  PythonStackHeader header;
  if (record.size() < sizeof(header)) return false;
  std::memcpy(&header, record.data(), sizeof(header));
  record = record.subspan(sizeof(header));
  if (header.generation != process.generation || header.count > kMostPythonFrames ||
      record.size() / sizeof(PythonStackFrame) < header.count) {
    return false;
  }
  if (header.end != kPythonWhole) ++counts_.torn;
  if (header.end == kPythonChanged) return false;
  const cpython::WalkLayout& layout = process.interpreter->layout.walk;
  stack_.head = header.head;
  stack_.has_places = layout.thread_cframe != cpython::kPythonNoField || layout.owner_entry != 0xff;
  stack_.may_be_remnant = layout.frame_indirect != cpython::kPythonNoField;
  symbolize::CodeSink& sink = dumps_.Of(process.pid, process.since);
  size_t begin = 0;
  bool is_empty = true;
  for (uint32_t i = 0; i < header.count; ++i) {
    PythonStackFrame frame;
    std::memcpy(&frame, record.data() + i * sizeof(frame), sizeof(frame));
    const uint64_t kind = frame.code >> kPythonKindShift;
    if (kind != kPythonCStack) {
      is_empty = false;
      if (const auto address = process.AddressOf(frame, sink)) stack_.frames.push_back(*address);
      if (kind != kPythonEntry) continue;
    }
    std::optional<uint64_t> place;
    if (kind == kPythonCStack) place = frame.code & ((uint64_t{1} << kPythonKindShift) - 1);
    stack_.runs.push_back({begin, stack_.frames.size(), place, /*is_whole=*/true});
    begin = stack_.frames.size();
    is_empty = true;
  }
  if (!is_empty || header.end != kPythonWhole) {
    stack_.runs.push_back({begin, stack_.frames.size(), std::nullopt, /*is_whole=*/false});
  }
  return true;
}

std::optional<Processes::Result> Processes::Join(uint32_t pid, uint64_t time,
                                                 std::span<const std::byte> record,
                                                 const symbolize::UnwoundChain& chain,
                                                 const symbolize::RegisterSet& registers) {
  if (processes_.empty()) return std::nullopt;
  const auto found = processes_.find(pid);
  if (found == processes_.end()) return std::nullopt;
  Process& process = *found->second;
  if (process.generation == 0 || (record.empty() && time < process.since)) {
    counts_.early += std::ranges::any_of(chain.frames, [&](const symbolize::UnwoundFrame& frame) {
      return process.HasLoop(frame.instruction());
    });
    return std::nullopt;
  }
  const bool has_stack = ReadStack(process, record);
  joined_.clear();
  const uint64_t unknown = process.UnknownCallers(dumps_.Of(pid, process.since));
  const Joined joined =
      python::Join(chain, registers, process, has_stack ? &stack_ : nullptr, unknown, &joined_);
  switch (joined.quality) {
    case Joined::Quality::kNone:
      return std::nullopt;
    case Joined::Quality::kWhole:
      ++counts_.whole;
      break;
    case Joined::Quality::kPartly:
      ++counts_.partly;
      break;
    case Joined::Quality::kUnknown:
      ++counts_.unknown;
      break;
  }
  return Result{joined_, joined.is_leaf_python};
}

}  // namespace profiler::record::python
