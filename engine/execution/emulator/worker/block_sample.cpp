#include "engine/execution/emulator/worker/block_sample.h"

#include <algorithm>
#include <set>

namespace kernelskill::engine::emulator {

std::vector<std::uint64_t> sampleBlocks(const Dim3& grid, std::uint64_t most) {
    const std::uint64_t total = grid.count();
    most = std::max<std::uint64_t>(most, 1);
    if (total <= most) {
        std::vector<std::uint64_t> all(total);
        for (std::uint64_t i = 0; i < total; ++i)
            all[i] = i;
        return all;
    }
    std::set<std::uint64_t> chosen;
    // The last corner comes right after the first one, because most kernels behave differently at
    // the end of the data.
    for (const unsigned corner : {0u, 7u, 1u, 2u, 4u, 3u, 5u, 6u}) {
        if (chosen.size() == most)
            break;
        const std::uint64_t x = (corner & 1u) != 0 ? grid.x - 1 : 0;
        const std::uint64_t y = (corner & 2u) != 0 ? grid.y - 1 : 0;
        const std::uint64_t z = (corner & 4u) != 0 ? grid.z - 1 : 0;
        chosen.insert(x + grid.x * (y + grid.y * z));
    }
    // Ideally the stride would have no factor in common with the grid's rows; the middle of equal
    // parts is close to that.
    const std::uint64_t parts = most;
    for (std::uint64_t i = 0; i < parts && chosen.size() < most; ++i)
        chosen.insert(
            static_cast<std::uint64_t>((static_cast<double>(i) + 0.5) / static_cast<double>(parts) *
                                       static_cast<double>(total)));
    return {chosen.begin(), chosen.end()};
}

} // namespace kernelskill::engine::emulator
