#include "skills/launch-tuning/block_shapes.h"

#include "analysis/source/gpu_constants.h"

#include <algorithm>
#include <cmath>

namespace kernelskill::skills {

using analysis::Extents;

namespace {

/// The usual extents along the free axes, by the number of these. Shapes that are best most often
/// come first: rows of whole warps.
const std::vector<std::vector<Extents>>& usualShapes() {
    static const std::vector<std::vector<Extents>> shapes{{},
                                                          {{32, 1, 1},
                                                           {64, 1, 1},
                                                           {128, 1, 1},
                                                           {256, 1, 1},
                                                           {512, 1, 1},
                                                           {16, 1, 1},
                                                           {8, 1, 1},
                                                           {4, 1, 1},
                                                           {2, 1, 1},
                                                           {1, 1, 1}},
                                                          {{32, 8, 1},
                                                           {64, 4, 1},
                                                           {32, 4, 1},
                                                           {128, 2, 1},
                                                           {16, 16, 1},
                                                           {64, 2, 1},
                                                           {256, 1, 1},
                                                           {128, 1, 1},
                                                           {32, 16, 1},
                                                           {32, 2, 1},
                                                           {16, 8, 1},
                                                           {64, 8, 1},
                                                           {8, 8, 1}},
                                                          {{32, 4, 2},
                                                           {32, 8, 1},
                                                           {16, 4, 4},
                                                           {64, 2, 2},
                                                           {64, 4, 1},
                                                           {8, 8, 4},
                                                           {32, 2, 2},
                                                           {32, 4, 1},
                                                           {16, 8, 2},
                                                           {32, 4, 4}}};
    return shapes;
}

std::int64_t threadsOf(const Extents& block) {
    return block[0] * block[1] * block[2];
}

} // namespace

std::vector<Extents> blockShapes(const Extents& block, const std::array<bool, 3>& free,
                                 std::int64_t most) {
    std::vector<Extents> shapes;
    const auto axes = static_cast<std::size_t>(std::ranges::count(free, true));
    for (const Extents& usual : usualShapes()[axes]) {
        Extents shape = block;
        std::size_t next = 0;
        for (std::size_t axis = 0; axis < free.size(); ++axis)
            if (free[axis])
                shape[axis] = usual[next++];
        if (shape != block && threadsOf(shape) >= analysis::warpLanes && threadsOf(shape) <= most &&
            shape[2] <= 64)
            shapes.push_back(shape);
    }
    const auto distance = [&](const Extents& shape) {
        return std::abs(std::log2(static_cast<double>(threadsOf(shape))) -
                        std::log2(static_cast<double>(threadsOf(block))));
    };
    std::ranges::stable_sort(shapes, {}, distance);
    return shapes;
}

} // namespace kernelskill::skills
