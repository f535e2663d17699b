#include "skills/schedule/tile_shape.h"

#include "analysis/compile/data_centre_gpu.h"
#include "analysis/queries/launch_extents.h"
#include "analysis/source/gpu_constants.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/editing/block_count.h"
#include "skills/gates/launch_sites.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr int loadBytes = 16;
constexpr std::int64_t staticSharedBytes = 48 * 1024;
/// The min number of blocks: fewer leave multiprocessors of a data-centre GPU idle.
constexpr std::int64_t enoughBlocks = DataCentreGpu::multiprocessors;
/// Registers that a thread has for outputs, in words, by the threads of a block: nvcc then spills
/// nothing (sm_90).
int outputWords(std::int64_t threads) {
    return threads <= 256 ? 64 : threads <= 512 ? 32 : 16;
}
/// More outputs leave few blocks where the grid is not known.
constexpr int usualOutputs = 16;

std::uint32_t wordsOf(std::uint32_t bytes) {
    return std::max(1u, (bytes + 3) / 4);
}

/// Words of registers that an output keeps.
int wordsOfAnOutput(const SkillContext& context, const Contraction& found) {
    std::uint32_t words = 0;
    for (const auto& [id, role] : found.roles)
        if (role == OutputRole::Carried)
            words += wordsOf(context.kernel.body.variable(id).type.size);
    for (const KeptElement& element : found.kept)
        words += wordsOf(context.kernel.body.expr(element.uses.front()).type.size);
    return static_cast<int>(std::max(1u, words));
}

/// The relative time of a term of one output.
double costOf(const Contraction& found, const TileShape& shape) {
    constexpr double warpsOfArithmetic = 4; // A multiprocessor does the arithmetic of 4 at once.
    constexpr double wavefrontBytes = 128;
    constexpr double cyclesOfAStagedElement = 2; // Load, store and addresses.
    constexpr double cyclesOfARound = 0.5;
    double wavefronts = 0;
    double staged = 0;
    for (const TermLoop& loop : found.loops)
        for (const TileOperand& operand : loop.operands) {
            const int size = static_cast<int>(std::max(operand.size, 1u));
            const bool isFast = operand.axis == fastAxis;
            const int elements = isFast ? shape.fast : shape.slow;
            const double loads = std::max(1, elements * size / loadBytes);
            const double lanes = isFast ? static_cast<double>(std::min<std::int64_t>(
                                              found.axes.fast.threads, warpLanes))
                                        : 1;
            wavefronts += std::max(loads, elements * size * lanes / wavefrontBytes);
            staged += static_cast<double>(tileExtent(found, operand, shape)) /
                      static_cast<double>(found.axes.threads());
        }
    const auto loops = static_cast<double>(found.loops.size());
    const double arithmetic = loops * shape.outputs() / warpsOfArithmetic;
    return (std::max(arithmetic, wavefronts) + cyclesOfAStagedElement * staged +
            cyclesOfARound * loops) /
           shape.outputs();
}

/// Outputs of a block that use one element of a tile, at least, so that staging it pays.
constexpr std::int64_t minReuse = 4;

std::int64_t reuseOf(const Contraction& found, const TileShape& shape) {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (const TermLoop& loop : found.loops)
        for (const TileOperand& operand : loop.operands)
            least =
                std::min(least, operand.axis == fastAxis ? found.axes.slow.threads * shape.slow
                                                         : found.axes.fast.threads * shape.fast);
    return least;
}

/// Blocks that are left at the smallest launch whose grid the text tells; nullopt: none is.
std::optional<std::int64_t> blocksLeft(const SkillContext& context, const Contraction& found,
                                       const TileShape& shape) {
    std::optional<std::int64_t> least;
    for (const LaunchSite& launch : context.kernel.launches) {
        const auto grid = constantExtents(context.shared().host(launch.host), launch.grid);
        if (!grid)
            continue;
        std::int64_t blocks =
            found.axes.flat ? (*grid)[0] * (*grid)[1] * (*grid)[2] / shape.outputs() : 1;
        for (int axis = 0; axis < 3 && !found.axes.flat; ++axis) {
            const int divisor = axis == found.axes.slow.gridAxis   ? shape.slow
                                : axis == found.axes.fast.gridAxis ? shape.fast
                                                                   : 1;
            blocks *= ((*grid)[static_cast<std::size_t>(axis)] + divisor - 1) / divisor;
        }
        least = std::min(least.value_or(blocks), blocks);
    }
    return least;
}

std::unexpected<Refusal> noReuse(const SkillContext& context) {
    return refuse("no-reuse", fmt::format("fewer than {} outputs of a block of {} use the same "
                                          "operand",
                                          minReuse, context.kernel.name));
}

} // namespace

AxisSet unboundedAxes(const Contraction& found, const TileShape& shape) {
    if (found.axes.flat)
        return 0;
    const auto tiled =
        static_cast<AxisSet>((shape.slow > 1 ? slowAxis : 0) | (shape.fast > 1 ? fastAxis : 0));
    return static_cast<AxisSet>(tiled & ~found.bounded);
}

int elementsOfALoad(std::uint32_t size) {
    return size == 0 || size > loadBytes ? 1 : loadBytes / static_cast<int>(size);
}

