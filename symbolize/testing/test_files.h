// Files for the tests of this package.

#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"

namespace profiler::symbolize {

// Returns the path of a file made by testdata/BUILD.
inline std::string TestFile(std::string_view name) {
  return std::string(std::getenv("TEST_SRCDIR")) + "/" + std::getenv("TEST_WORKSPACE") +
         "/symbolize/testdata/" + std::string(name);
}

inline std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

inline void WriteFile(const std::string& path, std::string_view text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

// Creates an empty directory for the running test and returns its path.
inline std::string TestDirectory() {
  const auto* info = testing::UnitTest::GetInstance()->current_test_info();
  const std::string path = testing::TempDir() + "/" + info->test_suite_name() + "." + info->name();
  std::filesystem::remove_all(path);
  std::filesystem::create_directories(path);
  return path;
}

inline std::vector<std::byte> Bytes(std::string_view text) {
  const auto* data = reinterpret_cast<const std::byte*>(text.data());
  return {data, data + text.size()};
}

// Returns the text with a final NUL, as the parsers of whole files require.
inline std::vector<std::byte> NulTerminated(std::string_view text) {
  std::vector<std::byte> bytes = Bytes(text);
  bytes.push_back(std::byte{0});
  return bytes;
}

// One line of `nm -S`: a symbol in code.
struct NmSymbol {
  uint64_t address = 0;
  uint64_t size = 0;
  std::string name;
};

inline std::vector<NmSymbol> ReadNm(const std::string& path) {
  std::vector<NmSymbol> symbols;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    std::vector<std::string> words;
    for (size_t at = 0; at <= line.size();) {
      const size_t space = std::min(line.find(' ', at), line.size());
      words.push_back(line.substr(at, space - at));
      at = space + 1;
    }
    if (words.size() != 4 || std::string_view("tTwWi").find(words[2]) == std::string_view::npos) {
      continue;
    }
    symbols.push_back(
        {std::stoull(words[0], nullptr, 16), std::stoull(words[1], nullptr, 16), words[3]});
  }
  return symbols;
}

}  // namespace profiler::symbolize
