/// What holds a kernel back, and the evidence.
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
/// "memory-bandwidth", "uncoalesced-access", ... as design.md spells them.
[[nodiscard]] std::string_view spelling(BottleneckKind kind);

struct Evidence {
    std::string text; ///< One sentence with the metric's name, its value and the threshold.
    std::string hint; ///< A few words for the line itself; empty where the line says enough.
    std::string file;
    std::optional<std::uint32_t> line; ///< Zero-based, where one line is the cause.
    bool operator==(const Evidence&) const = default;
};

struct Bottleneck {
    BottleneckKind kind = BottleneckKind::Balanced;
    std::string headroom;               ///< "high" | "medium" | "low"; empty: nobody can say.
    std::optional<Gain> gain;           ///< nullopt: counts do not say.
    std::vector<Evidence> evidence;     ///< Strongest first.
    std::string rule;                   ///< The row of the table that decided, for explanations.
    std::vector<BottleneckKind> others; ///< Further kinds whose signature also holds.
};

/// All that a diagnosis may know. What is null was not looked for, is not there, or is still on its
/// way: rules that need it do not hold.
struct DiagnosisInput {
    const analysis::KernelModel& kernel;
    const analysis::Features& features;
    const Gpu& gpu; ///< That the kernel is meant for.
    const Profile* profile = nullptr;
    /// Where there is no profile: the launch that one would have.
    const LaunchSpec* launch = nullptr;
    const StaticFacts* facts = nullptr; ///< For `gpu`'s architecture.
    /// Of the kernel's file; without it, evidence out of the text names no lines.
    const analysis::SourceText* source = nullptr;
    const analysis::FileModel* file = nullptr; ///< Whose host code launches the kernel.
};

/// Well under a millisecond.
[[nodiscard]] Bottleneck diagnose(const DiagnosisInput& input);

} // namespace kernelskill::engine
