/// Applies an edit to a kernel's text.
#pragma once

#include "analysis/command/toolchain.h"
#include "analysis/source/text_edit.h"
#include "engine/execution/kernel_version.h"
#include "skills/base/skill.h"

#include <cstdint>
#include <stop_token>
#include <string>

namespace kernelskill::engine {

/// An edit that a plan proposes, and the parsed text that results from it.
struct Draft {
    KernelVersion text;
    analysis::EditSet edits;        ///< Against the text that it was drafted for.
    skills::Accuracy accuracy = {}; ///< What the edit promises.
    std::uint64_t codeHash = 0;     ///< codeHash() of `text`.
    std::string diff;               ///< A unified diff of all files.
};

/// A hash of the kernel's code and launches. Comments, white space and local names do not count.
[[nodiscard]] std::uint64_t codeHash(const KernelVersion& text);

/// Applies `edits` to `text` and parses the result. Failed if the result has no kernel of that
/// name; Cancelled if `stop` is requested before it is parsed, which takes a fraction of a second.
[[nodiscard]] Result<Draft> draftOf(const KernelVersion& text, analysis::EditSet edits,
                                    const skills::Accuracy& accuracy,
                                    const analysis::Toolchain& toolchain,
                                    const std::stop_token& stop);

} // namespace kernelskill::engine
