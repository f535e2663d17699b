/// What a first kernel is made from, and checked against: a computation that has another form yet.
#pragma once

#include "engine/execution/executor.h"
#include "skills/skill.h"

#include <expected>
#include <string>

namespace kernelskill::engine {

/// A first kernel that nobody has run.
struct KernelDraft {
    std::string kernel;      ///< Qualified name of the kernel that the edits add.
    analysis::EditSet edits; ///< To the user's files.
    skills::Numerics numerics = skills::Numerics::Exact;
    /// Which part of the reference a thread takes, and what is taken for granted. Sentences.
    std::string why;
    /// The main file with a kernel of that name and those parameters in which one thread computes
    /// the reference as it stands, and a pinned launch of it.
    std::string referenceText;
    /// The main file with `edits`, and the same launch pinned.
    std::string candidateText;
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
