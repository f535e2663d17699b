/// The values of expressions at one launch, as far as the file tells.
#pragma once

#include "analysis/model/integer_values.h"
#include "analysis/model/kernel_model.h"
#include "analysis/queries/shared_analysis.h"

#include <cstdint>
#include <optional>
#include <string>

namespace kernelskill::analysis {

/// Evaluates the kernel's code with the grid, the block and the arguments of the launch.
class LaunchValues : private IntegerValues {
public:
    /// The launch is one of the shared kernel's; its host function is known. Keeps references.
    LaunchValues(const SharedAnalysis& shared, const LaunchSite& launch);

    /// Blocks along x, y, z; nullopt on an axis that the text does not tell.
    [[nodiscard]] const KnownExtents& grid() const { return grid_; }
    [[nodiscard]] const KnownExtents& block() const { return block_; }
    /// The value of an integral expression of the kernel.
    [[nodiscard]] std::optional<std::int64_t> of(ExprId kernelExpr) const;
    /// Rounds of a loop of the kernel whose bounds are known.
    [[nodiscard]] std::optional<std::int64_t> rounds(const Loop& loop) const;
    /// The max number of rounds for any thread, if none starts below 0; also of a loop that halves
    /// or doubles.
    [[nodiscard]] std::optional<std::int64_t> maxRounds(const Loop& loop) const;

private:
    [[nodiscard]] ExprId fixedValue(VariableId variable) const override;
    [[nodiscard]] std::optional<std::int64_t> leaf(const Expr& expr, int depth) const override;
    [[nodiscard]] std::optional<std::int64_t> variableValue(VariableId id, int depth) const;
    [[nodiscard]] std::optional<std::int64_t> argument(VariableId parameter, int depth) const;
    [[nodiscard]] std::optional<std::int64_t> roundsFrom(std::int64_t low, const Loop& loop) const;
    [[nodiscard]] std::optional<std::int64_t> stepOf(const Loop& loop) const;
    [[nodiscard]] std::optional<std::int64_t> templateArgument(const std::string& name) const;

    const SharedAnalysis& shared_;
    const LaunchSite& launch_;
    FixedValues host_;
    KnownExtents grid_;
    KnownExtents block_;
};

} // namespace kernelskill::analysis
