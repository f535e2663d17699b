/// What expressions are worth at one launch, as far as the file tells.
#pragma once

#include "skills/rewriting/launch_sites.h"
#include "skills/skill.h"

#include <array>
#include <cstdint>
#include <optional>

namespace kernelskill::skills {

class LaunchValues {
public:
    /// The launch is one of context.kernel.launches; its host function is known. Keeps references.
    LaunchValues(const SkillContext& context, const analysis::LaunchSite& launch);

    /// Blocks along x, y, z; nullopt on an axis that the text does not tell.
    [[nodiscard]] const std::array<std::optional<std::int64_t>, 3>& grid() const { return grid_; }
    [[nodiscard]] const std::array<std::optional<std::int64_t>, 3>& block() const { return block_; }
    /// Of an integral expression of the kernel.
    [[nodiscard]] std::optional<std::int64_t> of(analysis::ExprId kernelExpr) const;
    /// Rounds of a loop of the kernel whose bounds are known.
    [[nodiscard]] std::optional<std::int64_t> rounds(const analysis::Loop& loop) const;
    /// As many at most for any thread, if none starts below 0; also of a loop that halves or
    /// doubles.
    [[nodiscard]] std::optional<std::int64_t> mostRounds(const analysis::Loop& loop) const;

private:
    using Axes = std::array<std::optional<std::int64_t>, 3>;

    [[nodiscard]] Axes axesOf(analysis::ExprId hostExpr, int depth) const;
    [[nodiscard]] std::optional<std::int64_t> hostValue(analysis::ExprId hostExpr, int depth) const;
    [[nodiscard]] std::optional<std::int64_t> kernelValue(analysis::ExprId expr, int depth) const;
    [[nodiscard]] std::optional<std::int64_t> variableValue(analysis::VariableId id,
                                                            int depth) const;
    [[nodiscard]] std::optional<std::int64_t> roundsFrom(std::int64_t low,
                                                         const analysis::Loop& loop) const;
    [[nodiscard]] std::optional<std::int64_t> stepOf(const analysis::Loop& loop) const;
    [[nodiscard]] std::optional<std::int64_t> templateArgument(const std::string& name) const;

    const SkillContext& context_;
    const analysis::LaunchSite& launch_;
    const CodeMap& host_;
    Axes grid_;
    Axes block_;
};

} // namespace kernelskill::skills
