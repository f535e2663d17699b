/// Tells the compiler how large blocks are and how many of them are to be resident.
#include "analysis/compile/launch_registers.h"
#include "analysis/queries/launch_extents.h"
#include "analysis/syntax/lexer.h"
#include "skills/base/planned_skill.h"
#include "skills/gates/launch_sites.h"
#include "skills/gates/resource_gates.h"
#include "skills/launch-bounds/bound_head.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// The min share of the registers that the compiler took unasked, for a bound to be offered.
/// Fifteen bounds on seven kernels were tried (nvcc 13.0, sm_90): none of the four that leave more
/// registers spilled, and ten of those that leave less did.
constexpr double minOfferedShare = 0.85;
/// The min share that a search tries.
constexpr double minTriedShare = 0.7;

/// How many blocks the compiler is to make room for.
enum class ResidentBlocks : int {};

/// The threads of the largest block that is launched.
struct BlockThreads {
    std::int64_t count = 0;
};

/// One more resident block after another, and the registers that each leaves to a thread.
struct Bound {
    std::uint32_t blocks = 0;
    std::uint32_t registers = 0;
    double percent = 0;
};

struct Study {
    std::int64_t threads = 0; ///< The threads of the largest block that is launched.
    /// The occupancy with such blocks; nullopt: they have too many registers to be launched.
    std::optional<Occupancy> now;
    std::vector<Bound> bounds; ///< At least one.
};

/// The kernel's head can be given an attribute between its type and its name.
Gated<void> requireOpenHead(const SkillContext& context) {
    const KernelModel& kernel = context.kernel;
    const std::vector<Token> head =
        lex(context.file.source->text(), Span{kernel.span.begin, kernel.nameSpan.begin});
    if (kernel.launchBoundsThreads || std::ranges::any_of(head, [](const Token& token) {
            return token.text == "__launch_bounds__" || token.text == "__maxnreg__" ||
                   token.text == "__block_size__";
        }))
        return refuse("has-bounds",
                      fmt::format("{} has a bound on its registers or its block "
                                  "already (line {})",
                                  kernel.name, lineNumber(context, kernel.span.begin)));
    if (head.empty() || head.back().text != "void")
        return refuse("unusual-head",
                      fmt::format("the head of {} on line {} is not `void {}(...)`", kernel.name,
                                  lineNumber(context, kernel.nameSpan.begin), kernel.name));
    return {};
}

/// The largest block of all launches, which no launch may exceed.
Gated<BlockThreads> largestBlock(const SkillContext& context) {
    KERNELSKILL_CHECK(requireKnownLaunches(context));
    KERNELSKILL_TRY(const auto blocks, launchedBlocks(context));
    std::int64_t largest = 0;
    for (const Extents& block : blocks)
        largest = std::max(largest, block[0] * block[1] * block[2]);
    if (largest > MultiprocessorLimits::threadsPerBlock)
        return refuse(
            "block-too-large",
            fmt::format("a launch has blocks of {} threads, more than there can be", largest));
    return BlockThreads{largest};
}

std::vector<Bound> boundsOf(const CompiledKernel& compiled, BlockResources block,
                            Occupancy occupancy) {
    std::vector<Bound> bounds;
    while (occupancy.fewerRegisters) {
        *block.registersPerThread -= static_cast<std::uint32_t>(occupancy.fewerRegisters->fewer);
        auto next = compiled.occupancyOf(block);
        if (*block.registersPerThread < minTriedShare * compiled.registers || !next)
            break;
        occupancy = std::move(*next);
        bounds.push_back({occupancy.blocks, *block.registersPerThread, occupancy.percent});
    }
    return bounds;
}

/// The bound that lets a block with too many registers be launched; nullopt for any other block.
std::optional<Bound> launchableBound(const CompiledKernel& compiled, BlockResources block) {
    const auto capability = computeCapabilityOf(compiled.architecture);
    const auto limits = capability ? limitsOf(*capability) : std::nullopt;
    const auto most = limits ? launchableRegisters(block, *limits) : std::nullopt;
    if (!most)
        return std::nullopt;
    block.registersPerThread = most;
    const auto occupancy = compiled.occupancyOf(block);
    return Bound{occupancy->blocks, *most, occupancy->percent};
}

