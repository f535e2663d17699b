/// Generator: makes first kernels from a reference and reviews them.
#pragma once

#include "engine/generate/reference.h"
#include "engine/review/reviewer.h"

#include <stop_token>
#include <string>

namespace kernelskill::engine {

struct GeneratedKernel {
    std::string reference; ///< Name of the reference.
    std::string kernel;    ///< Qualified name of the first kernel.
    std::string why;       ///< See KernelDraft.
    skills::Numerics numerics = skills::Numerics::Exact;
    analysis::EditSet edits;
    Verdict verdict;  ///< Compares the kernels with the reference, without times.
    std::string diff; ///< A unified diff of all files.
    [[nodiscard]] bool acceptable() const {
        return verdict.status != VerdictStatus::Incorrect &&
               verdict.status != VerdictStatus::Invalid;
    }
};

class Generator {
public:
    Generator(const Reviewer& reviewer, const analysis::Toolchain& toolchain)
        : reviewer_(reviewer), toolchain_(toolchain) {}

    /// Drafts the kernels and runs each beside its part of the reference, on fresh inputs of
    /// several sizes. Returns the kernels with the verdict, whatever it is. Stops at the first
    /// failed part. Unsupported, with the reason, if the reference refuses.
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
