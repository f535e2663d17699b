/// Runs a nest as if it were the kernel: its accesses for given sizes, thread by thread.
#pragma once

#include "analysis/nest/nest.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kernelskill::testing {

struct NestSizes {
    std::array<std::int64_t, 3> grid{1, 1, 1};
    std::array<std::int64_t, 3> block{1, 1, 1};
    std::map<std::string, std::int64_t> parameters; ///< By the names of the nest's symbols.
};

using Index3 = std::array<std::int64_t, 3>;

/// How often an event happens that the nest tells of.
enum class Certainty : std::uint8_t {
    Once,
    AtMostOnce, ///< A guard that is not followed decides.
    AnyTimes,   ///< A loop with unknown bounds decides.
};

struct NestEvent {
    analysis::NestAccessId access = analysis::noId;
    Index3 block{};
    Index3 thread{};
    std::optional<std::int64_t> element; ///< In units; nullopt where the nest does not tell.
    Certainty certainty = Certainty::Once;
    std::vector<std::pair<analysis::NestNodeId, std::int64_t>> rounds; ///< Outermost first.
    std::uint32_t phase = 0; ///< The barriers of the block that the thread has passed.
};

struct NestRun {
    /// Accesses of arrays, not of variables; in each thread's order.
    std::vector<NestEvent> events;
    std::map<analysis::NestNodeId, std::int64_t> runs; ///< Of statements.
    /// False if it does not tell exactly what happens: then runs are estimates.
    bool isExact = true;
    bool isCutOff = false; ///< There were more events than `maxEvents`.
    /// Accesses whose subscripts do not give their index, or leave their extents though all
    /// assumptions hold, one line each.
    std::vector<std::string> wrongSubscripts;
};

inline constexpr std::size_t maxEvents = 400'000;

/// Runs these blocks of the launch.
[[nodiscard]] NestRun runNest(const analysis::Nest& nest, const NestSizes& sizes,
                              const std::vector<Index3>& blocks);

} // namespace kernelskill::testing
