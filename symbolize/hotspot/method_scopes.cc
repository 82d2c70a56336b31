#include "symbolize/hotspot/method_scopes.h"

#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "symbolize/hotspot/compressed.h"

namespace profiler::symbolize::hotspot {
namespace {

constexpr uint64_t kMostScopeBytes = uint64_t{4} << 20;
constexpr uint32_t kDeepest = 256;

struct PcDesc {
  int32_t pc, scope, objects, flags;
};
static_assert(sizeof(PcDesc) == 16);

struct Scope {
  uint32_t sender = 0, method = 0;  // 0: none
  int32_t bci = -1;
};

// Addresses of the three tables.
struct Tables {
  uint64_t pcs = 0, pcs_end = 0, scopes = 0, scopes_end = 0, metadata = 0;
};

std::optional<Tables> TablesOf(const Blob& blob, const Layout::DebugInfo& info) {
  const auto offset = [&](uint64_t field) {
    return static_cast<uint64_t>(blob.Field<uint32_t>(field).value_or(0));
  };
  Tables tables;
  if (info.is_apart) {
    const uint64_t apart = blob.Field<uint64_t>(info.apart).value_or(0);
    tables = {.pcs = apart + offset(info.pcs_begin),
              .pcs_end = apart + offset(info.pcs_end),
              .scopes = apart + offset(info.scopes_begin),
              .scopes_end = apart + offset(info.scopes_end),
              .metadata = blob.Field<uint64_t>(info.mutable_data).value_or(0) +
                          offset(info.relocation_size)};
  } else {
    tables = {.pcs = blob.address + offset(info.pcs_begin),
              .pcs_end = blob.address + offset(info.pcs_end),
              .scopes = blob.Field<uint64_t>(info.scopes_begin).value_or(0),
              .scopes_end = blob.address + offset(info.pcs_begin),
              .metadata = blob.address + offset(info.metadata)};
  }
  const bool is_sound = tables.pcs < tables.pcs_end && tables.scopes < tables.scopes_end &&
                        tables.pcs_end - tables.pcs <= kMostPlaces * sizeof(PcDesc) &&
                        tables.scopes_end - tables.scopes <= kMostScopeBytes;
  return is_sound ? std::optional(tables) : std::nullopt;
}

class Reader {
 public:
  Reader(const Blob& blob, const Layout& layout, ProcessMemory& memory, Methods& methods,
         InlinedCalls& out)
      : blob_(blob), layout_(layout), memory_(memory), methods_(methods), out_(out) {}

  bool Read() {
    const std::optional<Tables> tables =
        layout_.debug_info ? TablesOf(blob_, *layout_.debug_info) : std::nullopt;
    if (!tables) return false;
    metadata_ = tables->metadata;
    std::vector<PcDesc> pcs((tables->pcs_end - tables->pcs) / sizeof(PcDesc));
    scopes_.resize(tables->scopes_end - tables->scopes);
    if (!memory_.Read(tables->pcs, std::as_writable_bytes(std::span(pcs))) ||
        !memory_.Read(tables->scopes, scopes_)) {
      return false;
    }
    uint64_t begin = 0;  // start of the code that belongs to the next PcDesc
    for (const PcDesc& pc : pcs) {
      if (pc.pc < 0) continue;
      const auto end = static_cast<uint64_t>(pc.pc);
      if (end >= blob_.code_end - blob_.code_begin) break;
      if (end < begin || !AddPlace(begin, pc.scope)) return false;
      begin = end;
    }
    if (out_.places.empty()) return false;
    // Handlers and stubs follow the last PcDesc; nothing is inlined into them.
    out_.places.push_back({begin, JitDump::kNone, 0});
    return true;
  }

 private:
  std::optional<Scope> ScopeAt(uint32_t offset) const {
    if (offset == 0 || offset >= scopes_.size()) return std::nullopt;
    const std::span<const std::byte> scopes(scopes_);
    CompressedReader reader(scopes.subspan(offset), layout_.version);
    const auto sender = reader.Unsigned(), method = reader.Unsigned(), bci = reader.Unsigned();
    if (!sender || !method || !bci || *method == 0) return std::nullopt;
    return Scope{*sender, *method, static_cast<int32_t>(*bci) - 1};
  }

  bool AddPlace(uint64_t begin, int32_t offset) {
    const auto scope = ScopeAt(static_cast<uint32_t>(offset));
    if (!scope) return false;
    const auto call = CallOf(*scope, 0);
    const auto line = LineOf(*scope);
    if (!call || !line) return false;
    const bool is_same = !out_.places.empty() && out_.places.back().call == *call &&
                         out_.places.back().line == *line;
    if (!is_same) out_.places.push_back({begin, *call, *line});
    return true;
  }

  // Returns the call in which a scope's method runs; kNone for the compiled method itself.
  std::optional<uint32_t> CallOf(const Scope& scope, uint32_t depth) {
    if (scope.sender == 0) return JitDump::kNone;
    if (depth >= kDeepest || out_.calls.size() >= kMostPlaces) return std::nullopt;
    const auto sender = ScopeAt(scope.sender);
    if (!sender) return std::nullopt;
    const auto key = std::pair(scope.sender, scope.method);
    if (const auto known = calls_.find(key); known != calls_.end()) return known->second;
    const auto caller = CallOf(*sender, depth + 1);
    const auto line = LineOf(*sender);
    const Named* const method = MethodOf(scope.method);
    if (!caller || !line || method == nullptr) return std::nullopt;
    const auto call = static_cast<uint32_t>(out_.calls.size());
    out_.calls.push_back({*caller, *line, *method->name, *method->file});
    calls_.emplace(key, call);
    return call;
  }

  std::optional<uint32_t> LineOf(const Scope& scope) {
    const Named* const method = MethodOf(scope.method);
    if (method == nullptr) return std::nullopt;
    return scope.bci < 0 ? 0 : method->method.LineAt(static_cast<uint32_t>(scope.bci));
  }

  struct Named {
    Method method;
    const std::string* name;
    const std::string* file;
  };

  const Named* MethodOf(uint32_t index) {
    const auto [it, is_new] = named_.try_emplace(index, nullptr);
    if (!is_new) return it->second.get();
    const auto address = memory_.Value<uint64_t>(metadata_ + (index - 1) * kWord);
    const Methods::Known* const known = address ? methods_.Find(*address) : nullptr;
    if (known == nullptr) return nullptr;
    it->second = std::make_unique<Named>(Named{.method = known->method});
    it->second->method.code.clear();
    const auto keep = [this](const std::string& text) {
      return out_.texts.emplace_back(std::make_unique<std::string>(text)).get();
    };
    it->second->name = keep(known->method.name);
    it->second->file = keep(known->method.file);
    return it->second.get();
  }

  const Blob& blob_;
  const Layout& layout_;
  ProcessMemory& memory_;
  Methods& methods_;
  InlinedCalls& out_;
  uint64_t metadata_ = 0;
  std::vector<std::byte> scopes_;
  // Indices in out_.calls, keyed by a scope's sender and method.
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, uint32_t> calls_;
  // Keyed by index in the metadata.
  absl::flat_hash_map<uint32_t, std::unique_ptr<Named>> named_;
};

}  // namespace

InlinedCalls ReadInlinedCalls(const Blob& blob, const Layout& layout, ProcessMemory& memory,
                              Methods& methods) {
  InlinedCalls calls;
  if (!Reader(blob, layout, memory, methods, calls).Read()) return {};
  return calls;
}

}  // namespace profiler::symbolize::hotspot