Gated<Study> study(const SkillContext& context, BlockThreads threads) {
    const std::string& name = context.kernel.name;
    KERNELSKILL_TRY(const auto known, requireCompiled(context));
    const CompiledKernel& compiled = *known;
    const BlockResources block{static_cast<std::uint32_t>(threads.count), compiled.registers,
                               compiled.sharedBytes()};
    if (const auto launchable = launchableBound(compiled, block))
        return Study{threads.count, std::nullopt, {*launchable}};
    if (compiled.spilledBytes() > 0)
        return refuse("spills-already",
                      fmt::format("{} spills {} bytes already with {} registers a thread", name,
                                  compiled.spilledBytes(), compiled.registers));
    KERNELSKILL_TRY(const auto now, requireRoomForWarps(compiled.occupancyOf(block)));
    if (!now.isLimitedBy(OccupancyLimiter::Registers) || !now.fewerRegisters)
        return refuse("registers-do-not-limit",
                      fmt::format("with fewer than {} registers a thread no more than {} blocks of "
                                  "{} threads would be resident",
                                  compiled.registers, now.blocks, threads.count));
    Study found{threads.count, now, boundsOf(compiled, block, now)};
    if (found.bounds.empty() ||
        found.bounds.front().registers < minOfferedShare * compiled.registers)
        return refuse("would-spill",
                      fmt::format("a further block needs {} fewer of {} registers a thread, which "
                                  "would spill",
                                  now.fewerRegisters->fewer, compiled.registers));
    return found;
}

class LaunchBoundsSkill : public VariedSkill<BlockThreads, ResidentBlocks> {
    Gated<BlockThreads> plan(const SkillContext& context) const override {
        KERNELSKILL_CHECK(requireEditable(context));
        KERNELSKILL_CHECK(requireOpenHead(context));
        return largestBlock(context);
    }

    Gated<std::vector<Offer>> offers(const SkillContext& context,
                                     const BlockThreads& threads) const override {
        KERNELSKILL_TRY(const Study found, study(context, threads));
        std::vector<Offer> offers;
        for (const Bound& bound : found.bounds)
            offers.push_back(offerOf(context, found, bound));
        return offers;
    }

    GatedEdits editsFor(const SkillContext& context, const BlockThreads& threads,
                        ResidentBlocks resident) const override {
        // One block is what the compiler leaves room for without being told.
        const int count = static_cast<int>(resident);
        const std::string blocks = count > 1 ? fmt::format(", {}", count) : "";
        return boundHead(context, fmt::format("__launch_bounds__({}{})", threads.count, blocks));
    }

    Offer offerOf(const SkillContext& context, const Study& found, const Bound& bound) const {
        Offer offer = newOffer(context, context.kernel.nameSpan,
                               ResidentBlocks{static_cast<int>(bound.blocks)});
        if (!found.now) {
            offer.title = fmt::format("Bound the registers of {} so that its blocks of {} threads "
                                      "can be launched",
                                      context.kernel.name, found.threads);
            offer.why = fmt::format(
                "{} registers for each of {} threads are more than a multiprocessor of {} has, and "
                "the launch fails; with {} there is room for a block",
                context.compiled->registers, found.threads, context.compiled->architecture,
                bound.registers);
            return offer;
        }
        offer.title = fmt::format("Bound the registers of {} so that {} blocks of {} threads fit",
                                  context.kernel.name, bound.blocks, found.threads);
        offer.why = fmt::format(
            "{} registers a thread leave room for {} blocks of {} threads on {}, {:.0f} % of its "
            "warps; with {} there is room for {}, {:.0f} %",
            context.compiled->registers, found.now->blocks, found.threads,
            context.compiled->architecture, found.now->percent, bound.registers, bound.blocks,
            bound.percent);
        offer.gain = ExpectedGain{bound.percent / found.now->percent,
                                  "resident warps, after over before, where the kernel waits for "
                                  "what more of them would hide"};
        return offer;
    }
};

} // namespace

KERNELSKILL_SKILL(LaunchBoundsSkill)

} // namespace kernelskill::skills
