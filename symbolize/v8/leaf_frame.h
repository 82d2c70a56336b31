// Whether a function that V8 compiled has its frame when it is interrupted:
//
//   mov rbx, [rcx-…]        no: whether it is still good is looked at first
//   test [rbx+…], 1
//   jnz …
//   push rbp                no
//   mov rbp, rsp            no
//   push rsi; push rdi      then it is found by what the frame pointer leads to
//   …
//   mov rsp, rbp            yes
//   pop rbp                 yes
//   ret 8                   no, nor between these
//
// Source: src/compiler/backend/x64/code-generator-x64.cc (AssembleConstructFrame, AssembleReturn),
// src/baseline/x64/baseline-compiler-x64-inl.h, V8 11.3.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace profiler::symbolize::v8 {

inline constexpr size_t kLeafCode = 64;

// `code`: of x86-64, from the interrupted instruction on. False too where that cannot be told.
bool HasFrame(std::span<const uint8_t> code);

}  // namespace profiler::symbolize::v8
