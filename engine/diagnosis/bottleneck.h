/// The bottleneck of a kernel, and the evidence for it.
#pragma once

#include "analysis/features/features.h"
#include "engine/diagnosis/gain.h"
#include "engine/diagnosis/gpus.h"
#include "engine/execution/profile.h"
#include "engine/static_facts/static_facts.h"

#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine {

enum class BottleneckKind : std::uint8_t {
    MemoryBandwidth,
    MemoryLatency,
    UncoalescedAccess,
    BankConflicts,
    Compute,
    TensorCoreEligible,
    Occupancy,
    RegisterSpill,
    Divergence,
    LaunchOverhead,
    Synchronization,
    Balanced,
};
/// The names that skills and thresholds.yaml use: "memory-bandwidth", "uncoalesced-access", ...
[[nodiscard]] std::string_view spelling(BottleneckKind kind);

struct Evidence {
    std::string text; ///< One sentence with the metric's name, its value and the threshold.
    std::string hint; ///< A few words for the source line; empty if no hint is needed.
    std::string file;
    std::optional<std::uint32_t> line; ///< Zero-based; set if one line is the cause.
    bool operator==(const Evidence&) const = default;
};

/// The headroom of a kernel that is at its limit.
inline constexpr std::string_view noHeadroom = "none";

struct Bottleneck {
    BottleneckKind kind = BottleneckKind::Balanced;
    std::string headroom;           ///< "high", "medium", "low" or noHeadroom; empty if unknown.
    std::optional<Gain> gain;       ///< nullopt if the counts do not tell.
    std::vector<Evidence> evidence; ///< Strongest first.
    std::string rule;               ///< The row of the table that decided; shown in explanations.
    std::vector<BottleneckKind> others; ///< Further kinds for which a rule holds.
    std::vector<std::string> shapes; ///< Of the code, see code_shape.h; empty if they are unknown.
};

/// Everything that a diagnosis may use. A null member is unknown, absent or not ready yet: rules
/// that need it do not hold.
struct DiagnosisInput {
    const analysis::KernelModel& kernel;
    const analysis::Features& features;
    const Gpu& gpu; ///< The GPU that the kernel is meant for.
    const Profile* profile = nullptr;
    /// The launch that a profile would have; used if there is no profile.
    const LaunchSpec* launch = nullptr;
    const StaticFacts* facts = nullptr; ///< The facts for `gpu`'s architecture.
    /// The text of the kernel's file. Without it, evidence from the text names no lines.
    const analysis::SourceText* source = nullptr;
    const analysis::FileModel* file = nullptr; ///< The host code that launches the kernel.
};

/// Takes well under a millisecond.
[[nodiscard]] Bottleneck diagnose(const DiagnosisInput& input);

} // namespace kernelskill::engine
