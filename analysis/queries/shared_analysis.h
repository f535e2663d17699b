/// The maps and tokens that several questions about one kernel and its file need, made once.
#pragma once

#include "analysis/nest/nest.h"
#include "analysis/queries/code_map.h"
#include "analysis/syntax/lexer.h"

#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace kernelskill::analysis {

/// Each answer is made when it is first asked for. Keeps references to both models; for one thread.
class SharedAnalysis {
public:
    SharedAnalysis(const FileModel& file, const KernelModel& kernel)
        : file_(file), kernel_(kernel) {}

    [[nodiscard]] const FileModel& file() const { return file_; }
    [[nodiscard]] const KernelModel& kernel() const { return kernel_; }
    /// The map of the kernel's body.
    [[nodiscard]] const CodeMap& code() const;
    /// The map of a function of FileModel::hostFunctions.
    [[nodiscard]] const CodeMap& host(std::uint32_t function) const;
    /// The kernel's nest; others that look at this parse share it.
    [[nodiscard]] const Nest& nest() const;
    /// The tokens of the whole main file; others that look at this parse share them. The cost grows
    /// with the file, not with the kernel: ask only when occurrences() leaves a doubt.
    [[nodiscard]] const std::vector<Token>& tokens() const;

private:
    const FileModel& file_;
    const KernelModel& kernel_;
    mutable std::optional<CodeMap> code_;
    mutable std::map<std::uint32_t, CodeMap> hosts_;
    mutable std::shared_ptr<const Nest> nest_;
    mutable std::shared_ptr<const std::vector<Token>> tokens_;
};

} // namespace kernelskill::analysis
