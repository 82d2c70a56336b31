#include "src/record/bpf/kernel_btf.h"

#include <linux/btf.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace profiler::record {
namespace {

using Path = std::vector<std::string_view>;

// Builds type information. Types are numbered from 1 in the order of their addition.
class BtfBuilder {
 public:
  struct Member {
    std::string name;
    uint32_t type = 0;
    uint32_t byte = 0;
  };
  BtfBuilder& Int(const std::string& name) {
    Head(name, BTF_KIND_INT, 0, 4);
    return Word(32);
  }
  BtfBuilder& Struct(const std::string& name, const std::vector<Member>& members,
                     uint32_t kind = BTF_KIND_STRUCT) {
    Head(name, kind, static_cast<uint32_t>(members.size()), 64);
    for (const Member& member : members) {
      Word(Name(member.name)).Word(member.type).Word(member.byte * 8);
    }
    return *this;
  }
  BtfBuilder& Unknown() { return Head("", 31, 0, 0); }
  std::vector<std::byte> Bytes() const {
    btf_header header = {};
    header.magic = BTF_MAGIC;
    header.version = BTF_VERSION;
    header.hdr_len = sizeof(header);
    header.type_len = static_cast<uint32_t>(types_.size() * 4);
    header.str_off = header.type_len;
    header.str_len = static_cast<uint32_t>(names_.size());
    std::vector<std::byte> bytes(sizeof(header) + header.type_len + header.str_len);
    std::memcpy(bytes.data(), &header, sizeof(header));
    std::memcpy(bytes.data() + sizeof(header), types_.data(), header.type_len);
    std::memcpy(bytes.data() + sizeof(header) + header.str_off, names_.data(), names_.size());
    return bytes;
  }

 private:
  BtfBuilder& Word(uint32_t word) {
    types_.push_back(word);
    return *this;
  }
  BtfBuilder& Head(const std::string& name, uint32_t kind, uint32_t count, uint32_t size) {
    return Word(Name(name)).Word(kind << 24 | count).Word(size);
  }
  uint32_t Name(const std::string& name) {
    if (name.empty()) return 0;
    const auto at = static_cast<uint32_t>(names_.size());
    names_ += name + '\0';
    return at;
  }

  std::vector<uint32_t> types_;
  std::string names_ = std::string(1, '\0');
};

// int, an unnamed union, thread_struct, task_struct.
std::vector<std::byte> Task() {
  return BtfBuilder()
      .Int("int")
      .Struct("", {{"other", 1, 0}, {"shared", 1, 0}}, BTF_KIND_UNION)
      .Struct("thread_struct", {{"sp", 1, 0}, {"fsbase", 1, 24}})
      .Struct("task_struct", {{"pid", 1, 0}, {"", 2, 8}, {"thread", 3, 64}})
      .Bytes();
}

std::string Offset(std::span<const std::byte> btf, const Path& path) {
  const auto offset = OffsetInKernel(btf, path);
  return offset.ok() ? std::to_string(*offset) : "none";
}

TEST(KernelBtf, AMemberOfAMemberIsFoundByItsNames) {
  EXPECT_EQ(Offset(Task(), {"task_struct", "thread", "fsbase"}), "88");
  EXPECT_EQ(Offset(Task(), {"task_struct", "pid"}), "0");
}

TEST(KernelBtf, MembersOfUnnamedMembersAreMembers) {
  EXPECT_EQ(Offset(Task(), {"task_struct", "shared"}), "8");
}

TEST(KernelBtf, UnknownNamesAreNotFound) {
  EXPECT_EQ(Offset(Task(), {"task_struct", "gsbase"}), "none");
  EXPECT_EQ(Offset(Task(), {"mm_struct", "thread"}), "none");
  EXPECT_EQ(Offset(Task(), {"task_struct", "pid", "fsbase"}), "none");
}

TEST(KernelBtf, TypesAfterAnUnknownKindAreNotFound) {
  const auto btf = BtfBuilder().Int("int").Unknown().Struct("s", {{"m", 1, 4}}).Bytes();
  EXPECT_EQ(Offset(btf, {"s", "m"}), "none");
}

TEST(KernelBtf, MalformedInformationHasNoMembers) {
  const std::vector<std::byte> whole = Task();
  for (size_t size = 0; size < whole.size(); ++size) {
    Offset(std::span(whole).first(size), {"task_struct", "thread", "fsbase"});
  }
  EXPECT_EQ(Offset(std::span(whole).first(30), {"task_struct", "pid"}), "none");
  // A structure that contains itself.
  const auto endless = BtfBuilder().Struct("s", {{"", 1, 0}}).Bytes();
  EXPECT_EQ(Offset(endless, {"s", "m"}), "none");
}

TEST(KernelBtf, TheRunningKernelHasTheThreadsPointer) {
  const auto btf = ReadKernelBtf();
  if (!btf.ok()) GTEST_SKIP() << btf.status().message();
#if defined(__x86_64__)
  EXPECT_NE(Offset(*btf, {"task_struct", "thread", "fsbase"}), "none");
#else
  EXPECT_NE(Offset(*btf, {"task_struct", "thread", "uw", "tp_value"}), "none");
#endif
}

}  // namespace
}  // namespace profiler::record
