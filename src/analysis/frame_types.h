// Finds the language of each frame of a profile, for OpenTelemetry's attribute
// `profile.frame.type`.
//
//   image                      evidence                                      type
//   kernel, module, BPF                                                      kernel
//   file                       source file, or the form of the name          go, rust, else native
//   JIT's code, or no image    the form of the name, or the source file;     v8js, jvm, cpython, …
//                              else the only virtual machine in the
//                              samples of its process
//
// `native` is true for any code in a file. A frame that is in no file has no type if nothing shows
// its language.
//
// Source: OpenTelemetry's semantic conventions 1.44, registry/attributes/profile.md.

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "src/profile/profile.h"

namespace profiler::analysis {

enum class FrameType : uint8_t {
  kUnknown,
  kNative,
  kKernel,
  kGo,
  kRust,
  kCpython,
  kV8js,
  kJvm,
  kPhp,
  kRuby,
  kPerl,
  kDotnet,
  kBeam,
  kLuajit
};

// Returns the type as the conventions spell it; "" for kUnknown.
std::string_view NameOf(FrameType type);

// Returns the type of each frame, indexed by FrameId. Linear in frames, stacks and rows.
// Thread-safe.
std::vector<FrameType> FrameTypesOf(const profile::Profile& profile);

}  // namespace profiler::analysis
