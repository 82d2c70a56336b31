// Detects AddressSanitizer and ThreadSanitizer. Both keep shadows of all memory, slow the program
// down many times, report on standard error, and use pipes to check whether memory is mapped.
//
// Private to this package.

#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PROFILER_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define PROFILER_SANITIZED 1
#endif
#endif

namespace profiler::symbolize {

#ifdef PROFILER_SANITIZED
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace profiler::symbolize