std::int64_t tileExtent(const Contraction& found, const TileOperand& operand,
                        const TileShape& shape) {
    return operand.axis == fastAxis ? found.axes.fast.threads * shape.fast
                                    : found.axes.slow.threads * shape.slow;
}

int tilePadding(const TileOperand& operand) {
    return operand.walksTerms ? elementsOfALoad(operand.size) : 0;
}

std::int64_t sharedBytes(const Contraction& found, const TileShape& shape) {
    std::int64_t bytes = 0;
    for (const TermLoop& loop : found.loops)
        for (const TileOperand& operand : loop.operands)
            bytes += shape.terms * (tileExtent(found, operand, shape) + tilePadding(operand)) *
                     std::max(operand.size, 1u);
    return bytes;
}

double loadsOfATerm(const Contraction& found, const TileShape& shape) {
    double loads = 0;
    for (const TermLoop& loop : found.loops)
        for (const TileOperand& operand : loop.operands) {
            const int elements = operand.axis == fastAxis ? shape.fast : shape.slow;
            const int atOnce = std::min(elements, elementsOfALoad(operand.size));
            loads += static_cast<double>(elements) / atOnce;
        }
    return loads / shape.outputs();
}

double loadsBefore(const Contraction& found) {
    double loads = 0;
    for (const TermLoop& loop : found.loops)
        for (const TileOperand& operand : loop.operands)
            loads += static_cast<double>(operand.uses.empty() ? 0 : 1);
    return loads;
}

Gated<std::vector<TileShape>> microTiles(const SkillContext& context, const Contraction& found) {
    KERNELSKILL_CHECK(found.axes.flat ? requireFollowableLaunches(context)
                                      : requireResizableGrids(context));
    const int words = wordsOfAnOutput(context, found);
    const bool isPassable = !found.axes.flat && requirePassableGrids(context).has_value();
    const auto isBoundable = [&](int outputs, AxisSet axis, const OutputAxis& position) {
        return outputs == 1 ||
               (((found.bounded & axis) != 0 || isPassable) && position.gridAxis >= 0);
    };
    std::vector<TileShape> shapes;
    bool lacksGuard = false;
    bool lacksBlocks = false;
    bool lacksReuse = false;
    for (const int slow : {1, 2, 4, 8})
        for (const int fast : {1, 2, 4, 8}) {
            const TileShape shape{slow, fast, 8};
            if (shape.outputs() == 1 || (found.axes.flat && (slow == 1 || fast == 1)) ||
                shape.outputs() * words > outputWords(found.axes.threads()))
                continue;
            const bool isGuarded = isBoundable(slow, slowAxis, found.axes.slow) &&
                                   isBoundable(fast, fastAxis, found.axes.fast);
            lacksGuard |= !isGuarded;
            lacksReuse |= isGuarded && reuseOf(found, shape) < minReuse;
            if (!isGuarded || reuseOf(found, shape) < minReuse ||
                sharedBytes(found, shape) > staticSharedBytes)
                continue;
            const bool isEnough =
                blocksLeft(context, found, shape).value_or(enoughBlocks) >= enoughBlocks;
            lacksBlocks |= !isEnough;
            if (isEnough)
                shapes.push_back(shape);
        }
    if (shapes.empty() && lacksBlocks)
        return refuse("too-few-blocks", fmt::format("the blocks of {} are too few to be halved",
                                                    context.kernel.name));
    if (shapes.empty() && lacksReuse)
        return noReuse(context);
    if (shapes.empty() && lacksGuard)
        return refuse("no-bounds-guard",
                      fmt::format("no condition of {} bounds the positions of its outputs, which "
                                  "the last blocks of a smaller grid would leave, and its launches "
                                  "cannot say how many blocks there were",
                                  context.kernel.name));
    if (shapes.empty())
        return refuse("too-much-shared-memory",
                      fmt::format("tiles of {} do not fit into registers and shared memory",
                                  context.kernel.name));
    const bool isKnown =
        std::ranges::all_of(context.kernel.launches, [&](const LaunchSite& launch) {
            return constantExtents(context.shared().host(launch.host), launch.grid).has_value();
        });
    std::ranges::stable_sort(shapes, {}, [&](const TileShape& shape) {
        const bool isLarge = !isKnown && shape.outputs() * words > usualOutputs;
        return std::pair(isLarge, costOf(found, shape));
    });
    return shapes;
}

Gated<TileShape> plainTile(const SkillContext& context, const Contraction& found) {
    if (found.axes.flat)
        return refuse("flat-blocks", fmt::format("a block of {} has a run of outputs, which share "
                                                 "little along rows of unknown length",
                                                 context.kernel.name));
    if (reuseOf(found, {1, 1, 1}) < minReuse)
        return noReuse(context);
    for (const int terms : {32, 16, 8}) {
        const TileShape shape{1, 1, terms};
        const bool isMuch = shape.terms > 16 && found.axes.threads() < 512;
        if (!isMuch && sharedBytes(found, shape) <= staticSharedBytes)
            return shape;
    }
    return refuse("too-much-shared-memory",
                  fmt::format("tiles of {} do not fit into shared memory", context.kernel.name));
}

} // namespace kernelskill::skills
