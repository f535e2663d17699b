/// Answers questions about a kernel's code for the fixes of hazards: which statements are on a
/// line, and which threads reach a statement.
#pragma once

#include "analysis/model/dependence.h"
#include "analysis/model/kernel_model.h"
#include "analysis/queries/code_map.h"
#include "analysis/queries/source_layout.h"
#include "engine/execution/job.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

/// Built once per kernel. Keeps references to both models.
class HazardCode {
public:
    HazardCode(const analysis::FileModel& file, const analysis::KernelModel& kernel);

    [[nodiscard]] const analysis::FileModel& file() const { return file_; }
    [[nodiscard]] const analysis::KernelModel& kernel() const { return kernel_; }
    [[nodiscard]] const analysis::FunctionBody& body() const { return kernel_.body; }
    [[nodiscard]] const analysis::Stmt& stmt(analysis::StmtId id) const { return body().stmt(id); }
    [[nodiscard]] const analysis::Expr& expr(analysis::ExprId id) const { return body().expr(id); }
    [[nodiscard]] const analysis::CodeMap& map() const { return map_; }
    [[nodiscard]] const analysis::SourceLayout& layout() const { return layout_; }
    [[nodiscard]] std::string text(analysis::Span span) const;
    [[nodiscard]] std::string text(analysis::ExprId expr) const {
        return text(this->expr(expr).span);
    }
    [[nodiscard]] std::uint32_t lineOf(std::uint32_t offset) const;

    /// The indices of the kernel's accesses to `object` on a line. If `object` is empty, of its
    /// accesses to shared memory.
    [[nodiscard]] std::vector<std::uint32_t> accessesOn(std::uint32_t line,
                                                        std::string_view object) const;
    /// The innermost statements of a line that access `object`, in source order.
    [[nodiscard]] std::vector<analysis::StmtId> statementsOn(std::uint32_t line,
                                                             std::string_view object) const;

    /// Whether the condition has one value for all threads of a block, for any data.
    [[nodiscard]] bool isUniform(analysis::ExprId condition) const;
    /// Whether all threads of a block that have not returned execute `statement` equally often.
    [[nodiscard]] bool isReachedByBlock(analysis::StmtId statement) const;
    /// Whether all threads of a warp do, in blocks of the shape of `launch`.
    [[nodiscard]] bool isReachedByWarps(analysis::StmtId statement, const LaunchSpec& launch) const;

    /// Whether the condition can be evaluated twice with the same result: it has no calls,
    /// assignments or reads of memory, and nothing in `meanwhile` changes its variables.
    [[nodiscard]] bool isRepeatable(analysis::ExprId condition, analysis::StmtId meanwhile) const;

private:
    using Condition = std::function<bool(analysis::ExprId)>;
    [[nodiscard]] bool isReached(analysis::StmtId statement, const Condition& agrees) const;
    [[nodiscard]] bool leavesTogether(analysis::StmtId loop, const Condition& agrees) const;
    [[nodiscard]] bool isOneForAWarp(analysis::ExprId condition, const LaunchSpec& launch) const;
    [[nodiscard]] bool isThreadIndex(analysis::ExprId expr) const;

    const analysis::FileModel& file_;
    const analysis::KernelModel& kernel_;
    analysis::CodeMap map_;
    analysis::DependenceAnalysis dependence_;
    analysis::SourceLayout layout_;
    bool hasGoto_ = false;
};

[[nodiscard]] inline bool isLoop(analysis::StmtKind kind) {
    return kind == analysis::StmtKind::For || kind == analysis::StmtKind::While ||
           kind == analysis::StmtKind::Do;
}

} // namespace kernelskill::engine
