#include "src/profile/chain_resolver.h"

#include <algorithm>
#include <cstring>

#include "src/format/perf_event/abi.h"
#include "symbolize/unwind/chain_quality.h"

namespace profiler::profile {
namespace {

using perf_event::U64Array;

// Returns the mode of the entries that follow a PERF_CONTEXT_* marker.
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

// Returns the index of the first entry, from index `i` on, that is not a marker; the chain's size
// if there is none. Sets `mode` to the mode of the last marker that was passed.
size_t NextEntry(U64Array chain, size_t i, Mode* mode) {
  for (; i < chain.size() && perf_event::IsContext(chain[i]); ++i) {
    *mode = ModeOfMarker(chain[i]);
    // A cookie instead of an address follows this marker. If the deferred chain has arrived, it has
    // replaced both.
    if (chain[i] == perf_event::kContextUserDeferred) ++i;
  }
  return std::min(i, chain.size());
}

enum class ChainKind { kEmpty, kCorrupt, kGood };

// Classifies a chain. An unknown marker shows that the kernel followed a register that was not a
// frame pointer, which may have any value in code without frame pointers. Like perf, we then ignore
// the whole chain.
ChainKind KindOf(U64Array chain) {
  bool has_entries = false;
  for (size_t i = 0; i < chain.size(); ++i) {
    if (!perf_event::IsContext(chain[i])) {
      has_entries = true;
    } else if (chain[i] == perf_event::kContextUserDeferred) {
      ++i;
    } else if (ModeOfMarker(chain[i]) == Mode::kUnknown) {
      return ChainKind::kCorrupt;
    }
  }
  return has_entries ? ChainKind::kGood : ChainKind::kEmpty;
}

}  // namespace

bool ChainResolver::IsCorrupt(U64Array callchain) {
  return KindOf(callchain) == ChainKind::kCorrupt;
}

U64Array ChainResolver::LeafOf(U64Array callchain) {
  Mode mode = Mode::kUnknown;
  const size_t leaf = NextEntry(callchain, 0, &mode);
  return U64Array(callchain.bytes().first(8 * std::min(leaf + 1, callchain.size())));
}

ChainResolver::ChainResolver(Profile& profile, ImageTable& images, symbolize::AddressSpaces& spaces,
                             bool by_address, ChainBatch& out)
    : losses_(profile.losses),
      images_(images),
      spaces_(spaces),
      out_(out),
      frame_table_(profile, by_address) {
  kernel_.addresses = &spaces_.Kernel();
}

void ChainResolver::Add(const SamplePoint& point) {
  Search& search = searches_[searches_in_batch_++];
  search.point = point;
  if (point.user_space == nullptr) {
    search.process = &ProcessOf(point.pid);
  } else {
    of_the_point_.addresses = point.user_space;
    search.process = &of_the_point_;
  }
  const size_t size = point.callchain.size();
  if (search.words.size() < size) search.words.resize(size);
  search.print =
      cache_.FingerprintOf({.process_generation = search.process->addresses->generation(),
                            .kernel_generation = kernel_.addresses->generation(),
                            .mode = point.mode,
                            .ip = point.ip},
                           point.callchain, search.words.data());
  search.point.callchain = U64Array(std::as_bytes(std::span(search.words).first(size)));
  cache_.Prefetch(search.print);
}

std::span<const ResolvedChain> ChainResolver::ResolveBatch() {
  const std::span<Search> searches = std::span(searches_).first(searches_in_batch_);
  searches_in_batch_ = 0;
  if (cache_.IsFull()) {
    out_.forgets = true;
    next_number_ = 0;
  }
  cache_.MakeRoom();
  for (Search& search : searches) {
    bool is_new = false;
    search.known = &cache_.FindOrMake(search.print, [&] {
      is_new = true;
      return KnownChain{.number = next_number_++};  // completed by AddNew and PutOut
    });
    if (is_new) AddNew(search);
    if (search.known->corrupt) ++losses_.corrupt_chains;
  }
  InternFrames();
  for (const NewChain& chain : new_) PutOut(chain);
  RememberLast();
  for (size_t i = 0; i < searches.size(); ++i) {
    const KnownChain& known = *searches[i].known;
    resolved_[i] = {known.self, known.has_chain, known.number};
  }
  return std::span(resolved_).first(searches.size());
}

void ChainResolver::AddNew(Search& search) {
  const ChainKind kind = KindOf(search.point.callchain);
  search.known->corrupt = kind == ChainKind::kCorrupt;
  search.known->has_chain = kind == ChainKind::kGood;
  if (!search.known->has_chain) {
    // An ip with the value of a marker is not an address, so it must not be in a stack; only SelfOf
    // uses it.
    search.words.assign(1, perf_event::IsContext(search.point.ip) ? 0 : search.point.ip);
    search.point.callchain = U64Array(std::as_bytes(std::span(search.words)));
  }
  NewChain chain{.search = &search, .first = entries_.size(), .size = 0};
  AppendEntries(search.point);
  chain.size = entries_.size() - chain.first;
  Share(chain);
  found_.resize(entries_.size());
  for (size_t i = chain.first + chain.shared; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    found_[i] = FrameOf(SpaceOf(*search.process, entry.mode), entry);
    frame_table_.Prefetch(found_[i]);
  }
  search.process->last_in_batch = static_cast<uint32_t>(new_.size());
  new_.push_back(chain);
}

void ChainResolver::AppendEntries(const SamplePoint& point) {
  const size_t first = entries_.size();
  const U64Array& chain = point.callchain;
  Mode mode = point.mode;
  for (size_t i = NextEntry(chain, 0, &mode); i < chain.size(); i = NextEntry(chain, i, &mode)) {
    for (bool caller = false; i < chain.size() && !perf_event::IsContext(chain[i]); ++i) {
      const bool is_exact = point.exact_user && mode == Mode::kUser;
      const bool is_cut = caller && is_exact && IsCutMark(chain[i]);
      entries_.push_back({chain[i], is_cut ? Mode::kCut : mode, caller && !is_exact});
      caller = true;
    }
  }
  std::reverse(entries_.begin() + static_cast<std::ptrdiff_t>(first), entries_.end());
}

// Finds the entries that the chain shares with the last new one of the process.
void ChainResolver::Share(NewChain& chain) {
  const Process& process = *chain.search->process;
  std::span<const Entry> last;
  if (process.last_in_batch != kNone) {
    const NewChain& before = new_[process.last_in_batch];
    last = std::span(entries_).subspan(before.first, before.size);
  } else if (process.last_generation == process.addresses->generation() &&
             process.last_kernel_generation == kernel_.addresses->generation()) {
    last = process.last_entries;
  }
  const size_t most = std::min(chain.size - 1, last.size());
  const Entry* const entries = entries_.data() + chain.first;
  while (chain.shared < most && last[chain.shared] == entries[chain.shared]) ++chain.shared;
}

void ChainResolver::InternFrames() {
  frames_.resize(entries_.size());
  for (const NewChain& chain : new_) {
    for (size_t i = chain.first + chain.shared; i < chain.first + chain.size; ++i) {
      frames_[i] = frame_table_.Intern(found_[i]);
    }
  }
}

// Completes a new chain and adds it to `out`. Its source is the last new chain of the process, or
// the chain from which that one has the shared entries.
void ChainResolver::PutOut(const NewChain& chain) {
  chain.search->known->self = SelfOf(chain);
  Process& process = *chain.search->process;
  const auto shared = static_cast<uint32_t>(chain.shared);
  uint32_t source = process.last_out_number == out_number_ ? process.last_in_out : kNone;
  if (shared == 0) source = kNone;
  while (source != kNone && out_.chains[source].shared >= shared) {
    source = out_.chains[source].source;
  }
  process.last_out_number = out_number_;
  process.last_in_out = static_cast<uint32_t>(out_.chains.size());
  out_.chains.push_back({.process = process.number,
                         .source = source,
                         .shared = shared,
                         .first = static_cast<uint32_t>(out_.frames.size()),
                         .size = static_cast<uint32_t>(chain.size - chain.shared)});
  const auto frames = frames_.begin() + static_cast<std::ptrdiff_t>(chain.first);
  out_.frames.insert(out_.frames.end(), frames + static_cast<std::ptrdiff_t>(chain.shared),
                     frames + static_cast<std::ptrdiff_t>(chain.size));
}

void ChainResolver::RememberLast() {
  for (uint32_t i = 0; i < new_.size(); ++i) {
    const NewChain& chain = new_[i];
    Process& process = *chain.search->process;
    if (process.last_in_batch != i) continue;
    process.last_in_batch = kNone;
    process.last_generation = process.addresses->generation();
    process.last_kernel_generation = kernel_.addresses->generation();
    process.last_entries.assign(entries_.data() + chain.first,
                                entries_.data() + chain.first + chain.size);
  }
  new_.clear();
  entries_.clear();
}

// Returns the frame of the sample's ip. It is mostly the leaf of the chain, but a chain may begin
// at another address than the ip.
FrameId ChainResolver::SelfOf(const NewChain& chain) {
  const SamplePoint& point = chain.search->point;
  Mode leaf_mode = point.mode;  // a chain without markers has the sample's mode
  const size_t leaf = NextEntry(point.callchain, 0, &leaf_mode);
  if (leaf_mode == point.mode && point.callchain[leaf] == point.ip) {
    return frames_[chain.first + chain.size - 1];
  }
  return frame_table_.Intern(
      FrameOf(SpaceOf(*chain.search->process, point.mode), {point.ip, point.mode, false}));
}

Frame ChainResolver::FrameOf(Space& space, const Entry& entry) {
  const uint64_t looked_up = entry.return_address && entry.ip != 0 ? entry.ip - 1 : entry.ip;
  const RuntimeAddress ip{entry.ip};
  Frame frame{.place = ip,
              .mode = entry.mode,
              .return_address = entry.return_address,
              .unnamed = Unnamed::kNoMapping,
              .image = images_.unknown_image(),
              .ip = ip};
  if (const symbolize::Mapping* mapping = FindMapping(space, looked_up)) {
    frame.place = mapping->place + (ip.value - mapping->start.value);
    frame.unnamed = Unnamed::kNoSymbol;
    frame.image = images_.InProfile(mapping->image);
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

ChainResolver::Space& ChainResolver::SpaceOf(Process& process, Mode mode) {
  switch (mode) {
    case Mode::kUser:
      return process;
    case Mode::kKernel:
      return kernel_;
    default:
      return nowhere_;
  }
}

ChainResolver::Process& ChainResolver::ProcessOf(uint32_t pid) {
  std::unique_ptr<Process>& process = processes_[pid];
  if (process == nullptr) {
    process = std::make_unique<Process>();
    process->number = static_cast<uint32_t>(processes_.size());  // 0 is of_the_point_
    process->addresses = &spaces_.Process(pid);
  }
  return *process;
}

}  // namespace profiler::profile
