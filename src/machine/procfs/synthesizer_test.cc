#include "src/machine/procfs/synthesizer.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cstring>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "gtest/gtest.h"
#include "src/base/byte_reader.h"
#include "src/machine/procfs/tasks.h"
#include "src/machine/procfs/testing/fake_tree.h"

namespace profiler::procfs {
namespace {

using perf_event::RawRecord;

perf_event::RecordLayout Layout() {
  perf_event::Attr attr;
  attr.sample_type = perf_event::kSampleIdentifier | perf_event::kSampleTid |
                     perf_event::kSampleTime | perf_event::kSampleCpu;
  attr.flags = perf_event::kAttrSampleIdAll;
  return perf_event::RecordLayout(attr);
}

template <class Record>
Record DecodeOrFail(RawRecord raw, const perf_event::RecordLayout& layout) {
  Record record;
  EXPECT_TRUE(perf_event::Decode(raw, layout, &record));
  EXPECT_EQ(record.sample_id.time, 0u);
  EXPECT_EQ(record.sample_id.id, 0u);
  return record;
}

std::string DescribeMmap2(RawRecord raw, const perf_event::Mmap2& map) {
  std::string image = absl::StrFormat("%02x:%02x %d", map.maj, map.min, map.ino);
  if ((raw.misc() & perf_event::kMiscMmapBuildId) != 0) {
    image = "<" +
            absl::BytesToHexString(absl::string_view(
                reinterpret_cast<const char*>(map.build_id.data()), map.build_id.size())) +
            ">";
  }
  return absl::StrFormat("MMAP2 %d/%d %x+%x @ %x %s prot %d flags %d: %s", map.pid, map.tid,
                         map.addr, map.len, map.pgoff, image, map.prot, map.flags,
                         std::string(map.filename));
}

// Returns one line per record.
std::string Describe(std::span<const std::byte> records) {
  const perf_event::RecordLayout layout = Layout();
  std::string text;
  while (!records.empty()) {
    ringbuf::RecordHeader header;
    std::memcpy(&header, records.data(), sizeof(header));
    const RawRecord raw(records.first(header.size));
    records = records.subspan(header.size);
    switch (raw.type()) {
      case perf_event::kRecordFork: {
        const auto fork = DecodeOrFail<perf_event::Task>(raw, layout);
        absl::StrAppend(&text, "FORK", raw.misc() == perf_event::kMiscForkExec ? "" : "?", " ",
                        fork.pid, "/", fork.tid, " of ", fork.ppid, "/", fork.ptid);
        break;
      }
      case perf_event::kRecordComm: {
        const auto comm = DecodeOrFail<perf_event::Comm>(raw, layout);
        absl::StrAppend(&text, "COMM ", comm.pid, "/", comm.tid, " ", std::string(comm.comm));
        break;
      }
      case perf_event::kRecordNamespaces: {
        const auto namespaces = DecodeOrFail<perf_event::Namespaces>(raw, layout);
        absl::StrAppend(&text, "NAMESPACES ", namespaces.pid, "/", namespaces.tid);
        for (size_t i = 1; i < namespaces.links.size(); i += 2) {
          absl::StrAppend(&text, " ", namespaces.links[i] != 0);
        }
        break;
      }
      case perf_event::kRecordCgroup: {
        const auto cgroup = DecodeOrFail<perf_event::Cgroup>(raw, layout);
        absl::StrAppend(&text, "CGROUP ", cgroup.id, " ", std::string(cgroup.path));
        break;
      }
      case perf_event::kRecordMmap: {
        const auto map = DecodeOrFail<perf_event::Mmap>(raw, layout);
        absl::StrAppend(&text, absl::StrFormat("MMAP misc %d %d/%d %x+%x @ %x: %s", raw.misc(),
                                               static_cast<int32_t>(map.pid), map.tid, map.addr,
                                               map.len, map.pgoff, std::string(map.filename)));
        break;
      }
      case perf_event::kRecordMmap2:
        absl::StrAppend(&text, DescribeMmap2(raw, DecodeOrFail<perf_event::Mmap2>(raw, layout)));
        break;
      default:
        absl::StrAppend(&text, "type ", raw.type());
    }
    text += "\n";
  }
  return text;
}

Synthesizer Make(const FakeTree& tree, bool build_ids = false) {
  SynthesizerOptions options;
  options.roots = tree.roots();
  options.layout = Layout();
  options.build_ids = build_ids;
  options.modules_directory = tree.path("modules");
  return Synthesizer(options);
}

constexpr char kMaps[] =
    "55d11746c000-55d11746d000 r--p 00000000 fe:00 10952942   /tmp/busy\n"
    "55d11746d000-55d11746e000 r-xp 00001000 fe:00 10952942   /tmp/busy\n"
    "55d118000000-55d118021000 rw-p 00000000 00:00 0          [heap]\n"
    "7f0000000000-7f0000001000 rwxp 00000000 00:00 0 \n"
    "7f0000100000-7f0000101000 r-xs 00000000 00:05 12         /dev/shm/with space (deleted)\n"
    "7ffc00000000-7ffc00002000 r-xp 00000000 00:00 0          [vdso]\n";

TEST(Synthesizer, WritesThreadsThenExecutableMappings) {
  FakeTree tree;
  tree.Process(7, 3, "busy", kMaps).Thread(7, 9, "worker: with a long name").Thread(7, 10, "b");
  Synthesizer synthesizer = Make(tree);
  ASSERT_TRUE(synthesizer.AddProcess(7).ok());
  EXPECT_EQ(Describe(synthesizer.records()),
            "FORK 7/7 of 3/3\n"
            "COMM 7/7 busy\n"
            "FORK 7/9 of 7/7\n"
            "COMM 7/9 worker: with a \n"
            "FORK 7/10 of 7/7\n"
            "COMM 7/10 b\n"
            "MMAP2 7/7 55d11746d000+1000 @ 1000 fe:00 10952942 prot 5 flags 2: /tmp/busy\n"
            "MMAP2 7/7 7f0000000000+1000 @ 0 00:00 0 prot 7 flags 2: //anon\n"
            "MMAP2 7/7 7f0000100000+1000 @ 0 00:05 12 prot 5 flags 1: "
            "/dev/shm/with space (deleted)\n"
            "MMAP2 7/7 7ffc00000000+2000 @ 0 00:00 0 prot 5 flags 2: [vdso]\n");
}

TEST(Synthesizer, WritesNamespacesBehindTheNameOfAThreadAndCgroups) {
  FakeTree tree;
  tree.Process(7, 1, "a", "").Write("proc/7/task/7/ns/net", "").Write("proc/7/task/7/ns/mnt", "");
  SynthesizerOptions options;
  options.roots = tree.roots();
  options.layout = Layout();
  options.namespaces = true;
  Synthesizer synthesizer(options);
  synthesizer.AddCgroup(1, "/");
  synthesizer.AddCgroup(23, "/web");
  ASSERT_TRUE(synthesizer.AddProcess(7).ok());
  EXPECT_EQ(Describe(synthesizer.records()),
            "CGROUP 1 /\nCGROUP 23 /web\nFORK 7/7 of 1/1\nCOMM 7/7 a\n"
            "NAMESPACES 7/7 1 0 0 0 0 1 0\n");
}

TEST(Synthesizer, WritesAProcessOnce) {
  FakeTree tree;
  tree.Process(7, 1, "a", "");
  Synthesizer synthesizer = Make(tree);
  ASSERT_TRUE(synthesizer.AddProcess(7).ok());
  ASSERT_TRUE(synthesizer.AddAllProcesses().ok());
  EXPECT_EQ(Describe(synthesizer.records()), "FORK 7/7 of 1/1\nCOMM 7/7 a\n");
}

TEST(Synthesizer, LeavesOutProcessesThatEndMeanwhile) {
  FakeTree tree;
  tree.Process(7, 1, "a", "").Process(9, 7, "c", "");
  tree.Write("proc/8/task/.keep", "");  // no thread is left
  tree.Write("proc/meminfo", "").Write("proc/self/comm", "x\n");
  Synthesizer synthesizer = Make(tree);
  ASSERT_TRUE(synthesizer.AddAllProcesses().ok());
  EXPECT_EQ(Describe(synthesizer.records()),
            "FORK 7/7 of 1/1\nCOMM 7/7 a\nFORK 9/9 of 7/7\nCOMM 9/9 c\n");
}

// After the first thread has ended, the files of /proc under its number are empty, including its
// maps.
TEST(Synthesizer, TakesTheMappingsOfAnotherThreadOnceTheFirstHasEnded) {
  FakeTree tree;
  tree.Process(7, 1, "a", "").Thread(7, 8, "b").Thread(7, 9, "c");
  tree.Write("proc/9/root/.keep", "");
  tree.Write("proc/9/maps", "1000-2000 r-xp 00000000 fe:00 7   /tmp/busy\n");
  Synthesizer synthesizer = Make(tree);
  ASSERT_TRUE(synthesizer.AddProcess(7).ok());
  EXPECT_EQ(Describe(synthesizer.records()),
            "FORK 7/7 of 1/1\nCOMM 7/7 a\nFORK 7/8 of 7/7\nCOMM 7/8 b\nFORK 7/9 of 7/7\n"
            "COMM 7/9 c\nMMAP2 7/7 1000+1000 @ 0 fe:00 7 prot 5 flags 2: /tmp/busy\n");
}

TEST(Tasks, AProcessLivesAsLongAsOneOfItsThreads) {
  FakeTree tree;
  tree.Process(7, 1, "a", "").Thread(7, 8, "b").Thread(7, 9, "c");
  tree.State(7, 7, 'Z').State(7, 8, 'X').State(7, 9, 'S');
  EXPECT_EQ(LivingThread(tree.roots(), 7), 9);
  EXPECT_FALSE(ThreadLives(tree.roots(), 7));
  EXPECT_TRUE(ThreadLives(tree.roots(), 9));
  tree.State(7, 9, 'Z');
  EXPECT_EQ(LivingThread(tree.roots(), 7), std::nullopt);
  EXPECT_EQ(LivingThread(tree.roots(), 10), std::nullopt);
}

// The parent is needed to record such a process as the descendant of another one.
TEST(Tasks, AProcessWhoseFirstThreadHasEndedHasAParentStill) {
  FakeTree tree;
  for (const int pid : {7, 8}) {
    const std::string directory = "proc/" + std::to_string(pid);
    tree.Write(directory + "/status", "Name:\tx\nState:\tZ (zombie)\nPPid:\t1\n");
    tree.Thread(pid, pid, "a").State(pid, pid, 'Z');
  }
  tree.Thread(8, 9, "b").State(8, 9, 'R');
  const auto parents = ProcessParents(tree.roots());
  ASSERT_TRUE(parents.ok());
  ASSERT_EQ(parents->size(), 1u);
  EXPECT_EQ(parents->front().pid, 8);
}

TEST(Synthesizer, SaysThatAProcessIsGone) {
  FakeTree tree;
  tree.Process(7, 1, "a", "");
  EXPECT_TRUE(absl::IsNotFound(Make(tree).AddProcess(8)));
}

TEST(Synthesizer, SkipsMapsLinesThatAreNone) {
  FakeTree tree;
  tree.Process(7, 1, "a",
               "\nnonsense\n1000-2000 r-xp\n3000-2000 r-xp 0 0:0 1 /backwards\n"
               "1000-zz r-xp 0 0:0 1 /x\n1000-2000 r-xp 0 00:00 0 /ok\\012name");
  Synthesizer synthesizer = Make(tree);
  ASSERT_TRUE(synthesizer.AddProcess(7).ok());
  EXPECT_EQ(Describe(synthesizer.records()),
            "FORK 7/7 of 1/1\nCOMM 7/7 a\n"
            "MMAP2 7/7 1000+1000 @ 0 00:00 0 prot 5 flags 2: /ok\nname\n");
}

TEST(Synthesizer, ReadsTheBuildIdOfTheFileThatIsMappedAndOfNoOther) {
  // This test's own program has a build-id; the fake process sees a copy of it below its root.
  FakeTree tree;
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  const BuildId build_id = BuildIdOfFile(program);
  if (build_id.empty()) GTEST_SKIP() << "the linker gives programs no build-id";
  const std::string image = tree.path("proc/7/root/image");
  std::filesystem::create_directories(tree.path("proc/7/root"));
  ASSERT_TRUE(std::filesystem::copy_file(program, image));
  struct stat file;
  ASSERT_EQ(stat(image.c_str(), &file), 0);
  const auto line = [&file](uint64_t ino, const char* name) {
    return absl::StrFormat("1000-2000 r-xp 00000000 %02x:%02x %d %s\n", major(file.st_dev),
                           minor(file.st_dev), ino, name);
  };
  tree.Process(7, 1, "a", line(file.st_ino, "/image") + line(file.st_ino + 1, "/image"));
  Synthesizer synthesizer = Make(tree, /*build_ids=*/true);
  ASSERT_TRUE(synthesizer.AddProcess(7).ok());
  const std::string hex = absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(build_id.data()), build_id.size()));
  EXPECT_EQ(Describe(synthesizer.records()),
            absl::StrFormat("FORK 7/7 of 1/1\nCOMM 7/7 a\n"
                            "MMAP2 7/7 1000+1000 @ 0 <%s> prot 5 flags 2: /image\n"
                            "MMAP2 7/7 1000+1000 @ 0 %02x:%02x %d prot 5 flags 2: /image\n",
                            hex, major(file.st_dev), minor(file.st_dev), file.st_ino + 1));
}

