/// Tells the values that are the same in all threads which share the rounds of a loop.
#pragma once

#include "analysis/model/kernel_model.h"
#include "analysis/queries/code_map.h"

#include <cstdint>
#include <vector>

namespace kernelskill::skills {

/// The threads that share the rounds of a loop, along x.
struct LoopSharers {
    enum class Kind : std::uint8_t { Lanes, Block, Grid };
    Kind kind = Kind::Block;
    std::int64_t lanes = 0; ///< For Lanes: their number; they are neighbours in a block.
    bool operator==(const LoopSharers&) const = default;
};

/// Follows a kernel's values back to the thread's position. What warps or blocks have exchanged
/// counts as the same in all of them: that it is, the text does not tell. Keeps references.
class ThreadValues {
public:
    ThreadValues(const analysis::FileModel& file, const analysis::KernelModel& kernel,
                 const analysis::CodeMap& code, LoopSharers sharers)
        : file_(file), kernel_(kernel), code_(code), body_(code.body()), sharers_(sharers) {}

    /// Whether the value of the expression, where it stands, may differ between the threads.
    [[nodiscard]] bool differ(analysis::ExprId expr) const;
    /// Whether some of the threads may not come to the loop, or in fewer rounds of those around it.
    [[nodiscard]] bool mayPart(analysis::StmtId loop) const;
    /// Whether the expression hands values to other threads: shuffles, atomics, functions that
    /// wait for others.
    [[nodiscard]] bool exchanges(analysis::ExprId expr) const;

private:
    struct Write {
        analysis::ExprId use = analysis::noId; ///< noId: the initialisation.
        std::uint32_t offset = 0;
    };

    [[nodiscard]] bool differ(analysis::ExprId expr,
                              std::vector<analysis::VariableId>& visited) const;
    [[nodiscard]] bool variableDiffers(analysis::VariableId variable, analysis::ExprId use,
                                       std::vector<analysis::VariableId>& visited) const;
    [[nodiscard]] bool writeDiffers(analysis::VariableId variable, const Write& write,
                                    std::vector<analysis::VariableId>& visited) const;
    /// Whether the variable's value behind the write depends on the one before.
    [[nodiscard]] bool keepsBefore(const Write& write) const;
    [[nodiscard]] bool indexDiffers(const analysis::Expr& index) const;
    [[nodiscard]] bool isNumberOfLanes(const analysis::Expr& quotient) const;
    /// The conditions around the statement, up to `outer`, that may differ between the threads.
    [[nodiscard]] bool isDivided(analysis::StmtId statement, analysis::StmtId outer,
                                 std::vector<analysis::VariableId>& visited) const;

    const analysis::FileModel& file_;
    const analysis::KernelModel& kernel_;
    const analysis::CodeMap& code_;
    const analysis::FunctionBody& body_;
    LoopSharers sharers_;
};

} // namespace kernelskill::skills
