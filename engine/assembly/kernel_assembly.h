/// What a kernel compiles to: its instructions, and what the compiler says of them.
#pragma once

#include "engine/assembly/disassembler.h"
#include "engine/assembly/listing.h"
#include "engine/static_facts/static_facts.h"

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace kernelskill::engine {

struct AssemblyRequest {
    /// nullopt: SASS where there is a disassembler, else PTX.
    std::optional<AssemblyLanguage> language;
    std::string architecture; ///< "sm_90", "sm_90a"
};

struct KernelAssembly {
    std::string kernel; ///< Qualified name.
    StaticFacts facts;
    std::optional<analysis::Occupancy> occupancy; ///< Of the launch, where one is known.
    std::string disassembler;                     ///< "nvdisasm"; empty for PTX.
    Listing listing;
    std::vector<bool> isUsers;      ///< Of each of the listing's files: not the toolkit's.
    std::vector<std::string> notes; ///< What is missing from it, one sentence each.
};

/// Compiled as staticFacts() compiles, which says what the arguments are and which errors there
/// are, with the flags of the program's command; `launch` gives template arguments and occupancy
/// and may be null for a plain kernel. Slow the first time, later a run of the disassembler or
/// nothing. Missing as well where SASS is asked for without a disassembler. Thread-safe.
[[nodiscard]] Result<KernelAssembly> kernelAssembly(KernelRef kernel, const LaunchSpec* launch,
                                                    const AssemblyRequest& request,
                                                    const StaticFactsOptions& options,
                                                    std::stop_token stop);

/// Where the reader looks for the instruction: its innermost place in a file of the user's, else
/// its innermost place. nullopt when the line table names none.
[[nodiscard]] std::optional<CodePlace> shownPlace(const KernelAssembly& assembly,
                                                  const AssemblyInstruction& instruction);

/// A source line with what it became.
struct LineInstructions {
    CodePlace place;
    ClassCounts counts{};
    std::vector<std::uint32_t> instructions; ///< Indices, in order.
};

/// Of each line that is some instruction's shownPlace(), by file and line.
[[nodiscard]] std::vector<LineInstructions> linesOf(const KernelAssembly& assembly);

} // namespace kernelskill::engine
