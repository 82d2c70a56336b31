// The feature sections of ours, between bytes and values. FORMAT.md draws them.
//
// Each Read function reads the section of its feature from `features`. Nothing when it is absent,
// or cut or impossible. Thread-safe.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "src/base/chain_quality.h"
#include "src/base/embedded_names.h"
#include "src/perf_data/format/features.h"
#include "src/perf_event/attr.h"

namespace profiler::perf_data {

// Whether the user callers in the chains of this event's samples are exact: a caller is the address
// of the call, and not of what follows it. Our recorder marks so the events whose user stacks it
// unwinds itself (FORMAT.md).
bool HasExactUserCallers(const perf_event::Attr& attr);

// CHAIN_QUALITY: how the user call chains of the samples were found and where they ended, where the
// recorder unwound them. Lines of text (FORMAT.md).
std::optional<ChainQuality> ReadChainQuality(const Features& features);
void SetChainQuality(const ChainQuality& chains, Features* features);

// NAMES: the names of the addresses that were hit (FORMAT.md). Of a section that is cut or
// impossible nothing is used. Reading allocates at most some hundred bytes for one of the section.
std::optional<EmbeddedNames> ReadEmbeddedNames(const Features& features);
std::optional<EmbeddedNames> DecodeEmbeddedNames(std::string_view section);
std::string EncodeEmbeddedNames(const EmbeddedNames& names);

// CODE: the code of functions that were interrupted, and the names of its instructions: images with
// `instructions` and `pieces`, where those of NAMES have `addresses` and `codes`; likewise.
std::optional<EmbeddedNames> ReadEmbeddedCode(const Features& features);
std::string EncodeEmbeddedCode(const EmbeddedNames& code);

}  // namespace profiler::perf_data
