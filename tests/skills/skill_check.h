/// Checks of skills on small files: applied exactly so, not offered because of this gate, about
/// this place.
///
/// `$0` in a source is the cursor; without it the cursor is the whole first kernel.
#pragma once

#include "analysis/model/kernel_model.h"
#include "skills/base/skill.h"
#include "tests/skills/compiled_examples.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::skills {

/// A parsed file with its cursor.
struct Subject {
    analysis::FileModel file;
    analysis::Features features; ///< The features of the kernel at the cursor.
    analysis::Span range;
    std::size_t kernel = 0; ///< Index into file.kernels.
    /// The facts that the GPU's compiler is to have given; nullopt: it was not asked.
    std::optional<CompiledKernel> compiled = std::nullopt;

    [[nodiscard]] SkillContext context() const {
        return {file, file.kernels.at(kernel), features, range, compiled ? &*compiled : nullptr};
    }
};

/// Parses `source` in prelude mode as `name` in the examples' folder. Fails the test when it has no
/// kernel.
[[nodiscard]] Subject parseSubject(std::string source, std::string_view name = "test.cu");

/// The file's errors, a line each; empty if it parses.
[[nodiscard]] std::string errorsOf(const analysis::FileModel& file);

[[nodiscard]] const Skill& skillNamed(std::string_view id);
/// A file of the repository.
[[nodiscard]] std::string readSource(const std::string& path);
/// The names of the kernels in a file of the repository.
[[nodiscard]] std::vector<std::string> kernelNamesIn(std::string_view path);

/// The skill is offered at the cursor and turns `before` into `after`, which parses without an
/// error.
void checkApplicable(std::string_view id, const std::string& before, const std::string& after,
                     const std::optional<CompiledKernel>& compiled = {});
/// The skill is refused at the cursor, by the gate of that name.
void checkNotApplicable(std::string_view id, const std::string& source, std::string_view gate,
                        const std::optional<CompiledKernel>& compiled = {});
/// A source that the gate of that name refuses, for tests with many of them.
struct GateCase {
    std::string name; ///< The name of the test.
    std::string gate;
    std::string source;
    std::optional<CompiledKernel> compiled = std::nullopt;
};
/// The refusal at the cursor; empty (with a failed test) when the skill is offered.
[[nodiscard]] Refusal refusedBy(std::string_view id, const std::string& source,
                                const std::optional<CompiledKernel>& compiled = {});
/// The offer is about the text `target`.
void checkTarget(std::string_view id, const std::string& source, std::string_view target);
/// The effect of the offered edit on results.
[[nodiscard]] Numerics offeredNumerics(std::string_view id, const std::string& source);
/// The error that the offered edit states.
[[nodiscard]] StatedError offeredError(std::string_view id, const std::string& source);
/// The edited text; empty (with a failed test) when the skill is not offered.
[[nodiscard]] std::string appliedText(std::string_view id, const std::string& source,
                                      const std::optional<CompiledKernel>& compiled = {});

} // namespace kernelskill::skills
