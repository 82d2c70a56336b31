// Tells if a function compiled by V8 has its frame at an instruction:
//
//   mov rbx, [rcx-…]        no: the function first checks if its code is still valid
//   test [rbx+…], 1
//   jnz …
//   push rbp                no
//   mov rbp, rsp            no
//   push rsi; push rdi      here and below: yes, and the frame pointer leads to the caller
//   …
//   mov rsp, rbp            yes
//   pop rbp                 yes
//   ret 8                   no, nor between pop and ret
//
// Source: src/compiler/backend/x64/code-generator-x64.cc (AssembleConstructFrame, AssembleReturn),
// src/baseline/x64/baseline-compiler-x64-inl.h, V8 11.3.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace profiler::symbolize::v8 {

inline constexpr size_t kLeafCode = 64;

// Returns true if there is a frame; false if there is none or if it is unknown. `code` is x86-64
// code from the interrupted instruction on.
bool HasFrame(std::span<const uint8_t> code);

}  // namespace profiler::symbolize::v8
