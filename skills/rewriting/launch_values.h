/// The values of expressions at one launch, as far as the file tells.
#pragma once

#include "analysis/model/integer_values.h"
#include "skills/rewriting/launch_sites.h"
#include "skills/skill.h"

#include <cstdint>
#include <optional>
#include <string>

namespace kernelskill::skills {

/// Evaluates the kernel's code with the grid, the block and the arguments of the launch.
class LaunchValues : private analysis::IntegerValues {
public:
    /// The launch is one of context.kernel.launches; its host function is known. Keeps references.
    LaunchValues(const SkillContext& context, const analysis::LaunchSite& launch);

    /// Blocks along x, y, z; nullopt on an axis that the text does not tell.
    [[nodiscard]] const analysis::KnownExtents& grid() const { return grid_; }
    [[nodiscard]] const analysis::KnownExtents& block() const { return block_; }
    /// The value of an integral expression of the kernel.
    [[nodiscard]] std::optional<std::int64_t> of(analysis::ExprId kernelExpr) const;
    /// Rounds of a loop of the kernel whose bounds are known.
    [[nodiscard]] std::optional<std::int64_t> rounds(const analysis::Loop& loop) const;
    /// The max number of rounds for any thread, if none starts below 0; also of a loop that halves
    /// or doubles.
    [[nodiscard]] std::optional<std::int64_t> maxRounds(const analysis::Loop& loop) const;

private:
    [[nodiscard]] analysis::ExprId fixedValue(analysis::VariableId variable) const override;
    [[nodiscard]] std::optional<std::int64_t> leaf(const analysis::Expr& expr,
                                                   int depth) const override;
    [[nodiscard]] std::optional<std::int64_t> variableValue(analysis::VariableId id,
                                                            int depth) const;
    [[nodiscard]] std::optional<std::int64_t> argument(analysis::VariableId parameter,
                                                       int depth) const;
    [[nodiscard]] std::optional<std::int64_t> roundsFrom(std::int64_t low,
                                                         const analysis::Loop& loop) const;
    [[nodiscard]] std::optional<std::int64_t> stepOf(const analysis::Loop& loop) const;
    [[nodiscard]] std::optional<std::int64_t> templateArgument(const std::string& name) const;

    const SkillContext& context_;
    const analysis::LaunchSite& launch_;
    FixedValues host_;
    analysis::KnownExtents grid_;
    analysis::KnownExtents block_;
};

} // namespace kernelskill::skills
