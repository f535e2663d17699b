/// Writes the parts of a nest's kernel: where threads start, and what they do in an iteration.
#pragma once

#include "analysis/queries/code_map.h"
#include "analysis/queries/source_layout.h"
#include "engine/generate/copied_text.h"
#include "engine/generate/kernel_inputs.h"
#include "skills/editing/code_lines.h"

#include <string>

namespace kernelskill::engine {

class NestText {
public:
    NestText(const analysis::FileModel& file, const analysis::KernelModel& function,
             const ParallelFunction& parallel, const ParallelNest& nest);

    [[nodiscard]] const analysis::SourceLayout& layout() const { return layout_; }
    [[nodiscard]] const analysis::CodeMap& code() const { return code_; }
    [[nodiscard]] const KernelInputs& inputs() const { return inputs_; }
    [[nodiscard]] std::string nameOf(const MappedLoop& mapped) const;

    /// `int n, const float* x`
    [[nodiscard]] std::string parameters() const;
    /// Adds the declarations that the kernel needs, and the comments down to the innermost loop.
    void addLeadingText(skills::CodeLines& lines) const;
    /// `int i = 1 + blockIdx.x * blockDim.x + threadIdx.x;`
    [[nodiscard]] std::string indexLine(const MappedLoop& mapped) const;
    /// `i >= n`: the condition under which a thread has no iteration.
    [[nodiscard]] std::string outside(const MappedLoop& mapped) const;
    /// Opens a loop in which a thread takes iterations `number`, `number` + `count`, and so on;
    /// both are unsigned ints.
    void openStrided(skills::CodeLines& lines, const MappedLoop& mapped, const std::string& number,
                     const std::string& count) const;
    /// Adds the body. `isOneRound`: the thread has one iteration, so `continue` becomes `return`.
    void addBody(skills::CodeLines& lines, bool isOneRound) const;

private:
    [[nodiscard]] const analysis::Loop& loop(const MappedLoop& mapped) const;
    [[nodiscard]] std::string operand(analysis::ExprId expr) const;
    [[nodiscard]] std::string typeOf(const MappedLoop& mapped) const;
    [[nodiscard]] bool isDownward(const MappedLoop& mapped) const;
    [[nodiscard]] std::string firstOf(const MappedLoop& mapped) const;
    [[nodiscard]] std::string compared(const MappedLoop& mapped, const std::string& variable,
                                       bool isInside) const;
    [[nodiscard]] std::vector<analysis::TextEdit> continuesAsReturns(analysis::StmtId id) const;

    const analysis::SourceText& source_;
    const analysis::KernelModel& function_;
    const ParallelFunction& parallel_;
    const ParallelNest& nest_;
    const analysis::FunctionBody& body_;
    analysis::CodeMap code_;
    analysis::SourceLayout layout_;
    CopiedText copied_;
    KernelInputs inputs_;
};

} // namespace kernelskill::engine
