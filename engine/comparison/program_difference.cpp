#include "engine/comparison/program_difference.h"

#include "analysis/source/files.h"
#include "engine/comparison/text_difference.h"

#include <utility>

namespace kernelskill::engine {

Result<std::string> textOf(const ProgramSource& program, const std::string& file) {
    if (file == program.file)
        return program.text;
    if (const auto open = program.unsaved.find(file); open != program.unsaved.end())
        return open->second;
    if (auto text = analysis::readFile(file))
        return std::move(*text);
    return std::unexpected(
        Error{ErrorKind::InvalidInput, "an edited file cannot be read", file, ""});
}

Result<analysis::EditSet> editsBetween(const ProgramSource& before, const ProgramSource& after) {
    analysis::EditSet edits;
    if (before.text != after.text)
        edits[before.file] = textDifference(before.text, after.text);
    for (const auto& [file, text] : after.unsaved) {
        const auto old = textOf(before, file);
        if (!old)
            return std::unexpected(old.error());
        if (*old != text)
            edits[file] = textDifference(*old, text);
    }
    return edits;
}

std::string diffOf(const ProgramSource& program, const analysis::EditSet& edits) {
    std::string diff;
    for (const auto& [file, changes] : edits) {
        const auto before = textOf(program, file);
        if (!before)
            continue;
        if (const auto after = analysis::applyEdits(*before, changes))
            diff += analysis::unifiedDiff(file, *before, *after);
    }
    return diff;
}

} // namespace kernelskill::engine
