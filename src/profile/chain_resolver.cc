#include "src/profile/chain_resolver.h"

#include <algorithm>

#include "src/perf_event/abi.h"

namespace profiler::profile {
namespace {

using perf_event::U64Array;

// The mode that a PERF_CONTEXT_* marker begins.
Mode ModeOfMarker(uint64_t marker) {
  switch (marker) {
    case perf_event::kContextUser:
      return Mode::kUser;
    case perf_event::kContextKernel:
      return Mode::kKernel;
    case perf_event::kContextHypervisor:
      return Mode::kHypervisor;
    case perf_event::kContextGuestUser:
      return Mode::kGuestUser;
    case perf_event::kContextGuest:
    case perf_event::kContextGuestKernel:
      return Mode::kGuestKernel;
    default:
      return Mode::kUnknown;
  }
}

bool IsMarker(uint64_t entry) { return entry >= perf_event::kContextMax; }

}  // namespace

ChainResolver::ChainResolver(Profile& profile, ImageTable& images, symbolize::AddressSpaces& spaces,
                             uint32_t max_stack)
    : profile_(profile),
      images_(images),
      spaces_(spaces),
      max_stack_(std::max<uint32_t>(max_stack, 1)),
      stacks_(profile) {
  kernel_.addresses = &spaces_.Kernel();
}

ResolvedStack ChainResolver::Resolve(const SamplePoint& point) {
  CutIntoPieces(point);
  KnownStack* known = nullptr;
  for (size_t i = cuts_.size(); i-- > 0;) {
    const Cut& cut = cuts_[i];
    const U64Array entries(point.callchain.bytes().subspan(cut.first * 8, cut.count * 8));
    const StackId callers = known == nullptr ? kNoStack : known->stack;
    known = &Extend(callers, cut.mode, SpaceOf(point.pid, cut.mode), entries);
  }
  if (known != nullptr && cuts_[0].mode == point.mode &&
      point.callchain[cuts_[0].first] == point.ip) {
    return {known->leaf, known->stack, &known->row};
  }
  const FrameId self = ResolveFrame(SpaceOf(point.pid, point.mode), point.mode, point.ip, false);
  if (known != nullptr) return {self, known->stack, &known->row};
  return {self, stacks_.InternStack(kNoStack, self), nullptr};
}

// Fills cuts_, leaf first; pieces are never empty.
void ChainResolver::CutIntoPieces(const SamplePoint& point) {
  cuts_.clear();
  Cut cut{point.mode, 0, 0};  // a chain without markers is where its sample is
  uint32_t left = max_stack_;
  const size_t size = point.callchain.size();
  for (size_t i = 0; i < size && left != 0; ++i) {
    const uint64_t entry = point.callchain[i];
    if (!IsMarker(entry)) {
      ++cut.count;
      --left;
      continue;
    }
    if (cut.count != 0) cuts_.push_back(cut);
    // Behind this marker stands a cookie, no address; whoever has the chain it promises puts it in
    // its place.
    if (entry == perf_event::kContextUserDeferred) ++i;
    cut = {ModeOfMarker(entry), i + 1, 0};
  }
  if (cut.count != 0) cuts_.push_back(cut);
}

KnownStack& ChainResolver::Extend(StackId callers, Mode mode, Space& space, U64Array entries) {
  const uint64_t generation = space.addresses == nullptr ? 0 : space.addresses->generation();
  const ChainPiece piece{generation, callers, mode, entries};
  return cache_.FindOrMake(piece, [&] { return Walk(piece, space); });
}

KnownStack ChainResolver::Walk(const ChainPiece& piece, Space& space) {
  const size_t size = piece.entries.size();
  const auto from_root = [&](size_t i) { return piece.entries[size - 1 - i]; };

  // Entries in common with the last piece, from the root. The leaf is never among them: it is no
  // return address, so it is another frame than a caller at the same address.
  size_t shared = 0;
  if (space.last.generation == piece.generation && space.last.callers == piece.callers &&
      space.last.mode == piece.mode && !space.last_entries.empty()) {
    const size_t most = std::min(size, space.last_entries.size()) - 1;
    while (shared < most && space.last_entries[shared] == from_root(shared)) ++shared;
  }
  space.last = {piece.generation, piece.callers, piece.mode, {}};
  space.last_entries.resize(size);
  space.last_stacks.resize(size);

  StackId stack = shared == 0 ? piece.callers : space.last_stacks[shared - 1];
  FrameId frame{};
  for (size_t i = shared; i < size; ++i) {
    const uint64_t ip = from_root(i);
    const bool is_leaf = i + 1 == size;
    frame = ResolveFrame(space, piece.mode, ip, !is_leaf);
    stack = stacks_.InternStack(stack, frame);
    space.last_entries[i] = ip;
    space.last_stacks[i] = stack;
  }
  return {.stack = stack, .leaf = frame};
}

FrameId ChainResolver::ResolveFrame(Space& space, Mode mode, uint64_t ip, bool return_address) {
  const uint64_t looked_up = return_address && ip != 0 ? ip - 1 : ip;
  Frame frame{.dso = images_.unknown_dso(),
              .mode = mode,
              .return_address = return_address,
              .unnamed = Unnamed::kNoMapping,
              .offset = FileOffset{ip},
              .ip = RuntimeAddress{ip}};
  if (const symbolize::Mapping* mapping = FindMapping(space, looked_up)) {
    frame.dso = images_.DsoOf(mapping->image);
    frame.unnamed = Unnamed::kNoSymbol;
    frame.offset.value = ip - mapping->start.value + mapping->offset.value;
  }
  return stacks_.InternFrame(frame);
}

const symbolize::Mapping* ChainResolver::FindMapping(Space& space, uint64_t address) {
  if (space.addresses == nullptr) return nullptr;
  const uint64_t generation = space.addresses->generation();
  if (space.mapping == nullptr || space.mapping_generation != generation ||
      address - space.mapping->start.value >= space.mapping->size) {
    space.mapping = space.addresses->Find(RuntimeAddress{address});
    space.mapping_generation = generation;
  }
  return space.mapping;
}

ChainResolver::Space& ChainResolver::SpaceOf(uint32_t pid, Mode mode) {
  switch (mode) {
    case Mode::kUser:
      return ProcessSpace(pid);
    case Mode::kKernel:
      return kernel_;
    default:
      return nowhere_;
  }
}

ChainResolver::Space& ChainResolver::ProcessSpace(uint32_t pid) {
  if (last_process_ != nullptr && last_pid_ == pid) return *last_process_;
  std::unique_ptr<Space>& space = processes_[pid];
  if (space == nullptr) {
    space = std::make_unique<Space>();
    space->addresses = &spaces_.Process(pid);
  }
  last_pid_ = pid;
  last_process_ = space.get();
  return *space;
}

}  // namespace profiler::profile
