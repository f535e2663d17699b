/// Integers of a kernel as a part of the block and a part of the thread.
#pragma once

#include "analysis/model/index_expression.h"
#include "analysis/nest/nest.h"
#include "analysis/queries/code_map.h"
#include "analysis/queries/launch_extents.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace kernelskill::skills {

/// base + local[thread], where all threads of a block have the same base.
struct PlacedValue {
    analysis::IndexExpression base;
    std::vector<std::int64_t> local; ///< By the thread's number in the block; empty: 0 for all.

    [[nodiscard]] bool isUniform() const { return local.empty(); }
};

/// Reads integers for blocks of one shape. Keeps references to what it is given.
class PlacedValues {
public:
    PlacedValues(const analysis::CodeMap& code, const analysis::Nest& nest,
                 const analysis::Extents& block)
        : code_(code), nest_(nest), block_(block) {}

    /// nullopt where it is no sum of a part of the block and one of the thread, or is not followed.
    [[nodiscard]] std::optional<PlacedValue> of(analysis::ExprId expr, int depth = 0) const;

private:
    [[nodiscard]] std::optional<PlacedValue> named(const analysis::Expr& expr, int depth) const;
    [[nodiscard]] std::optional<PlacedValue> builtin(const analysis::Expr& expr) const;
    [[nodiscard]] std::optional<PlacedValue> operation(const std::string& op, const PlacedValue& a,
                                                       const PlacedValue& b) const;
    [[nodiscard]] std::optional<PlacedValue> quotient(PlacedValue value, std::int64_t divisor,
                                                      bool isRemainder) const;
    [[nodiscard]] std::size_t threads() const {
        return static_cast<std::size_t>(block_[0] * block_[1] * block_[2]);
    }

    const analysis::CodeMap& code_;
    const analysis::Nest& nest_;
    const analysis::Extents& block_;
};

} // namespace kernelskill::skills