TEST(Synthesizer, WritesTheKernelAndItsModules) {
  FakeTree tree;
  tree.Write("proc/kallsyms",
             "ffffffff81000000 T srso_alias_untrain_ret\nffffffff81000000 T _stext\n"
             "ffffffff81000000 T _text\nffffffff82206448 T _etext\n");
  tree.Write("proc/modules",
             "snd_pcm 200 1 snd, Live 0xffffffffc0300000\n"
             "ext4 4096 0 - Live 0xffffffffc0200000\nhidden 1 0 - Live 0x0000000000000000\n");
  tree.Write("modules/modules.dep",
             "kernel/sound/snd-pcm.ko.xz: kernel/sound/snd.ko\nkernel/other.ko:\n");
  Synthesizer synthesizer = Make(tree);
  synthesizer.AddKernel();
  EXPECT_EQ(Describe(synthesizer.records()),
            "MMAP misc 1 -1/0 ffffffff81000000+1206448 @ ffffffff81000000: "
            "[kernel.kallsyms]_text\n"
            "MMAP misc 1 -1/0 ffffffffc0200000+1000 @ 0: [ext4]\n"
            "MMAP misc 1 -1/0 ffffffffc0300000+c8 @ 0: " +
                tree.path("modules/kernel/sound/snd-pcm.ko.xz") + "\n");
}

