/// The text that an edit makes of a kernel.
#pragma once

#include "analysis/command/toolchain.h"
#include "analysis/source/text_edit.h"
#include "engine/execution/kernel_version.h"
#include "skills/base/skill.h"

#include <cstdint>
#include <string>

namespace kernelskill::engine {

/// An edit that a plan proposes, and the text that it makes, parsed.
struct Draft {
    KernelVersion text;
    analysis::EditSet edits; ///< Against the text that it was made from.
    skills::Numerics numerics = skills::Numerics::Exact;
    std::uint64_t codeHash = 0; ///< codeHash() of `text`.
    std::string diff;           ///< Unified, of all files.
};

/// Hash of the kernel's code and launches, with comments, white space and local names normalised.
[[nodiscard]] std::uint64_t codeHash(const KernelVersion& text);

/// Applies `edits` to `text` and parses the result. Failed: the edit leaves no kernel of that name.
[[nodiscard]] Result<Draft> draftOf(const KernelVersion& text, analysis::EditSet edits,
                                    skills::Numerics numerics,
                                    const analysis::Toolchain& toolchain);

} // namespace kernelskill::engine
