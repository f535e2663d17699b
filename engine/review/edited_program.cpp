#include "engine/review/edited_program.h"

#include "analysis/source/files.h"

#include <set>
#include <utility>

namespace kernelskill::engine {
namespace {

Result<std::string> contentOf(const ProgramSource& program, const std::string& file) {
    if (file == program.file)
        return program.text;
    if (auto open = program.unsaved.find(file); open != program.unsaved.end())
        return open->second;
    if (auto text = analysis::readFile(file))
        return std::move(*text);
    return std::unexpected(
        Error{ErrorKind::InvalidInput, "an edited file cannot be read", file, ""});
}

std::multiset<std::string> errorsOf(const analysis::FileModel& model) {
    std::multiset<std::string> errors(model.errorsElsewhere.begin(), model.errorsElsewhere.end());
    for (const analysis::Diagnostic& diagnostic : model.diagnostics) {
        if (analysis::isCompileError(diagnostic))
            errors.insert(diagnostic.message);
    }
    return errors;
}

} // namespace

Result<ProgramSource> withEdits(const ProgramSource& original, const analysis::EditSet& edits) {
    ProgramSource candidate = original;
    candidate.model = nullptr;
    for (const auto& [file, changes] : edits) {
        auto before = contentOf(original, file);
        if (!before)
            return std::unexpected(before.error());
        auto after = analysis::applyEdits(*before, changes);
        if (!after)
            return std::unexpected(after.error());
        if (file == original.file)
            candidate.text = std::move(*after);
        else
            candidate.unsaved[file] = std::move(*after);
    }
    return candidate;
}

std::optional<std::string> firstNewError(const analysis::FileModel& before,
                                         const analysis::FileModel& after) {
    auto known = errorsOf(before);
    for (const std::string& message : errorsOf(after)) {
        auto same = known.find(message);
        if (same == known.end())
            return message;
        known.erase(same);
    }
    return std::nullopt;
}

} // namespace kernelskill::engine
