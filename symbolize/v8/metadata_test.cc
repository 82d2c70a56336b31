#include "symbolize/v8/metadata.h"

#include <map>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/v8/testing/node_builder.h"

namespace profiler::symbolize::v8 {
namespace {

std::optional<Metadata> MetadataOf(std::span<const std::byte> file) {
  const auto image = ElfImage::Parse(file);
  return image.ok() ? Metadata::Read(*image) : std::nullopt;
}

TEST(MetadataTest, VariablesForDebuggersTellTheLayout) {
  const auto data = MetadataOf(NodeImage(NodeVariables()));
  ASSERT_TRUE(data.has_value());
  EXPECT_EQ(data->smi_shift, 32);
  EXPECT_EQ(data->function_shared, 24);
  EXPECT_EQ(data->frame_function, -16);
  EXPECT_EQ(data->function_type, 2066);
  EXPECT_EQ(data->scope_first_local, 3);
}

TEST(MetadataTest, WhereCodeIsMayBeLeftOut) {
  auto variables = NodeVariables();
  EXPECT_EQ(MetadataOf(NodeImage(variables))->function_code, 0);
  variables["class_JSFunction__raw_feedback_cell__FeedbackCell"] = 40;
  variables["class_JSFunction__prototype_or_initial_map__HeapObject"] = 56;
  variables["class_InstructionStream__instruction_start__uintptr_t"] = 16;
  variables["type_InstructionStream__INSTRUCTION_STREAM_TYPE"] = 252;
  EXPECT_EQ(MetadataOf(NodeImage(variables))->function_code, 48);
  EXPECT_EQ(MetadataOf(NodeImage(variables))->stream_type, 252);
  variables["class_JSFunction__prototype_or_initial_map__HeapObject"] = 64;
  EXPECT_EQ(MetadataOf(NodeImage(variables))->function_code, 0);
}

TEST(MetadataTest, WithoutOneOfThemThereIsNone) {
  for (const auto& [name, value] : NodeVariables()) {
    auto variables = NodeVariables();
    variables.erase(name);
    EXPECT_FALSE(MetadataOf(NodeImage(variables)).has_value()) << name;
  }
  EXPECT_FALSE(MetadataOf(NodeImage({})).has_value());
}

TEST(MetadataTest, NumbersThatMakeNoSenseAreNone) {
  const std::map<std::string, int32_t> wrong = {
      {"TaggedSize", 4},  // compressed pointers
      {"SmiValueShift", 64},
      {"SmiShiftSize", -1},
      {"class_JSFunction__shared__SharedFunctionInfo", -8},
      {"class_JSFunction__context__Context", 1 << 20},
      {"class_Script__name__Object", 17},
      {"off_fp_function", 16},
      {"off_fp_context", -4096},
      {"scopeinfo_idx_first_vars", 0},
  };
  for (const auto& [name, value] : wrong) {
    auto variables = NodeVariables();
    variables[name] = value;
    EXPECT_FALSE(MetadataOf(NodeImage(variables)).has_value()) << name;
  }
}

TEST(MetadataTest, DamagedFilesAreRead) {
  const std::vector<std::byte> sound = NodeImage(NodeVariables());
  std::mt19937 random(1);
  int whole = 0;
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::byte> file = sound;
    for (int i = 0; i < 4; ++i) file[random() % file.size()] = static_cast<std::byte>(random());
    whole += MetadataOf(file).has_value() ? 1 : 0;
  }
  EXPECT_GT(whole, 0);
  EXPECT_LT(whole, 2000);
}

}  // namespace
}  // namespace profiler::symbolize::v8
