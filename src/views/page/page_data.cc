#include "src/views/page/page_data.h"

#include <zlib.h>

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/escaping.h"
#include "src/base/packed_section.h"
#include "src/base/text.h"

namespace profiler::page {
namespace {

// A table that stores each text once and numbers the texts.
class Strings {
 public:
  uint32_t NumberOf(const std::string& text) {
    const auto [found, is_new] = numbers_.try_emplace(text, static_cast<uint32_t>(texts_.size()));
    if (is_new) texts_.push_back(text);
    return found->second;
  }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  absl::flat_hash_map<std::string, uint32_t> numbers_;
  std::vector<std::string> texts_;
};

// Writes `size` elements, each as the difference to the element before it. For the first element,
// that is 0.
void Differences(size_t size, NumberWriter& out, auto value_of) {
  uint64_t before = 0;
  for (size_t i = 0; i < size; ++i) {
    const uint64_t value = value_of(i);
    out.Difference(value, before);
    before = value;
  }
}

void Numbers(size_t size, NumberWriter& out, auto value_of) {
  for (size_t i = 0; i < size; ++i) out.Number(value_of(i));
}

void WriteLabels(const exports::LabelTable& labels, Strings& strings, NumberWriter& out) {
  const auto label = [&](size_t i) -> const exports::Label& {
    return labels[static_cast<exports::LabelId>(i)];
  };
  const size_t size = labels.size();
  out.Number(size);
  Numbers(size, out, [&](size_t i) { return strings.NumberOf(label(i).name); });
  Numbers(size, out, [&](size_t i) { return strings.NumberOf(label(i).image); });
  Numbers(size, out, [&](size_t i) { return static_cast<uint64_t>(label(i).kind); });
}

void WriteThreads(const std::vector<PathThread>& threads, Strings& strings, NumberWriter& out) {
  const size_t size = threads.size();
  out.Number(size);
  Differences(size, out, [&](size_t i) { return threads[i].pid; });
  Differences(size, out, [&](size_t i) { return threads[i].tid; });
  Numbers(size, out, [&](size_t i) { return strings.NumberOf(threads[i].comm); });
  Numbers(size, out, [&](size_t i) { return threads[i].side; });
  Numbers(size, out, [&](size_t i) { return threads[i].threads; });
}

void WriteNodes(const std::vector<PathNode>& nodes, NumberWriter& out) {
  const size_t size = nodes.size();
  out.Number(size);
  Numbers(size, out,
          [&](size_t i) { return i == 0 ? 0 : nodes[i - 1].depth + 1 - nodes[i].depth; });
  Numbers(size, out, [&](size_t i) {
    return nodes[i].label == exports::kNoLabel ? 0 : uint64_t{nodes[i].label} + 1;
  });
}

void WriteRows(const CallPaths& paths, NumberWriter& out) {
  const std::vector<PathRow>& rows = paths.rows;
  const std::vector<uint64_t> usual = UsualPeriods(paths);
  const size_t size = rows.size();
  out.Number(size);
  Differences(size, out, [&](size_t i) { return rows[i].event; });
  Differences(size, out, [&](size_t i) { return rows[i].thread; });
  Differences(size, out, [&](size_t i) { return rows[i].path; });
  Differences(size, out, [&](size_t i) { return rows[i].slice; });
  Numbers(size, out, [&](size_t i) { return rows[i].count; });
  for (const PathRow& row : rows) out.Difference(row.period, row.count * usual[row.event]);
}

std::string Deflated(const std::string& bytes) {
  constexpr int kRaw = -MAX_WBITS, kMemory = 9, kLevel = 4;
  z_stream stream{};
  if (deflateInit2(&stream, kLevel, Z_DEFLATED, kRaw, kMemory, Z_DEFAULT_STRATEGY) != Z_OK) {
    return {};
  }
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  // zlib's interface lacks const.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace

std::vector<uint64_t> UsualPeriods(const CallPaths& paths) {
  // Uses the vote of Boyer and Moore, which finds the period that more than half of the rows have.
  // Without such a majority, any result will do.
  std::vector<uint64_t> usual(paths.events.size()), votes(paths.events.size());
  for (const PathRow& row : paths.rows) {
    const uint64_t period = row.count == 0 ? 0 : row.period / row.count;
    if (votes[row.event] == 0) usual[row.event] = period;
    if (usual[row.event] == period) {
      ++votes[row.event];
    } else {
      --votes[row.event];
    }
  }
  return usual;
}

bool MayFit(const CallPaths& paths, size_t bytes) {
  constexpr double kLeastBytesARow = 1.2, kLeastBytesANode = 0.6;  // bytes of base64
  return static_cast<double>(paths.rows.size()) * kLeastBytesARow +
             static_cast<double>(paths.nodes.size()) * kLeastBytesANode <=
         static_cast<double>(bytes);
}

std::string EncodePageData(const CallPaths& paths, std::string_view about, std::string_view code) {
  Strings strings;
  NumberWriter tables;
  WriteLabels(paths.labels, strings, tables);
  WriteThreads(paths.threads, strings, tables);
  WriteNodes(paths.nodes, tables);
  WriteRows(paths, tables);
  NumberWriter out;
  out.Number(kPageDataVersion);
  out.Text(about);
  out.Text(code);
  out.Number(strings.texts().size());
  for (const std::string& text : strings.texts()) out.Text(text);
  return absl::Base64Escape(Deflated(out.Take() + tables.Take()));
}

}  // namespace profiler::page
