/// One line of a memory file: the entry as JSON and back.
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

/// As people and editors read it, with what is known only. Hashes are spelled by formatHash().
[[nodiscard]] nlohmann::ordered_json entryJson(const MemoryEntry& entry);
/// {cause, text, evidence, invariant, repair}
[[nodiscard]] nlohmann::ordered_json diagnosisJson(const CandidateDiagnosis& diagnosis);

/// One line of JSON without its line end. Bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string formatEntry(const MemoryEntry& entry);

/// InvalidInput when `line` is not an entry. Unknown fields are ignored, so that a later version's
/// file still reads.
[[nodiscard]] Result<MemoryEntry> parseEntry(std::string_view line);

/// A kernel's hash as it is written: 16 hexadecimal digits, because JSON numbers are exact only up
/// to 2^53.
[[nodiscard]] std::string formatHash(std::uint64_t hash);
/// nullopt for what is not such a number.
[[nodiscard]] std::optional<std::uint64_t> parseHash(std::string_view text);

} // namespace kernelskill::engine
