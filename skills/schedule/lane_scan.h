/// Loops that store a running value, such as a prefix sum, in each round: the lanes of a warp can
/// scan for it.
#pragma once

#include "analysis/nest/nest.h"
#include "analysis/queries/code_map.h"
#include "skills/base/skill.h"
#include "skills/schedule/lane_fold.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kernelskill::skills {

enum class ScanForm : std::uint8_t {
    Inclusive, ///< A variable is folded into, then used.
    Exclusive, ///< A variable is used, then folded into.
    Element,   ///< `a[i] = a[i - 1] + value;` or `a[i] += a[i - 1];`
};

/// The running value of a loop, and the statements of a round around the scan for it.
struct LaneScan {
    ScanForm form = ScanForm::Inclusive;
    LaneFold fold; ///< The fold into the variable, or into a register that replaces the element.
    analysis::VariableId variable = analysis::noId; ///< noId for an element.
    /// The statements in front of the scan and behind it, in the order of the text.
    std::vector<analysis::StmtId> before;
    std::vector<analysis::StmtId> after;
    /// The statements of an exclusive scan that fold. They move in front of `after`, which does not
    /// list them.
    std::vector<analysis::StmtId> folds;
    /// Variables that are declared in `before` and used behind it.
    std::vector<analysis::VariableId> crossing;

    // Set for an element alone.
    analysis::NestArrayId array = analysis::noId;
    analysis::StmtId statement = analysis::noId;
    analysis::ExprId element = analysis::noId;  ///< `a[i]`
    analysis::ExprId previous = analysis::noId; ///< `a[i - 1]`
    std::string value; ///< The text of what is folded into the previous element.
};

/// Reads the running value of a loop of the kernel's own text. `loop` is its index into
/// KernelModel::loops. Refuses with `no-scan` where there is none, and with `scan-order` or
/// `scan-body` where the statements of a round cannot be divided around the scan.
[[nodiscard]] Gated<LaneScan> laneScan(const SkillContext& context, analysis::NestNodeId node,
                                       std::uint32_t loop);

} // namespace kernelskill::skills
