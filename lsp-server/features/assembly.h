/// A kernel's PTX or SASS: one version of a text, or two beside each other.
#pragma once

#include "engine/assembly/assembly_difference.h"
#include "lsp-server/documents/snapshot.h"

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace kernelskill::lsp {

/// The version to compare with.
enum class AssemblyBaseline : std::uint8_t {
    None,
    Saved, ///< The file on disk comes before the editor's text.
    File,  ///< Another file comes before this one.
    Skill, ///< This text comes before what a skill would make of it.
};

struct AssemblyQuestion {
    std::optional<engine::AssemblyLanguage> language; ///< nullopt: SASS where it can be had.
    std::string architecture;                         ///< "sm_90"; empty: of `gpu`.
    std::string gpu; ///< "A100"; empty: this machine's, else the one of estimates.
    AssemblyBaseline baseline = AssemblyBaseline::None;
    std::string other;                 ///< The file's path or the skill's id.
    std::optional<std::uint32_t> line; ///< The line to apply the skill at; zero-based.
};

struct AssemblyVersion {
    std::string label; ///< "saved", "editor", a path, "with shared-memory-padding".
    engine::ProgramSource program;
    engine::KernelAssembly assembly;
};

struct AssemblyView {
    std::vector<AssemblyVersion> versions; ///< One, or before and after.
    std::optional<engine::AssemblyDifference> difference;
};

/// Compiles, and runs nothing. A skill's edit is not reviewed for this and goes nowhere. Slow.
/// Errors are those of engine::kernelAssembly(); InvalidInput for a GPU, a file or a kernel that is
/// not there.
[[nodiscard]] Result<AssemblyView> assemblyView(const Snapshot& snapshot,
                                                const analysis::KernelModel& kernel,
                                                const AssemblyQuestion& question,
                                                const std::stop_token& stop,
                                                const engine::ProgressSink& progress);

} // namespace kernelskill::lsp
