/// Finds what the windows of neighbouring results have in common: the elements that a pool or a
/// depthwise convolution reads for several of them.
#pragma once

#include "analysis/raise/program.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace kernelskill::engine::graph {

/// An axis of the results along which their windows lie. Element k of the window of result i is at
/// the place stride * i + dilation * k.
struct WindowAxis {
    analysis::raise::Axis results;
    analysis::raise::Axis window;
    std::int64_t stride = 1;
    std::int64_t dilation = 1;
    analysis::raise::Axis places; ///< All that windows reach; a new axis.
};

/// A part of what is reduced that depends on a window and its element only by their place.
struct WindowRead {
    analysis::raise::Scalar element; ///< As it stands in the reduction.
    analysis::raise::Scalar place;   ///< The same over `places`.
};

struct WindowReads {
    WindowAxis axis;
    std::vector<WindowRead> reads; ///< At least one.
};

/// Finds the reads of a computation that reduces windows: one entry for each axis of its results
/// along which windows lie and extents are constant. `axes` numbers new axes.
[[nodiscard]] std::vector<WindowReads> windowReads(const analysis::raise::Computation& computation,
                                                   std::uint32_t& axes);

} // namespace kernelskill::engine::graph
