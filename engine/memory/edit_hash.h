/// Hashes edits for memory files.
#pragma once

#include "analysis/source/text_edit.h"
#include "engine/memory/memory_entry.h"
#include "engine/storage/text_hash.h"

#include <filesystem>
#include <string>

namespace kernelskill::engine {

/// Hashes the edits and the names of their files without folders, because a workspace may move.
[[nodiscard]] inline std::string hashOf(const analysis::EditSet& edits) {
    TextHash hash;
    for (const auto& [file, changes] : edits) {
        hash.add(std::filesystem::path(file).filename().string());
        for (const analysis::TextEdit& edit : changes) {
            hash.add(edit.span.begin);
            hash.add(edit.span.end);
            hash.add(edit.newText);
        }
    }
    return formatHash(hash.value());
}

} // namespace kernelskill::engine
