/// Finds the kernels that differ between two versions of a program.
#pragma once

#include "analysis/command/toolchain.h"
#include "engine/execution/program_source.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

enum class KernelChangeKind : std::uint8_t { Changed, Renamed, Added, Removed };
/// "changed", "renamed", "added", "removed"
[[nodiscard]] std::string_view spelling(KernelChangeKind kind);

/// A kernel that differs, and in which respects.
struct KernelChange {
    KernelChangeKind kind = KernelChangeKind::Changed;
    std::string name;    ///< Qualified, in the new version; for a removed one in the old version.
    std::string oldName; ///< Qualified, only for a renamed one.
    bool isTextChanged = false;      ///< The kernel's own text.
    bool isUsedCodeChanged = false;  ///< A function, macro, type or variable that it uses.
    bool isSignatureChanged = false; ///< The types, names or order of its parameters.
    bool isLaunchChanged = false;    ///< Its launches, as far as they can be computed.

    /// Whether it may compute something else, or in another way.
    [[nodiscard]] bool isToBeJudged() const {
        return isTextChanged || isUsedCodeChanged || isSignatureChanged || isLaunchChanged;
    }
};

/// Two versions of one program.
struct ProgramChange {
    /// The old version, in which renamed kernels have their new names. Its model is set.
    ProgramSource before;
    /// The kernels that differ, in the order of the new version; removed ones last.
    std::vector<KernelChange> kernels;
    std::vector<std::string> unchanged; ///< Qualified names.
};

/// Compares the texts of kernels without comments and white space, what they use, and their
/// launches. A kernel that is gone and one that is new count as one renamed kernel if their texts
/// agree but for the name, or if no other pair has their parameters. `before` needs no model;
/// `after` has one. Errors as those of the parser.
[[nodiscard]] Result<ProgramChange> compareVersions(ProgramSource before,
                                                    const ProgramSource& after,
                                                    const analysis::Toolchain& toolchain);

/// The definition of the kernel without comments and white space; empty if its text is not known.
[[nodiscard]] std::string definitionOf(const analysis::FileModel& model,
                                       const analysis::KernelModel& kernel);

/// Whether a text, as analysis::tokenText() has it, holds the kernel's definition between whole
/// tokens.
[[nodiscard]] bool holdsDefinition(const std::string& tokens, const analysis::FileModel& model,
                                   const analysis::KernelModel& kernel);

/// The parameters as they are declared: "float* x, int n".
[[nodiscard]] std::string signatureOf(const analysis::KernelModel& kernel);

} // namespace kernelskill::engine
