// Facts of an image of user code: a program, a library, [vdso], or an archive with ELF files, such
// as an APK, whose code is mapped from within.
//
// Private to this package.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "symbolize/files/elf_facts.h"
#include "symbolize/files/facts_context.h"
#include "symbolize/files/kernel_facts.h"
#include "symbolize/image_file.h"

namespace profiler::symbolize {

class UserImage {
 public:
  // Opens nothing. All references must outlive this object. `kernel` says if the running kernel's
  // [vdso] is the recorded one.
  UserImage(const ImageSpec& spec, KernelFacts& kernel, FactsContext& context)
      : spec_(spec), kernel_(kernel), context_(context) {}

  AddressFacts Find(FileOffset offset);
  AddressFacts FindAt(ElfAddress address);
  CodeBytes CodeAt(ElfAddress address, uint64_t size);
  // Like FactSource::TrustedFileOf.
  std::optional<TrustedFile> Trusted();

 private:
  // The owner of some code: the whole image, or the ELF file at offset `start` of an archive.
  struct Part {
    ElfFacts& facts;
    uint64_t start = 0;
  };
  // Returns the part that contains code near `offset` of the whole file. `has_it` tests whether an
  // ELF file contains the code.
  template <class HasIt>
  Part PartAt(uint64_t offset, HasIt has_it);
  Part PartAt(FileOffset offset);
  Part PartAt(ElfAddress address);
  OpenedImage Open() const;
  ElfFacts& Whole();

  const ImageSpec& spec_;
  KernelFacts& kernel_;
  FactsContext& context_;
  std::optional<OpenedImage> opened_;  // moved to `whole_` by the first look-up
  std::unique_ptr<ElfFacts> whole_;    // null until the first look-up
  // ELF files in an archive in which addresses were looked up, keyed by their offset in the
  // archive.
  std::map<uint64_t, std::unique_ptr<ElfFacts>> parts_;
  int parts_tried_ = 0;
};

}  // namespace profiler::symbolize
