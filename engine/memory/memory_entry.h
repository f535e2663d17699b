/// Writes and reads entries of a memory file, one JSON line each.
#pragma once

#include "engine/memory/short_term_memory.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kernelskill::engine {

/// "plan", "edit", "verdict", "failure".
[[nodiscard]] std::string_view spelling(EntryKind kind);

/// The entry for people and editors, without unknown fields. Hashes are written by formatHash().
[[nodiscard]] nlohmann::ordered_json entryJson(const MemoryEntry& entry);
/// {cause, text, evidence, invariant, repair}
[[nodiscard]] nlohmann::ordered_json diagnosisJson(const CandidateDiagnosis& diagnosis);

/// One line of JSON without its line end. Invalid UTF-8 becomes U+FFFD.
[[nodiscard]] std::string formatEntry(const MemoryEntry& entry);

/// InvalidInput if `line` is not an entry. Unknown fields are ignored, so that files of later
/// versions can be read.
[[nodiscard]] Result<MemoryEntry> parseEntry(std::string_view line);

/// Writes a kernel's hash as 16 hexadecimal digits, because JSON numbers are exact only up to 2^53.
[[nodiscard]] std::string formatHash(std::uint64_t hash);
/// nullopt if `text` is not such a number.
[[nodiscard]] std::optional<std::uint64_t> parseHash(std::string_view text);

} // namespace kernelskill::engine
