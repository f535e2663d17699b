/// The machine code of a kernel, with the compiler's facts.
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
    /// nullopt: SASS if there is a disassembler, else PTX.
    std::optional<AssemblyLanguage> language;
    std::string architecture; ///< "sm_90", "sm_90a"
};

struct KernelAssembly {
    std::string kernel; ///< Qualified name.
    StaticFacts facts;
    std::optional<analysis::Occupancy> occupancy; ///< The occupancy of the launch, if there is one.
    std::string disassembler;                     ///< "nvdisasm"; empty for PTX.
    Listing listing;
    /// For each file of the listing: whether it is the user's and not the toolkit's.
    std::vector<bool> isUsers;
    std::vector<std::string> notes; ///< Missing parts, one sentence each.
};

/// Compiles as staticFacts() does, with the flags of the program's command and the same errors.
/// `launch` gives template arguments and occupancy; it may be null for a kernel that is no
/// template. Slow at the first call; later calls at most run the disassembler. Also Missing if SASS
/// is requested and there is no disassembler. Thread-safe.
[[nodiscard]] Result<KernelAssembly> kernelAssembly(KernelRef kernel, const LaunchSpec* launch,
                                                    const AssemblyRequest& request,
                                                    const StaticFactsOptions& options,
                                                    std::stop_token stop);

/// The place to show for an instruction: its innermost place in a file of the user's, else its
/// innermost place. nullopt if the line table has none.
[[nodiscard]] std::optional<CodePlace> shownPlace(const KernelAssembly& assembly,
                                                  const AssemblyInstruction& instruction);

/// A source line and its instructions.
struct LineInstructions {
    CodePlace place;
    ClassCounts counts{};
    std::vector<std::uint32_t> instructions; ///< Indices, in order.
};

/// The instructions of each line that is shownPlace() of any, sorted by file and line.
[[nodiscard]] std::vector<LineInstructions> linesOf(const KernelAssembly& assembly);

} // namespace kernelskill::engine