TEST(Synthesizer, TakesTheSizeOfTheKernelFromIomem) {
  FakeTree tree;
  tree.Write("proc/iomem", "00001000-0009fbff : System RAM\n  01000000-02206447 : Kernel code\n");
  tree.Write("proc/kallsyms", "ffffffff81000000 T _text\nffffffff81999999 T _etext\n");
  Synthesizer synthesizer = Make(tree);
  synthesizer.AddKernel();
  EXPECT_EQ(Describe(synthesizer.records()),
            "MMAP misc 1 -1/0 ffffffff81000000+1206448 @ ffffffff81000000: "
            "[kernel.kallsyms]_text\n");
}

TEST(Synthesizer, WritesNoKernelWhoseAddressesAreHidden) {
  FakeTree tree;
  tree.Write("proc/kallsyms", "0000000000000000 T _stext\n0000000000000000 T _text\n");
  Synthesizer synthesizer = Make(tree);
  synthesizer.AddKernel();
  EXPECT_TRUE(synthesizer.records().empty());
}

// A program may map one file under any number of names, and each may be 4 KB long.
TEST(Synthesizer, LeavesOutOfAProcessWhatThereIsNoRoomFor) {
  FakeTree tree;
  std::string maps;
  const std::string directory = "/" + std::string(4000, 'd');
  constexpr size_t kMany = 3000;
  for (size_t i = 0; i < kMany; ++i) {
    absl::StrAppendFormat(&maps, "%x-%x r-xp 00000000 fe:00 %d   %s/%d\n", (i + 1) << 12,
                          (i + 2) << 12, i + 1, directory, i);
  }
  tree.Process(7, 3, "many", maps).Process(8, 3, "busy", kMaps);
  Synthesizer synthesizer = Make(tree);
  ASSERT_TRUE(synthesizer.AddProcess(7).ok());
  const size_t of_many = synthesizer.records().size();
  EXPECT_LE(of_many, Synthesizer::kMostMapBytes / 16 + 1000);
  EXPECT_GT(of_many, Synthesizer::kMostMapBytes / 20);
  EXPECT_EQ(synthesizer.cut(), std::vector<pid_t>{7});
  ASSERT_TRUE(synthesizer.AddProcess(8).ok());
  EXPECT_EQ(synthesizer.cut(), std::vector<pid_t>{7});
  EXPECT_NE(Describe(synthesizer.records().subspan(of_many)).find("[vdso]"), std::string::npos);
}

