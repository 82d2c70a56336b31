#include "symbolize/hotspot/reported_code.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "symbolize/hotspot/method_scopes.h"

namespace profiler::symbolize::hotspot {

bool ReportedCode::WasTold(ByAddress& all, uint64_t address, uint64_t number, uint64_t bytes) {
  constexpr size_t kMost = size_t{1} << 17;
  if (all.size() >= kMost) all.clear();
  const Told now{number, sink_.Generation()};
  if (std::exchange(all[address], now) == now) return true;
  bytes_ += bytes;
  return bytes_ > kMostBytes;
}

void ReportedCode::Tell(const CodeCache::Known& known) {
  const Blob& blob = known.blob;
  const uint64_t size = blob.code_end - blob.code_begin;
  if (WasTold(blobs_, blob.address, known.number, size)) return;
  std::vector<std::byte> bytes(size);
  if (!memory_.Read(blob.code_begin, bytes)) return;
  VmCode code{.start = {blob.code_begin}, .bytes = bytes, .name = blob.name};
  if (blob.kind != Blob::Kind::kCompiled) return Add(blob, code);
  const Methods::Known* const method = methods_.Find(blob.method);
  if (method == nullptr) return;
  const std::string name = method->method.name, file = method->method.file;
  const InlinedCalls inlined = ReadInlinedCalls(blob, layout_, memory_, methods_);
  code.name = name, code.file = file;
  code.calls = inlined.calls, code.places = inlined.places;
  Add(blob, code);
}

void ReportedCode::Add(const Blob& blob, const VmCode& code) {
  if (!cache_.IsStill(blob)) return Hide(code.start.value);
  const uint64_t begin = code.start.value, end = begin + code.bytes.size();
  auto it = pieces_.upper_bound(begin);
  while (it != pieces_.end() && it->second.begin < end) it = pieces_.erase(it);
  pieces_[end] = {begin, blob.address};
  sink_.Add(code);
}

void ReportedCode::Hide(uint64_t pc) {
  const auto found = pieces_.upper_bound(pc);
  if (found == pieces_.end() || found->second.begin > pc) return;
  const auto [end, piece] = *found;
  blobs_.erase(piece.blob);
  pieces_.erase(found);
  const std::vector<std::byte> bytes(end - piece.begin);
  sink_.Add({.start = {piece.begin}, .bytes = bytes, .name = kUnknownCode});
}

void ReportedCode::Tell(const Methods::Known& known) {
  const Method& method = known.method;
  const size_t before = method.bytecodes - method.const_method;
  const size_t size = before + method.code.size();
  if (WasTold(const_methods_, method.const_method, known.number, size)) return;
  std::vector<std::byte> bytes(before);
  if (!memory_.Read(method.const_method, bytes)) return;
  bytes.insert(bytes.end(), method.code.begin(), method.code.end());
  std::vector<JitDump::Place> places;
  for (const Method::Line& line : method.lines) {
    places.push_back({before + line.bci, JitDump::kNone, line.line});
  }
  sink_.Add({.start = {method.const_method},
             .bytes = bytes,
             .is_bytecode = true,
             .name = method.name,
             .file = method.file,
             .places = places});
}

}  // namespace profiler::symbolize::hotspot
