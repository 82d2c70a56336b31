#include "src/machine/sideband/user_image.h"

#include <string>

#include "gtest/gtest.h"

namespace profiler::sideband {
namespace {

using symbolize::ImageKind;

std::string_view TextOf(ImageKind kind) {
  switch (kind) {
    case ImageKind::kUser:
      return "file";
    case ImageKind::kVdso:
      return "vdso";
    case ImageKind::kJit:
      return "JIT";
    case ImageKind::kJitDump:
      return "dump";
    case ImageKind::kAnonymous:
      return "memory";
    default:
      return "?";
  }
}

TEST(UserImageTest, TheNameOfAMappingTellsFilesFromMemory) {
  std::string text;
  for (const std::string_view name :
       {"/usr/lib/libc.so.6", "/home/memfd:x", "[vdso]", "[vdso32]", "[vsyscall]", "[uprobes]",
        "/memfd:code (deleted)", "/[aio] (deleted)", "", "//anon", "[heap]", "[stack]",
        "[stack:12]", "/dev/zero (deleted)", "/anon_hugepage (deleted)", "/SYSV00000000 (deleted)",
        "/tmp/jit-7.dump", "/tmp/jit-x.dump", "/tmp/jit-.dump"}) {
    text += std::string(name) + ": " + std::string(TextOf(KindOfUserImage(name))) + "\n";
  }
  EXPECT_EQ(text,
            "/usr/lib/libc.so.6: file\n"
            "/home/memfd:x: file\n"
            "[vdso]: vdso\n"
            "[vdso32]: vdso\n"
            "[vsyscall]: memory\n"
            "[uprobes]: memory\n"
            "/memfd:code (deleted): memory\n"
            "/[aio] (deleted): memory\n"
            ": JIT\n"
            "//anon: JIT\n"
            "[heap]: JIT\n"
            "[stack]: JIT\n"
            "[stack:12]: JIT\n"
            "/dev/zero (deleted): JIT\n"
            "/anon_hugepage (deleted): JIT\n"
            "/SYSV00000000 (deleted): JIT\n"
            "/tmp/jit-7.dump: dump\n"
            "/tmp/jit-x.dump: file\n"
            "/tmp/jit-.dump: file\n");
}

TEST(UserImageTest, MemoryWithABuildIdIsAnElfFile) {
  EXPECT_EQ(KindOfUserImage("/memfd:program (deleted)", true), ImageKind::kUser);
  EXPECT_EQ(KindOfUserImage("[heap]", true), ImageKind::kJit);
  EXPECT_EQ(KindOfUserImage("[vdso]", true), ImageKind::kVdso);
}

TEST(UserImageTest, TheVdsoOfAProgramWithThirtyTwoBitsIsKnownByWhereItIs) {
  EXPECT_EQ(NameOfUserImage("[vdso]", 0xf7eee000), "[vdso32]");
  EXPECT_EQ(NameOfUserImage("[vdso]", 0x7ffff7fc5000), "[vdso]");
  EXPECT_EQ(NameOfUserImage("/usr/lib/libc.so.6", 0xf7cbf000), "/usr/lib/libc.so.6");
}

}  // namespace
}  // namespace profiler::sideband
