/// Generator: a reference in, a first kernel out, with the verdict on it.
#pragma once

#include "engine/agents/reference.h"
#include "engine/agents/reviewer.h"

#include <stop_token>
#include <string>

namespace kernelskill::engine {

struct GeneratedKernel {
    std::string reference; ///< Its name.
    std::string kernel;    ///< Qualified name.
    std::string why;       ///< See KernelDraft.
    analysis::EditSet edits;
    Verdict verdict;  ///< Of the kernel beside the reference. Time is not compared.
    std::string diff; ///< Unified, of all files.
    [[nodiscard]] bool acceptable() const {
        return verdict.status != VerdictStatus::Incorrect &&
               verdict.status != VerdictStatus::Invalid;
    }
};

class Generator {
public:
    Generator(const Reviewer& reviewer, const analysis::Toolchain& toolchain)
        : reviewer_(reviewer), toolchain_(toolchain) {}

    /// Drafts the kernel, runs it beside the reference on fresh inputs of several sizes, and
    /// returns it with what was found, whatever that is. Unsupported, with the reason, when the
    /// reference refuses.
    [[nodiscard]] Result<GeneratedKernel> generate(const ProgramSource& program,
                                                   const Reference& reference, std::stop_token stop,
                                                   const ProgressSink& progress,
                                                   const ReviewOptions& options = {}) const;

private:
    const Reviewer& reviewer_;
    const analysis::Toolchain& toolchain_;
};

} // namespace kernelskill::engine
