/// Generator: a reference in, first kernels out, with the verdict on them.
#pragma once

#include "engine/generate/reference.h"
#include "engine/review/reviewer.h"

#include <stop_token>
#include <string>

namespace kernelskill::engine {

struct GeneratedKernel {
    std::string reference; ///< Its name.
    std::string kernel;    ///< Qualified name of the first one.
    std::string why;       ///< See KernelDraft.
    skills::Numerics numerics = skills::Numerics::Exact;
    analysis::EditSet edits;
    Verdict verdict;  ///< Of the kernels beside the reference. Time is not compared.
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

    /// Drafts the kernels, runs each beside its part of the reference on fresh inputs of several
    /// sizes, and returns them with what was found, whatever that is. The first that fails ends it.
    /// Unsupported, with the reason, when the reference refuses.
    [[nodiscard]] Result<GeneratedKernel> generate(const ProgramSource& program,
                                                   const Reference& reference, std::stop_token stop,
                                                   const ProgressSink& progress,
                                                   const ReviewOptions& options = {}) const;

private:
    [[nodiscard]] Result<Verdict> checked(const ProgramSource& program, const DraftCheck& check,
                                          const std::string& reference, std::stop_token stop,
                                          const ProgressSink& progress,
                                          const ReviewOptions& options) const;

    const Reviewer& reviewer_;
    const analysis::Toolchain& toolchain_;
};

} // namespace kernelskill::engine
