#include "src/machine/procfs/bpf_programs.h"

#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>

#include "src/base/text.h"
#include "src/base/unique_fd.h"

namespace profiler::procfs {
namespace {

using Tag = std::array<std::byte, BPF_TAG_SIZE>;

long Bpf(bpf_cmd command, bpf_attr& attr) { return syscall(SYS_bpf, command, &attr, sizeof(attr)); }

bool GetInfo(int program, bpf_prog_info& info) {
  bpf_attr attr = {};
  attr.info.bpf_fd = static_cast<uint32_t>(program);
  attr.info.info_len = sizeof(info);
  attr.info.info = reinterpret_cast<uint64_t>(&info);
  return Bpf(BPF_OBJ_GET_INFO_BY_FD, attr) == 0;
}

template <class T>
uint64_t AddressOf(std::vector<T>& values) {
  return reinterpret_cast<uint64_t>(values.data());
}

void AddFunctions(int program, std::vector<BpfFunction>& functions) {
  bpf_prog_info counts = {};
  if (!GetInfo(program, counts) || counts.nr_jited_ksyms == 0) return;
  std::vector<uint64_t> starts(counts.nr_jited_ksyms);
  std::vector<uint32_t> sizes(counts.nr_jited_ksyms);
  std::vector<Tag> tags(counts.nr_jited_ksyms);
  bpf_prog_info info = {};
  info.nr_jited_ksyms = info.nr_jited_func_lens = info.nr_prog_tags = counts.nr_jited_ksyms;
  info.jited_ksyms = AddressOf(starts);
  info.jited_func_lens = AddressOf(sizes);
  info.prog_tags = AddressOf(tags);
  if (!GetInfo(program, info)) return;
  const size_t count = std::min({starts.size(), static_cast<size_t>(info.nr_jited_ksyms),
                                 static_cast<size_t>(info.nr_jited_func_lens),
                                 static_cast<size_t>(info.nr_prog_tags)});
  for (size_t i = 0; i < count; ++i) {
    if (starts[i] == 0 || sizes[i] == 0) continue;
    std::string name = "bpf_prog_" + HexOf(tags[i]);
    const std::string_view given(info.name, strnlen(info.name, sizeof(info.name)));
    if (i == 0 && !given.empty()) name += "_" + std::string(given);
    functions.push_back({starts[i], sizes[i], std::move(name)});
  }
}

}  // namespace

std::vector<BpfFunction> LoadedBpfFunctions() {
  std::vector<BpfFunction> functions;
  bpf_attr next = {};
  while (Bpf(BPF_PROG_GET_NEXT_ID, next) == 0) {
    bpf_attr open = {};
    open.prog_id = next.start_id = next.next_id;
    const UniqueFd program(static_cast<int>(Bpf(BPF_PROG_GET_FD_BY_ID, open)));
    if (program.valid()) AddFunctions(program.get(), functions);  // invalid: it was unloaded
  }
  return functions;
}

}  // namespace profiler::procfs
