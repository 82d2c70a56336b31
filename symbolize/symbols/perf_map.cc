#include "symbolize/symbols/perf_map.h"

#include <algorithm>
#include <charconv>
#include <queue>

#include "src/base/byte_reader.h"
#include "symbolize/symbols/text_file.h"

namespace profiler::symbolize {
namespace {

// Reads a hexadecimal number, with or without 0x, and the space after it.
bool ConsumeHex(std::string_view& line, uint64_t& value) {
  if (line.starts_with("0x") || line.starts_with("0X")) line.remove_prefix(2);
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value, 16);
  if (error != std::errc()) return false;
  line.remove_prefix(static_cast<size_t>(end - line.data()));
  if (!line.starts_with(' ')) return false;
  line.remove_prefix(1);
  return true;
}

}  // namespace

absl::StatusOr<PerfMap> PerfMap::Read(int fd, const std::string& path, size_t most_bytes) {
  // Reads one byte more to detect a larger file.
  PROFILER_ASSIGN_OR_RETURN(std::vector<std::byte> text, ReadTextFile(fd, path, most_bytes + 1));
  const bool is_cut = text.size() - 1 > most_bytes;
  // The last line may be truncated, so it is dropped.
  for (size_t i = text.size(); is_cut && i-- > 0 && text[i] != std::byte{'\n'};) {
    text[i] = std::byte{0};
  }
  PerfMap map = Parse(std::move(text));
  map.is_cut_ = map.is_cut_ || is_cut;
  return map;
}

PerfMap PerfMap::Parse(std::vector<std::byte> text, size_t most_functions) {
  PerfMap map;
  map.text_ = std::move(text);
  std::string_view rest = TextOf(map.text_);
  rest = rest.substr(0, rest.find('\0'));
  while (!rest.empty()) {
    const size_t newline = rest.find('\n');
    std::string_view line = rest.substr(0, newline);
    rest.remove_prefix(newline == std::string_view::npos ? rest.size() : newline + 1);
    Function function;
    if (!ConsumeHex(line, function.start) || !ConsumeHex(line, function.size)) continue;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || function.size == 0) continue;
    if (function.start + function.size < function.start) continue;
    map.is_cut_ = map.functions_.size() == most_functions;
    if (map.is_cut_) break;
    function.name = line;
    map.functions_.push_back(function);
  }
  map.Flatten();
  return map;
}

// Walks over the starts and ends of all functions in address order. Code between two neighbouring
// points belongs to the function that was written last of all functions that cover it.
void PerfMap::Flatten() {
  struct Edge {
    uint64_t at;
    uint32_t function;
    bool opens;
  };
  std::vector<Edge> edges;
  edges.reserve(functions_.size() * 2);
  for (uint32_t i = 0; i < functions_.size(); ++i) {
    edges.push_back({functions_[i].start, i, true});
    edges.push_back({functions_[i].start + functions_[i].size, i, false});
  }
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.at < b.at; });
  std::priority_queue<uint32_t> open;  // functions that ended stay until they reach the top
  for (size_t i = 0; i < edges.size(); ++i) {
    if (edges[i].opens) open.push(edges[i].function);
    if (i + 1 < edges.size() && edges[i + 1].at == edges[i].at) continue;
    const uint64_t at = edges[i].at;
    while (!open.empty()) {
      const Function& top = functions_[open.top()];
      if (top.start + top.size > at) break;
      open.pop();
    }
    if (open.empty() || i + 1 == edges.size()) continue;
    const uint64_t end = edges[i + 1].at;
    if (!pieces_.empty() && pieces_.back().end == at && pieces_.back().function == open.top()) {
      pieces_.back().end = end;
    } else {
      pieces_.push_back({at, end, open.top()});
    }
  }
}

const PerfMap::Function* PerfMap::Find(uint64_t address) const {
  const auto after =
      std::partition_point(pieces_.begin(), pieces_.end(),
                           [address](const Piece& piece) { return piece.start <= address; });
  if (after == pieces_.begin()) return nullptr;
  const Piece& piece = *(after - 1);
  return address < piece.end ? &functions_[piece.function] : nullptr;
}

}  // namespace profiler::symbolize
