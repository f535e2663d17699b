/// Names that a tiled kernel needs beside its own.
#pragma once

#include "skills/schedule/contraction.h"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::skills {

/// Names of one axis.
struct AxisNames {
    std::string position; ///< The user's variable.
    std::string type;
    std::string begin; ///< The block's first position.
    std::string step;  ///< Counts the outputs of a thread.
    // Where no guard of the kernel bounds its positions:
    std::string blocks; ///< The parameter that is the old number of blocks.
    std::string end;    ///< Behind the last position.
};

struct OperandNames {
    std::string tile;
    std::string values; ///< What a thread has of the tile for a term.
};

struct TermNames {
    std::string term; ///< The user's variable.
    std::string type;
    std::string begin; ///< The first term of a tile.
    std::string end;
    std::vector<OperandNames> operands;
};

/// All different, and none is one of the kernel's.
class TileNames {
public:
    TileNames(const SkillContext& context, const Contraction& found);

    AxisNames slow;
    AxisNames fast;
    std::vector<TermNames> loops; ///< As Contraction::loops.
    std::string thread;
    std::string element;
    std::string offset;
    std::string value;
    std::string tile;    ///< Counts the rectangles of flat outputs.
    std::string tiles;   ///< How many there are.
    std::string columns; ///< How many there are side by side.

private:
    [[nodiscard]] std::string fresh(const std::string& wanted);
    [[nodiscard]] std::string joined(const std::string& name, std::string_view word) const;
    [[nodiscard]] AxisNames axisNames(const OutputAxis& axis);

    const analysis::FunctionBody& body_;
    bool hasUnderscores_ = false;
    std::set<std::string> taken_;
};

} // namespace kernelskill::skills
