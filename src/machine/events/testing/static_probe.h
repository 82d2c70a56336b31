// Static probes (USDT) for tests, as <sys/sdt.h> of SystemTap writes them.

#pragma once

// Makes a static probe: a nop, and a note with its address. SEMAPHORE is the C name of a uint16_t in
// the section ".probes", or 0. All arguments are strings.
#define STATIC_PROBE(SEMAPHORE, PROVIDER, NAME, ARGUMENTS) \
  STATIC_PROBE_AT("nop", SEMAPHORE, PROVIDER, NAME, ARGUMENTS)

// As STATIC_PROBE, with another instruction than a nop.
#define STATIC_PROBE_AT(INSTRUCTION, SEMAPHORE, PROVIDER, NAME, ARGUMENTS)             \
  asm volatile("990: " INSTRUCTION                                                     \
               "\n"                                                                    \
               ".pushsection .note.stapsdt,\"\",\"note\"\n"                            \
               ".balign 4\n"                                                           \
               ".4byte 992f-991f, 994f-993f, 3\n"                                      \
               "991: .asciz \"stapsdt\"\n"                                             \
               "992: .balign 4\n"                                                      \
               "993: .8byte 990b\n"                                                    \
               ".8byte _.stapsdt.base\n"                                               \
               ".8byte " SEMAPHORE                                                     \
               "\n"                                                                    \
               ".asciz \"" PROVIDER "\"\n.asciz \"" NAME "\"\n.asciz \"" ARGUMENTS     \
               "\"\n"                                                                  \
               "994: .balign 4\n"                                                      \
               ".popsection\n"                                                         \
               ".ifndef _.stapsdt.base\n"                                              \
               ".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n" \
               ".weak _.stapsdt.base\n.hidden _.stapsdt.base\n"                        \
               "_.stapsdt.base: .space 1\n"                                            \
               ".size _.stapsdt.base, 1\n"                                             \
               ".popsection\n"                                                         \
               ".endif\n")
