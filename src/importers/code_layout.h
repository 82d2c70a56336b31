// Lays out the code of a profile that is written as a recording. Every frame gets an address. Every
// image gets the mappings that lead from these addresses back to it.
//
//   frames, by address   a1  a2  b1  a3      a: in one image, b: in another image
//   mappings             [a1──a2][b1][a3──   each ends at the next one or at its page's end
//   moved code           [c1──c2]            frames whose own address is taken or impossible
//
// A frame keeps its address. Two frames can have the same address, because they ran in different
// processes, or because the profile gives one address two names. All but the first frame of an
// address move to addresses that no image has. So do all frames of a profile without addresses.
// Kernel and user code have separate ranges.
//
// Callers lie at the byte at which they are looked up, one before a return address (FORMAT.md, "A
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

namespace profiler::importers {

// An image as readers of the recording make it from its mapping record.
struct WrittenImage {
  std::string filename;  // filename of the mapping record
  symbolize::ImageSpec spec;
  bool in_kernel = false;
};

struct WrittenMapping {
  uint32_t image = 0;  // index in CodeLayout::images
  RuntimeAddress start;
  uint64_t size = 0;
  uint64_t page_offset = 0;  // offset of its first byte in the image's file
};

// The place of a frame's code.
struct PlacedCode {
  static constexpr uint32_t kNone = UINT32_MAX;

  RuntimeAddress address;    // address for the look-up
  CodePlace place;           // place in its image
  uint32_t image = kNone;    // index in CodeLayout::images; kNone: in no known image
  uint32_t mapping = kNone;  // index in CodeLayout::mappings; kNone: in no mapping
  bool in_kernel = false;
};

struct CodeLayout {
  std::vector<WrittenImage> images;
  // Mappings of user code do not overlap each other, nor do mappings of kernel code.
  std::vector<WrittenMapping> mappings;
  std::vector<PlacedCode> frames;  // indexed by FrameId
};

// Lays out the frames. Costs as much as sorting them.
CodeLayout LayOut(const profile::Profile& profile);

// Code without an address of its own gets addresses from here on, where no machine has code.
inline constexpr uint64_t kMovedUserCode = uint64_t{1} << 48;
inline constexpr uint64_t kMovedKernelCode = 0xfffff00000000000;
inline constexpr uint64_t kMovedCodeStep = 16;

}  // namespace profiler::importers
