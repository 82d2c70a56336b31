#include "src/machine/events/return_danger.h"

#include <elf.h>

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace profiler::events {
namespace {

// A library that has only the sections which the test adds.
class Library {
 public:
  Library& With(const std::string& section, const std::string& contents = "") {
    sections_.emplace_back(section, contents);
    return *this;
  }
  // Adds .dynstr with these names, each after a NUL.
  Library& Names(std::initializer_list<const char*> names) {
    std::string text(1, '\0');
    for (const char* name : names) text += std::string(name) + '\0';
    return With(".dynstr", text);
  }

  std::string Danger(const Probe& probe = {.path = "/lib/libx.so", .symbol = "f"}) const {
    const std::vector<std::byte> bytes = Bytes();
    const auto elf = symbolize::ElfImage::Parse(bytes);
    EXPECT_TRUE(elf.ok()) << elf.status();
    return elf.ok() ? DangerAtReturn(*elf, probe) : "";
  }

 private:
  std::vector<std::byte> Bytes() const {
    std::string names(1, '\0'), contents;
    std::vector<Elf64_Shdr> headers(1);
    auto sections = sections_;
    sections.emplace_back(".shstrtab", "");
    for (const auto& [name, text] : sections) {
      headers.push_back({.sh_name = static_cast<Elf64_Word>(names.size()),
                         .sh_type = SHT_PROGBITS,
                         .sh_offset = sizeof(Elf64_Ehdr) + contents.size(),
                         .sh_size = text.size()});
      names += name + '\0';
      contents += text;
    }
    headers.back().sh_type = SHT_STRTAB;
    headers.back().sh_size = names.size();
    contents += names;
    Elf64_Ehdr header = {};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_DYN;
    header.e_machine = EM_X86_64;
    header.e_version = EV_CURRENT;
    header.e_ehsize = sizeof(header);
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = static_cast<Elf64_Half>(headers.size());
    header.e_shstrndx = static_cast<Elf64_Half>(headers.size() - 1);
    header.e_shoff = sizeof(header) + contents.size();
    std::vector<std::byte> bytes;
    const auto append = [&bytes](std::span<const std::byte> more) {
      bytes.insert(bytes.end(), more.begin(), more.end());
    };
    append(std::as_bytes(std::span(&header, 1)));
    append(std::as_bytes(std::span(contents)));
    append(std::as_bytes(std::span(headers)));
    return bytes;
  }

  std::vector<std::pair<std::string, std::string>> sections_;
};

TEST(ReturnDangerTest, AFunctionOfCThatOnlyReturnsIsNone) {
  EXPECT_EQ(Library().With(".eh_frame").Danger(), "");
  EXPECT_EQ(Library().With(".eh_frame").Names({"libc.so.6", "puts", "malloc"}).Danger(), "");
}

TEST(ReturnDangerTest, ExceptionsThatMayPassItAre) {
  const std::string reason =
      "it has exception handlers (C++, Rust), and an exception that unwinds through the function "
      "finds the kernel's address instead of the caller's";
  EXPECT_EQ(Library().With(".gcc_except_table").Danger(), reason);
  EXPECT_EQ(Library().Names({"__gxx_personality_v0"}).Danger(), reason);
  EXPECT_EQ(Library().Names({"puts", "libstdc++.so.6"}).Danger(), reason);
}

TEST(ReturnDangerTest, GoIs) {
  const std::string reason =
      "it is a Go program, and Go's runtime reads return addresses when a stack grows or "
      "garbage is collected";
  for (const char* section : {".go.buildinfo", ".gopclntab", ".note.go.buildid"}) {
    EXPECT_EQ(Library().With(section).Danger(), reason) << section;
  }
}

TEST(ReturnDangerTest, OtherWaysOutOfAFunctionAre) {
  for (const char* name : {"longjmp", "_longjmp", "siglongjmp", "__longjmp_chk", "swapcontext",
                           "setcontext", "pthread_exit", "pthread_cancel"}) {
    EXPECT_EQ(Library().Names({"puts", name}).Danger(),
              "it uses " + std::string(name) + ", which may leave the function without a return");
  }
  EXPECT_EQ(Library().Names({"pthread_create"}).Danger(), "");
}

TEST(ReturnDangerTest, TheMiddleOfAFunctionIs) {
  EXPECT_EQ(Library().Danger({.path = "/lib/libx.so", .symbol = "f", .offset = 4}),
            "the kernel finds the return address only at a function's first instruction, and the "
            "probe is elsewhere");
}

// The C library has exception tables for the cancellation of threads.
TEST(ReturnDangerTest, OfTheCLibraryOnlyFunctionsThatCallBackOrReturnTwiceAre) {
  const auto danger = [](const std::string& path, const std::string& function) {
    return Library()
        .With(".gcc_except_table")
        .Names({"longjmp"})
        .Danger({.path = path, .symbol = function});
  };
  for (const char* function : {"malloc", "read", "poll", "__libc_malloc", "printf"}) {
    EXPECT_EQ(danger("/lib/x86_64-linux-gnu/libc.so.6", function), "") << function;
    EXPECT_EQ(danger("/lib/ld-musl-x86_64.so.1", function), "") << function;
  }
  for (const char* function :
       {"qsort", "bsearch", "_setjmp", "__sigsetjmp", "vfork", "__libc_start_main", "exit"}) {
    EXPECT_EQ(danger("/lib/x86_64-linux-gnu/libc.so.6", function),
              "this function calls back into code that may throw exceptions, or it does not return "
              "exactly once")
        << function;
  }
  EXPECT_NE(danger("/lib/libcxx_user.so", "malloc"), "") << "no C library";
}

}  // namespace
}  // namespace profiler::events
