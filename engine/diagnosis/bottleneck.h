/// What holds a kernel back, and the evidence.
#pragma once

#include "analysis/features/features.h"
#include "engine/execution/profile.h"

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
    std::string file;
    std::optional<std::uint32_t> line; ///< Zero-based, where one line is the cause.
    bool operator==(const Evidence&) const = default;
};

struct Bottleneck {
    BottleneckKind kind = BottleneckKind::Balanced;
    std::string headroom;               ///< "high" | "medium" | "low"
    std::vector<Evidence> evidence;     ///< Strongest first.
    std::string rule;                   ///< The row of the table that decided, for explanations.
    std::vector<BottleneckKind> others; ///< Further kinds whose signature also holds.
};

/// From the text alone (`profile` null) or with an emulator profile. `source` is the text of the
/// kernel's file; without it, evidence out of the text names no lines. Well under a millisecond.
[[nodiscard]] Bottleneck diagnose(const analysis::KernelModel& kernel,
                                  const analysis::Features& features, const Profile* profile,
                                  const analysis::SourceText* source = nullptr);

} // namespace kernelskill::engine
