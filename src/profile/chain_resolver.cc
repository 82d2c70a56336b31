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

// The next entry of a chain that is no marker, from `i` on, or the chain's size; `mode` becomes
// what the markers on the way say.
size_t NextEntry(U64Array chain, size_t i, Mode* mode) {
  for (; i < chain.size() && IsMarker(chain[i]); ++i) {
    *mode = ModeOfMarker(chain[i]);
    // Behind this marker stands a cookie, no address; whoever has the chain that it promises puts
    // it in its place.
    if (chain[i] == perf_event::kContextUserDeferred) ++i;
  }
  return std::min(i, chain.size());
}

}  // namespace

bool HasEntries(U64Array callchain) {
  Mode mode{};
  return NextEntry(callchain, 0, &mode) < callchain.size();
}

ChainResolver::ChainResolver(Profile& profile, ImageTable& images, symbolize::AddressSpaces& spaces,
                             uint32_t max_stack, bool by_address)
    : profile_(profile),
      images_(images),
      spaces_(spaces),
      max_stack_(std::max<uint32_t>(max_stack, 1)),
      stacks_(profile, by_address) {
  kernel_.addresses = &spaces_.Kernel();
}

ChainResolver::Search ChainResolver::Start(const SamplePoint& point) {
  Search search{.point = point,
                .chain = {.process_generation = ProcessSpace(point.pid).addresses->generation(),
                          .kernel_generation = kernel_.addresses->generation(),
                          .mode = point.mode,
                          .entries = point.callchain}};
  search.hash = search.chain.Hash();
  cache_.PrefetchSlot(search.hash);
  return search;
}

ResolvedStack ChainResolver::Resolve(const Search& search) {
  const SamplePoint& point = search.point;
  KnownStack& known =
      cache_.FindOrMake(search.chain, search.hash, [&] { return ResolveNew(point); });
  Mode leaf_mode = point.mode;  // a chain without markers is where its sample is
  const size_t leaf = NextEntry(point.callchain, 0, &leaf_mode);
  if (leaf_mode == point.mode && point.callchain[leaf] == point.ip) {
    return {known.leaf, known.stack, &known.row};
  }
  const Frame self = PlaceFrame(SpaceOf(point.pid, point.mode), point.mode, point.ip, false);
  return {stacks_.InternFrame(self), known.stack, &known.row};
}

KnownStack ChainResolver::ResolveNew(const SamplePoint& point) {
  CutIntoPieces(point);
  KnownStack known;
  for (size_t i = pieces_.size(); i-- > 0;) {
    const Piece& piece = pieces_[i];
    const U64Array entries(point.callchain.bytes().subspan(piece.first * 8, piece.count * 8));
    known = ResolvePiece(piece.mode, SpaceOf(point.pid, piece.mode), known.stack, entries);
  }
  return known;
}

void ChainResolver::CutIntoPieces(const SamplePoint& point) {
  pieces_.clear();
  const U64Array& chain = point.callchain;
  Mode mode = point.mode;
  uint32_t left = max_stack_;
  for (size_t i = NextEntry(chain, 0, &mode); i < chain.size() && left != 0;
       i = NextEntry(chain, i, &mode)) {
    Piece piece{mode, i, 0};
    for (; i < chain.size() && left != 0 && !IsMarker(chain[i]); ++i, --left) ++piece.count;
    pieces_.push_back(piece);
  }
}

KnownStack ChainResolver::ResolvePiece(Mode mode, Space& space, StackId callers, U64Array entries) {
  const size_t size = entries.size();
  const auto from_root = [&](size_t i) { return entries[size - 1 - i]; };

  // Entries in common with the last piece, from the root. The leaf is never among them: it is no
  // return address, so it is another frame than a caller at the same address.
  const uint64_t generation = space.addresses == nullptr ? 0 : space.addresses->generation();
  size_t shared = 0;
  if (space.addresses != nullptr && space.last_generation == generation &&
      space.last_callers == callers && !space.last_entries.empty()) {
    const size_t most = std::min(size, space.last_entries.size()) - 1;
    while (shared < most && space.last_entries[shared] == from_root(shared)) ++shared;
  }
  space.last_generation = generation;
  space.last_callers = callers;
  space.last_entries.resize(size);
  space.last_stacks.resize(size);

  frames_.clear();
  for (size_t i = shared; i < size; ++i) {
    const bool is_leaf = i + 1 == size;
    space.last_entries[i] = from_root(i);
    frames_.push_back(PlaceFrame(space, mode, from_root(i), !is_leaf));
    stacks_.PrefetchFrame(frames_.back());
  }
  KnownStack known{.stack = shared == 0 ? callers : space.last_stacks[shared - 1]};
  for (size_t i = shared; i < size; ++i) {
    known.leaf = stacks_.InternFrame(frames_[i - shared]);
    known.stack = stacks_.InternStack(known.stack, known.leaf);
    space.last_stacks[i] = known.stack;
  }
  return known;
}

Frame ChainResolver::PlaceFrame(Space& space, Mode mode, uint64_t ip, bool return_address) {
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
  return frame;
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
