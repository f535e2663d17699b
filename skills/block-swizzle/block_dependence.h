/// Which values of a kernel follow from the block's position.
#pragma once

#include "analysis/syntax/syntax.h"

#include <vector>

namespace kernelskill::skills {

struct BlockAxes {
    bool x = false;
    bool y = false;
    bool isLoaded = false; ///< Or on what memory holds: any block may have any value.

    BlockAxes operator|(BlockAxes other) const {
        return {x || other.x, y || other.y, isLoaded || other.isLoaded};
    }
    bool operator==(const BlockAxes&) const = default;
};

/// Regardless of where in the function: a variable follows from all that it is ever given.
class BlockDependence {
public:
    explicit BlockDependence(const analysis::FunctionBody& body);

    [[nodiscard]] BlockAxes of(analysis::ExprId expr) const;
    /// The axes that the place of `lvalue` in memory follows from: by its pointer and its
    /// subscripts.
    [[nodiscard]] BlockAxes ofPlace(analysis::ExprId lvalue) const;

private:
    const analysis::FunctionBody& body_;
    std::vector<BlockAxes> variables_;
};

} // namespace kernelskill::skills
