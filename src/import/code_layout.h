// Where the code of a profile lies when the profile is written as a recording: every frame gets an
// address, and every image the mappings that lead from these addresses back to it.
//
//   frames, by address   a1  a2  b1  a3      a: of one image, b: of another
//   mappings             [a1──a2][b1][a3──   each reaches to the next one, or to the end of its
//   page moved                [c1──c2]            frames whose own address is taken, or impossible
//
// A frame keeps the address that it has. Two frames can have one address, because they ran in
// different processes, or because the profile gives one address two names. All but the first of
// them move to addresses that no image has. So do all frames of a profile without addresses. Kernel
// and user code are two separate ranges.
//
// Callers lie at the byte that is looked up, which is one before a return address (FORMAT.md, "A
// written call chain").

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/base/address.h"
#include "src/profile/profile.h"
#include "symbolize/symbolizer.h"

namespace profiler::import {

// An image as a mapping record of it will be read.
struct WrittenImage {
  std::string filename;  // of the record
  symbolize::ImageSpec spec;
  bool in_kernel = false;
};

struct WrittenMapping {
  uint32_t image = 0;  // of CodeLayout::images
  RuntimeAddress start;
  uint64_t size = 0;
  uint64_t page_offset = 0;  // of its first byte in the image's file
};

// Where a frame's code is.
struct PlacedCode {
  static constexpr uint32_t kNone = UINT32_MAX;

  RuntimeAddress address;    // that is looked up
  CodePlace place;           // in its image
  uint32_t image = kNone;    // kNone: in no known image
  uint32_t mapping = kNone;  // of CodeLayout::mappings; kNone likewise
  bool in_kernel = false;
};

struct CodeLayout {
  std::vector<WrittenImage> images;
  std::vector<WrittenMapping> mappings;  // disjoint within user and within kernel code
  std::vector<PlacedCode> frames;        // by FrameId
};

// Costs a sort of the frames.
CodeLayout LayOut(const profile::Profile& profile);

// Addresses from here on are given to code that has none of its own. No machine has code there.
inline constexpr uint64_t kMovedUserCode = uint64_t{1} << 48;
inline constexpr uint64_t kMovedKernelCode = 0xfffff00000000000;
inline constexpr uint64_t kMovedCodeStep = 16;

}  // namespace profiler::import
