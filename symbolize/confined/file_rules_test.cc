#include "symbolize/confined/file_rules.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "src/base/byte_reader.h"
#include "symbolize/confined/socket_message.h"

namespace profiler::symbolize {
namespace {

std::string Ask(MessageKind kind, std::string_view path) {
  const SymbolizerOptions options;
  FileRules rules(options, FileRules::Owners::kAll);
  ContentWriter question;
  question.PutText(path);
  const auto answer = rules.Answer({kind, std::move(question).Take(), {}});
  EXPECT_TRUE(answer.ok()) << answer.status();
  return answer.ok() ? answer->content : "";
}

std::string LinkAtByRules(std::string_view path) {
  const std::string content = Ask(MessageKind::kLink, path);
  ByteReader reader(BytesOfText(content));
  return std::string(ReadText(reader));
}

uint32_t NamesByRules(std::string_view path) {
  const std::string content = Ask(MessageKind::kNames, path);
  ByteReader reader(BytesOfText(content));
  return reader.Read<uint32_t>();
}

TEST(FileRules, ReadLinksOfProcessesAndNoOthers) {
  EXPECT_EQ(LinkAtByRules("/proc/self/exe"), std::filesystem::read_symlink("/proc/self/exe"));
  EXPECT_NE(LinkAtByRules("/proc/self/ns/mnt"), "");
  const std::string own = testing::TempDir() + "/link";
  std::filesystem::remove(own);
  std::filesystem::create_symlink("target", own);
  for (const std::string& path :
       {own, "/proc/.." + own, "/proc/self/../.." + own, "/proc/self/root" + own,
        std::string("/proc/self/cwd"), std::string("/proc/self/fd/0"),
        std::string("/proc/self/map_files/../exe"), std::string("/procself/exe")}) {
    EXPECT_EQ(LinkAtByRules(path), "") << path;
  }
}

TEST(FileRules, ListThreadsAndMappingsOfProcessesAndNothingElse) {
  EXPECT_EQ(NamesByRules("/proc/self/task"), 1U);
  for (const std::string_view path :
       {"/", "/proc", "/proc/", "/proc/..", "/proc/../etc", "/proc/self/root/etc",
        "/proc/self/task/../../../etc", "/proc/self/fd"}) {
    EXPECT_EQ(NamesByRules(path), 0U) << path;
  }
}

}  // namespace
}  // namespace profiler::symbolize