TEST(ReadLines, GivesEachLineAndNoMoreOfOneThanThereIsRoomFor) {
  FakeTree tree;
  const std::string longest(kLongestLine - 1, 'x'), endless(3 * kLongestLine, 'y');
  tree.Write("text", "a\n\n" + longest + "\nb\n" + endless + "\nlast");
  std::vector<size_t> sizes;
  ASSERT_TRUE(ReadLines(tree.path("text"), [&](std::string_view line) {
                sizes.push_back(line.size());
                return true;
              }).ok());
  ASSERT_GT(sizes.size(), 5u);
  EXPECT_EQ(sizes[0], 1u);
  EXPECT_EQ(sizes[1], 0u);
  EXPECT_EQ(sizes[2], longest.size());
  EXPECT_EQ(sizes[3], 1u);
  for (const size_t size : sizes) EXPECT_LE(size, 2 * kLongestLine);
  EXPECT_EQ(sizes.back(), 4u);
  size_t lines = 0;
  EXPECT_TRUE(ReadLines(tree.path("text"), [&](std::string_view) { return ++lines < 2; }).ok());
  EXPECT_EQ(lines, 2u);
  EXPECT_TRUE(
      absl::IsNotFound(ReadLines(tree.path("none"), [](std::string_view) { return true; })));
}

}  // namespace
}  // namespace profiler::procfs
