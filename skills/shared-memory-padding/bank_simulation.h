/// The work of the banks of shared memory for the 32 lanes of a warp: 32 banks, each one 4-byte
/// word a wavefront.
#pragma once

#include "analysis/nest/nest.h"
#include "analysis/queries/code_map.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace kernelskill::skills {

inline constexpr int warpSize = 32;

/// Lane addresses of one request, in bytes from the array's start.
using LaneAddresses = std::vector<std::int64_t>;

/// Wavefronts that a request of `bytes` bytes a lane needs, over the number it would need with no
/// conflict; 1 is free of conflicts. Lanes that read one word share it. Requests wider than 4 bytes
/// a lane go out as half or quarter warps.
[[nodiscard]] double conflictDegree(std::span<const std::int64_t> addresses, std::uint32_t bytes);

/// One subscript per dimension and lane of a warp.
using LaneSubscripts = std::vector<std::vector<std::int64_t>>;

/// Values of integer expressions for the threads of one block. What all threads share but is not
/// known counts as 0: it moves every lane's address by the same amount, which changes no conflict.
class LaneEvaluator {
public:
    LaneEvaluator(const analysis::KernelModel& kernel, const analysis::CodeMap& code,
                  std::array<std::int64_t, 3> block)
        : kernel_(kernel), code_(code), block_(block) {}

    /// nullopt when the value depends on data, or scales a thread index by an unknown.
    [[nodiscard]] std::optional<std::int64_t> value(analysis::ExprId expr,
                                                    std::int64_t thread) const;

private:
    struct Value {
        std::int64_t number = 0;
        bool isUnknownShare = false; ///< Holds an unknown amount that all threads share.
        bool dependsOnThread = false;
    };
    [[nodiscard]] std::optional<Value> evaluate(analysis::ExprId expr, std::int64_t thread,
                                                int depth) const;
    [[nodiscard]] std::optional<Value> variable(analysis::ExprId use, std::int64_t thread,
                                                int depth) const;
    [[nodiscard]] std::optional<Value> binary(const analysis::Expr& expr, std::int64_t thread,
                                              int depth) const;

    const analysis::KernelModel& kernel_;
    const analysis::CodeMap& code_;
    std::array<std::int64_t, 3> block_;
};

/// The same of an index as a nest has it, which follows variables that are set more than once.
/// nullopt where lanes differ in something else than threadIdx.
[[nodiscard]] std::optional<std::int64_t> laneValue(const analysis::Nest& nest,
                                                    const analysis::IndexExpression& index,
                                                    const std::array<std::int64_t, 3>& block,
                                                    std::int64_t thread);

} // namespace kernelskill::skills
