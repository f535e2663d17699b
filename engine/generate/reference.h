/// The computation that a first kernel is made from and checked against.
#pragma once

#include "skills/base/skill.h"

#include <expected>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// A comparison of one part of a draft with its part of the reference.
struct DraftCheck {
    std::string kernel; ///< Qualified name of the kernel that both programs launch.
    skills::Numerics numerics = skills::Numerics::Exact;
    /// The reference's line where the part begins, from 1; 0 for the whole.
    std::uint32_t line = 0;
    /// The main file with a kernel of that name, in which one thread computes the original part,
    /// and a pinned launch of it.
    std::string referenceText;
    /// The main file with the draft's edits, a kernel with that name and those parameters that
    /// calls the draft's kernels, and the same pinned launch.
    std::string candidateText;
};

/// First kernels that were not run yet.
struct KernelDraft {
    std::string kernel;      ///< Qualified name of the first kernel in the edits.
    analysis::EditSet edits; ///< The edits of the user's files.
    skills::Numerics numerics = skills::Numerics::Exact; ///< The loosest numerics of the checks.
    /// Which part of the reference a thread computes, and what is assumed. Sentences.
    std::string why;
    std::vector<DraftCheck> checks; ///< One for each part; at least one.
};

/// A host function with loops. It is a value except for the model it refers to.
class Reference {
public:
    virtual ~Reference() = default;
    /// The user's name of it: "saxpy".
    [[nodiscard]] virtual std::string name() const = 0;
    /// Pure. Refuses with the first property that is not proved.
    [[nodiscard]] virtual std::expected<KernelDraft, skills::Refusal> draft() const = 0;
};

} // namespace kernelskill::engine
