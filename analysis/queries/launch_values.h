/// The values of expressions at one launch, as far as the file tells.
#pragma once

#include "analysis/model/kernel_model.h"
#include "analysis/queries/shared_analysis.h"

#include <array>
#include <cstdint>
#include <optional>

namespace kernelskill::analysis {

class LaunchValues {
public:
    /// The launch is one of the shared kernel's; its host function is known. Keeps references.
    LaunchValues(const SharedAnalysis& shared, const LaunchSite& launch);

    /// Blocks along x, y, z; nullopt on an axis that the text does not tell.
    [[nodiscard]] const std::array<std::optional<std::int64_t>, 3>& grid() const { return grid_; }
    [[nodiscard]] const std::array<std::optional<std::int64_t>, 3>& block() const { return block_; }
    /// The value of an integral expression of the kernel.
    [[nodiscard]] std::optional<std::int64_t> of(ExprId kernelExpr) const;
    /// Rounds of a loop of the kernel whose bounds are known.
    [[nodiscard]] std::optional<std::int64_t> rounds(const Loop& loop) const;
    /// As many at most for any thread, if none starts below 0; also of a loop that halves or
    /// doubles.
    [[nodiscard]] std::optional<std::int64_t> maxRounds(const Loop& loop) const;

private:
    using Axes = std::array<std::optional<std::int64_t>, 3>;

    [[nodiscard]] Axes axesOf(ExprId hostExpr, int depth) const;
    [[nodiscard]] std::optional<std::int64_t> hostValue(ExprId hostExpr, int depth) const;
    [[nodiscard]] std::optional<std::int64_t> kernelValue(ExprId expr, int depth) const;
    [[nodiscard]] std::optional<std::int64_t> variableValue(VariableId id, int depth) const;
    [[nodiscard]] std::optional<std::int64_t> roundsFrom(std::int64_t low, const Loop& loop) const;
    [[nodiscard]] std::optional<std::int64_t> stepOf(const Loop& loop) const;
    [[nodiscard]] std::optional<std::int64_t> templateArgument(const std::string& name) const;

    const SharedAnalysis& shared_;
    const LaunchSite& launch_;
    const CodeMap& host_;
    Axes grid_;
    Axes block_;
};

} // namespace kernelskill::analysis
