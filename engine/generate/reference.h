/// What a first kernel is made from, and checked against: a computation that has another form yet.
#pragma once

#include "engine/execution/executor.h"
#include "skills/base/skill.h"

#include <expected>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// A comparison that shows whether a part of a draft computes what its part of the reference does.
struct DraftCheck {
    std::string kernel; ///< Qualified name of what is launched in both programs.
    skills::Numerics numerics = skills::Numerics::Exact;
    std::uint32_t line = 0; ///< Of the reference, where the part begins, from 1; 0: all of it.
    /// The main file with a kernel of that name in which one thread computes the part as it stands,
    /// and a pinned launch of it.
    std::string referenceText;
    /// The main file with the draft's edits, a kernel of that name and those parameters that does
    /// the same by the draft's kernels, and the same launch pinned.
    std::string candidateText;
};

/// First kernels that nobody has run.
struct KernelDraft {
    std::string kernel;      ///< Qualified name of the first kernel that the edits add.
    analysis::EditSet edits; ///< To the user's files.
    skills::Numerics numerics = skills::Numerics::Exact; ///< The loosest of the checks.
    /// Which part of the reference a thread takes, and what is taken for granted. Sentences.
    std::string why;
    std::vector<DraftCheck> checks; ///< One for each part; at least one.
};

/// Today a host function with loops. A value apart from what it refers to.
class Reference {
public:
    virtual ~Reference() = default;
    /// As the user calls it: "saxpy".
    [[nodiscard]] virtual std::string name() const = 0;
    /// Pure. Refuses with the first thing that is not proved.
    [[nodiscard]] virtual std::expected<KernelDraft, skills::Refusal> draft() const = 0;
};

} // namespace kernelskill::engine
