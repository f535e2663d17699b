/// Gives the constant that states a kernel's block another value.
#include "analysis/source/gpu_constants.h"
#include "skills/base/planned_skill.h"
#include "skills/block-constant/stated_extents.h"
#include "skills/gates/any_block.h"
#include "skills/gates/block_choice.h"
#include "skills/gates/launch_sites.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// Values of one axis that a search tries.
constexpr std::size_t maxValues = 3;

/// The axis times 10,000, and the new number of threads on it.
enum class AxisThreads : int {};
constexpr int axisFactor = 10'000;

AxisThreads optionOf(int axis, std::int64_t threads) {
    return AxisThreads{axis * axisFactor + static_cast<int>(threads)};
}

struct Statement {
    std::vector<StatedExtent> extents;
    std::int64_t threads = 0; ///< Of a block, as launched.
    Numerics numerics = Numerics::Exact;
};

class BlockConstantSkill : public VariedSkill<Statement, AxisThreads> {
    Gated<Statement> plan(const SkillContext& context) const override {
        KERNELSKILL_CHECK(requireEditable(context));
        KERNELSKILL_TRY(auto extents, statedExtents(context));
        KERNELSKILL_TRY(const auto blocks, launchedBlocks(context));
        Statement found{std::move(extents),
                        blocks.front()[0] * blocks.front()[1] * blocks.front()[2]};
        // Threads that work together may add up in another order.
        if (!requireAnyBlock(context))
            found.numerics = Numerics::Reassociates;
        return found;
    }

    Gated<std::vector<Offer>> offers(const SkillContext& context,
                                     const Statement& found) const override {
        KERNELSKILL_CHECK(requireAnyBlock(context));
        const StatedExtent& extent = found.extents.front();
        if (extent.value != found.threads)
            return refuse("several-axes",
                          fmt::format("the block of {} has more than one axis, and which shape is "
                                      "best only a measurement tells",
                                      context.kernel.name));
        const auto choice = betterBlock(found.threads, std::nullopt);
        if (!choice)
            return refuse("block-fits",
                          fmt::format("blocks of {} threads fill their warps and a multiprocessor",
                                      found.threads));
        std::vector<Offer> offers{offerOf(context, found, extent, choice->threads)};
        offers.front().why = choice->why;
        offers.front().gain = ExpectedGain{choice->factor, choice->basis};
        for (Offer& further : trials(context, found).value())
            if (further.option != offers.front().option)
                offers.push_back(std::move(further));
        return offers;
    }

    /// Other shapes: each may be better, which nothing in the text tells.
    Gated<std::vector<Offer>> trials(const SkillContext& context,
                                     const Statement& found) const override {
        std::vector<Offer> offers;
        for (const StatedExtent& extent : found.extents)
            for (const std::int64_t value : valuesFor(context, found, extent))
                offers.push_back(offerOf(context, found, extent, value));
        return offers;
    }

    GatedEdits editsFor(const SkillContext&, const Statement& found,
                        AxisThreads option) const override {
        const int axis = static_cast<int>(option) / axisFactor;
        const auto extent = std::ranges::find(found.extents, axis, &StatedExtent::axis);
        if (extent == found.extents.end())
            return refuse("no-block-constant",
                          "no constant states that axis of the block any more");
        return std::vector<TextEdit>{
            {extent->literal, std::to_string(static_cast<int>(option) % axisFactor)}};
    }

    /// Powers of two that keep the block within a warp and the limits, nearest first.
    static std::vector<std::int64_t> valuesFor(const SkillContext& context, const Statement& found,
                                               const StatedExtent& extent) {
        const auto threadsWith = [&](std::int64_t value) {
            std::int64_t threads = found.threads;
            for (int axis = 0; axis < extent.axes; ++axis)
                threads = threads / extent.value * value;
            return threads;
        };
        std::int64_t most =
            std::min(maxBlockThreads, context.kernel.launchBoundsThreads.value_or(maxBlockThreads));
        if (hasFixedArrays(context, extent))
            most = std::min(most, found.threads);
        constexpr std::array<std::int64_t, 10> powers{2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};
        std::vector<std::int64_t> values;
        for (const std::int64_t power : powers)
            if (power != extent.value && threadsWith(power) <= most &&
                threadsWith(power) >= warpLanes)
                values.push_back(power);
        std::ranges::stable_sort(values, {}, [&](std::int64_t value) {
            return std::abs(std::log2(static_cast<double>(value)) -
                            std::log2(static_cast<double>(extent.value)));
        });
        values.resize(std::min(values.size(), maxValues));
        return values;
    }

    /// Whether the kernel declares shared memory and does not name the constant: arrays keep their
    /// size, and more threads would reach beyond them.
    static bool hasFixedArrays(const SkillContext& context, const StatedExtent& extent) {
        return std::ranges::any_of(context.kernel.sharedArrays,
                                   [](const SharedArray& array) { return !array.isDynamic; }) &&
               std::ranges::none_of(context.shared().tokens(), [&](const Token& token) {
                   return token.text == extent.name && context.kernel.span.contains(token.span);
               });
    }

    Offer offerOf(const SkillContext& context, const Statement& found, const StatedExtent& extent,
                  std::int64_t threads) const {
        Offer offer = newOffer(context, context.kernel.nameSpan, optionOf(extent.axis, threads));
        offer.title =
            fmt::format("Launch {} with {} = {}", context.kernel.name, extent.name, threads);
        offer.why = fmt::format("{} on line {} states the block, {} threads in all", extent.name,
                                lineNumber(context, extent.literal.begin), found.threads);
        offer.numerics = found.numerics;
        return offer;
    }
};

} // namespace

KERNELSKILL_SKILL(BlockConstantSkill)

} // namespace kernelskill::skills
