// The ids of a profile's tables, as types that do not convert into one another.

#pragma once

#include <cstdint>

namespace profiler::profile {

enum class EventId : uint32_t {};
enum class ThreadId : uint32_t {};
enum class FrameId : uint32_t {};
inline constexpr FrameId kNoFrame{0xffffffff};
enum class StackId : uint32_t {};
inline constexpr StackId kNoStack{0xffffffff};
enum class ImageId : uint32_t {};
enum class SymbolId : uint32_t {};
inline constexpr SymbolId kNoSymbol{0xffffffff};

}  // namespace profiler::profile
