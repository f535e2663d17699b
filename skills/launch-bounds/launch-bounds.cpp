#include "skills/launch-bounds/launch-bounds.h"

#include "analysis/compile/launch_registers.h"
#include "analysis/syntax/lexer.h"
#include "skills/launch-bounds/bound_head.h"
#include "skills/rewriting/gates.h"
#include "skills/rewriting/launch_sites.h"
#include "skills/rewriting/resource_gates.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr std::string_view skillId = "launch-bounds";
/// Registers left, of those that the compiler took unasked. Of fifteen bounds on seven kernels
/// (nvcc 13.0, sm_90) none of the four that leave more spilled, and ten of those that leave less.
constexpr double leastOfferedShare = 0.85;
/// The least that a search tries.
constexpr double leastTriedShare = 0.7;

/// One more resident block after another, and the registers that each leaves to a thread.
struct Bound {
    std::uint32_t blocks = 0;
    std::uint32_t registers = 0;
    double percent = 0;
};

struct Study {
    std::int64_t threads = 0; ///< Of the largest block that is launched.
    /// Of such blocks; nullopt: they have too many registers to be launched.
    std::optional<Occupancy> now;
    std::vector<Bound> bounds; ///< At least one.
};

/// The kernel's head can be given an attribute between its type and its name.
std::expected<void, Refusal> requireOpenHead(const SkillContext& context) {
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

/// Of all launches; what no launch may exceed.
std::expected<std::int64_t, Refusal> largestBlock(const SkillContext& context) {
    if (auto followable = requireFollowableLaunches(context); !followable)
        return std::unexpected(followable.error());
    const auto blocks = launchedBlocks(context);
    if (!blocks)
        return std::unexpected(blocks.error());
    std::int64_t largest = 0;
    for (const Extents& block : *blocks)
        largest = std::max(largest, block[0] * block[1] * block[2]);
    if (largest > MultiprocessorLimits::threadsPerBlock)
        return refuse(
            "block-too-large",
            fmt::format("a launch has blocks of {} threads, more than there can be", largest));
    return largest;
}

/// What the text alone decides.
std::expected<std::int64_t, Refusal> requireBoundable(const SkillContext& context) {
    if (auto editable = requireEditable(context); !editable)
        return std::unexpected(editable.error());
    if (auto head = requireOpenHead(context); !head)
        return std::unexpected(head.error());
    return largestBlock(context);
}

std::vector<Bound> boundsOf(const CompiledKernel& compiled, BlockResources block,
                            Occupancy occupancy) {
    std::vector<Bound> bounds;
    while (occupancy.fewerRegisters) {
        *block.registersPerThread -= static_cast<std::uint32_t>(occupancy.fewerRegisters->fewer);
        auto next = compiled.occupancyOf(block);
        if (*block.registersPerThread < leastTriedShare * compiled.registers || !next)
            break;
        occupancy = std::move(*next);
        bounds.push_back({occupancy.blocks, *block.registersPerThread, occupancy.percent});
    }
    return bounds;
}

/// With which a block can be launched that has too many registers; nullopt for any other.
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

std::expected<Study, Refusal> study(const SkillContext& context) {
    const std::string& name = context.kernel.name;
    const auto threads = requireBoundable(context);
    if (!threads)
        return std::unexpected(threads.error());
    const auto known = requireCompiled(context);
    if (!known)
        return std::unexpected(known.error());
    const CompiledKernel& compiled = **known;
    const BlockResources block{static_cast<std::uint32_t>(*threads), compiled.registers,
                               compiled.sharedBytes()};
    if (const auto launchable = launchableBound(compiled, block))
        return Study{*threads, std::nullopt, {*launchable}};
    if (compiled.spilledBytes() > 0)
        return refuse("spills-already",
                      fmt::format("{} spills {} bytes already with {} registers a thread", name,
                                  compiled.spilledBytes(), compiled.registers));
    const auto now = requireRoomForWarps(compiled.occupancyOf(block));
    if (!now)
        return std::unexpected(now.error());
    if (!now->isLimitedBy(OccupancyLimiter::Registers) || !now->fewerRegisters)
        return refuse("registers-do-not-limit",
                      fmt::format("with fewer than {} registers a thread no more than {} blocks of "
                                  "{} threads would be resident",
                                  compiled.registers, now->blocks, *threads));
    Study found{*threads, *now, boundsOf(compiled, block, *now)};
    if (found.bounds.empty() ||
        found.bounds.front().registers < leastOfferedShare * compiled.registers)
        return refuse("would-spill",
                      fmt::format("a further block needs {} fewer of {} registers a thread, which "
                                  "would spill",
                                  now->fewerRegisters->fewer, compiled.registers));
    return found;
}

class LaunchBounds final : public Skill {
public:
    [[nodiscard]] std::string_view id() const override { return skillId; }

    [[nodiscard]] std::expected<Offer, Refusal>
    prepare(const SkillContext& context) const override {
        const auto found = study(context);
        if (!found)
            return std::unexpected(found.error());
        return offerOf(context, *found, found->bounds.front());
    }

    [[nodiscard]] std::vector<Offer> alternatives(const SkillContext& context) const override {
        const auto found = study(context);
        std::vector<Offer> offers;
        if (!found)
            return offers;
        for (std::size_t i = 1; i < found->bounds.size(); ++i)
            offers.push_back(offerOf(context, *found, found->bounds[i]));
        return offers;
    }

    [[nodiscard]] Result<EditSet> apply(const SkillContext& context,
                                        const Offer& offer) const override {
        const auto threads = requireBoundable(context);
        if (!threads)
            return std::unexpected(unsupported(context, threads.error()));
        // One block is what the compiler leaves room for without being told.
        const std::string blocks = offer.option > 1 ? fmt::format(", {}", offer.option) : "";
        return EditSet{
            {context.kernel.file,
             boundHead(context, fmt::format("__launch_bounds__({}{})", *threads, blocks))}};
    }

private:
    static Offer offerOf(const SkillContext& context, const Study& found, const Bound& bound) {
        Offer offer;
        offer.skillId = skillId;
        offer.kernelName = context.kernel.qualifiedName;
        offer.anchor = context.kernel.nameSpan;
        offer.option = static_cast<int>(bound.blocks);
        offer.numerics = Numerics::Exact;
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

std::unique_ptr<Skill> makeLaunchBounds() {
    return std::make_unique<LaunchBounds>();
}

} // namespace kernelskill::skills
