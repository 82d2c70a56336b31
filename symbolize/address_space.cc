#include "symbolize/address_space.h"

#include <algorithm>
#include <atomic>
#include <limits>

namespace profiler::symbolize {
namespace {

// Returns the last address of a mapping, because the address after it may not fit into 64 bits.
uint64_t LastOf(uint64_t start, uint64_t size) {
  return AddressSpace::ByEnd::Last(Mapping{.start = RuntimeAddress{start}, .size = size});
}

uint64_t LastOf(const Mapping& mapping) { return AddressSpace::ByEnd::Last(mapping); }

// Returns the size of [start, last]. For the whole address space, returns one less, because that
// size does not fit into 64 bits.
uint64_t SizeOf(uint64_t start, uint64_t last) {
  const uint64_t size = last - start + 1;
  return size == 0 ? std::numeric_limits<uint64_t>::max() : size;
}

// Returns the part of `mapping` from `start` to `last`, both inside it.
Mapping Part(const Mapping& mapping, uint64_t start, uint64_t last) {
  Mapping part = mapping;
  part.start.value = start;
  part.size = SizeOf(start, last);
  part.place = mapping.place + (start - mapping.start.value);
  return part;
}

uint64_t NextGeneration() {
  // Threads use distinct address spaces, so numbers must be distinct but need no ordering.
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

const AddressSpace::Table& AddressSpace::Empty() {
  static const Table empty;
  return empty;
}

AddressSpace::Table& AddressSpace::Own() {
  if (table_ == nullptr) {
    table_ = std::make_shared<Table>();
  } else if (table_.use_count() > 1) {
    table_ = std::make_shared<Table>(*table_);
  }
  return *table_;
}

void AddressSpace::Map(const Mapping& mapping) {
  if (mapping.size == 0) return;
  const uint64_t start = mapping.start.value;
  const uint64_t last = LastOf(mapping);
  const Mapping* present = Find(mapping.start);
  if (present != nullptr && LastOf(*present) >= last && present->image == mapping.image &&
      present->place + (start - present->start.value) == mapping.place) {
    return;
  }
  Cut(start, last);
  Table& table = Own();
  if (table.size() < kMostMappings) table.insert(Part(mapping, start, last));
  generation_ = NextGeneration();
}

void AddressSpace::Unmap(RuntimeAddress start, uint64_t size) {
  if (size == 0) return;
  if (Cut(start.value, LastOf(start.value, size))) generation_ = NextGeneration();
}

void AddressSpace::Clear() {
  if (mappings().empty()) return;
  table_.reset();
  generation_ = NextGeneration();
}

bool AddressSpace::Cut(uint64_t start, uint64_t last) {
  if (table_ == nullptr) return false;
  const auto reaching = table_->lower_bound(start);
  if (reaching == table_->end() || reaching->start.value > last) return false;
  Table& table = Own();
  const auto first = table.lower_bound(start);
  // At most two pieces stay: the head of the first mapping and the tail of the last one.
  Mapping kept[2];
  size_t count = 0;
  if (first->start.value < start) kept[count++] = Part(*first, first->start.value, start - 1);
  auto end = first;
  Mapping final;
  while (end != table.end() && end->start.value <= last) final = *end++;
  if (LastOf(final) > last) kept[count++] = Part(final, last + 1, LastOf(final));
  table.erase(first, end);
  table.insert(kept, kept + count);
  return true;
}

const Mapping* AddressSpace::Find(RuntimeAddress address) const {
  if (table_ == nullptr) return nullptr;
  const auto it = table_->lower_bound(address.value);
  if (it == table_->end() || it->start > address) return nullptr;
  return &*it;
}

AddressSpace& AddressSpaces::Process(uint32_t pid) {
  std::unique_ptr<AddressSpace>& space = processes_[pid];
  if (space == nullptr) space = std::make_unique<AddressSpace>();
  return *space;
}

void AddressSpaces::Fork(uint32_t parent, uint32_t child) {
  if (parent == child) return;
  const AddressSpace inherited = Process(parent);
  Process(child) = inherited;
}

void AddressSpaces::Exec(uint32_t pid) {
  AddressSpace& process = Process(pid);
  execs_[pid] = {.before = process};
  process.Clear();
}

std::vector<bool> AddressSpaces::MappedImages(size_t images) const {
  std::vector<bool> mapped(images);
  const auto add = [&](const AddressSpace& space) {
    for (const Mapping& mapping : space.mappings()) {
      if (const auto image = static_cast<size_t>(mapping.image); image < images) {
        mapped[image] = true;
      }
    }
  };
  for (const auto& [pid, space] : processes_) add(*space);
  for (const auto& [pid, exec] : execs_) add(exec.before);
  add(kernel_);
  return mapped;
}

const AddressSpace& AddressSpaces::DuringExec(uint32_t pid, bool in_user_code,
                                              std::optional<RuntimeAddress> user_ip) {
  const AddressSpace& now = Process(pid);
  if (!in_user_code && !user_ip) return now;  // the sample says nothing about user code
  ExecInProgress& exec = execs_[pid];
  // User registers do not change until the new image runs.
  const bool moved = exec.user_ip && exec.user_ip != user_ip;
  const Mapping* const then = user_ip ? exec.before.Find(*user_ip) : nullptr;
  if (in_user_code || moved || then == nullptr) {
    execs_.erase(pid);
    return now;
  }
  exec.user_ip = user_ip;
  const Mapping* const there = now.Find(*user_ip);
  exec.is_old |= there == nullptr;
  if (exec.is_old) return exec.before;
  const bool same = there->image == then->image &&
                    there->place - then->place == there->start.value - then->start.value;
  return same ? now : nowhere_;
}

}  // namespace profiler::symbolize
