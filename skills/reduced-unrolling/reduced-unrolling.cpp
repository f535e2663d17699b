/// Unrolls a loop less where the values of its rounds do not fit into registers.
#include "skills/base/planned_skill.h"
#include "skills/gates/resource_gates.h"
#include "skills/reduced-unrolling/unrolled_loop.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <vector>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr std::uint64_t registerBytes = 4;

/// How many rounds stand side by side.
enum class UnrollFactor : int {};

/// Powers of two below `rounds`, the largest first.
std::vector<std::int64_t> smallerFactors(std::int64_t rounds) {
    std::vector<std::int64_t> factors;
    for (std::int64_t factor = 1; factor < rounds; factor *= 2)
        factors.push_back(factor);
    std::ranges::reverse(factors);
    return factors;
}

/// The largest factor with which values that grow with the rounds, all those that were wanted in
/// registers at once, take no more than half the registers.
std::int64_t fittingFactor(const UnrolledLoop& loop, const CompiledKernel& compiled) {
    const auto wanted =
        static_cast<std::int64_t>(compiled.registers + compiled.spillStoreBytes / registerBytes);
    const auto factors = smallerFactors(loop.rounds);
    const auto fits = std::ranges::find_if(factors, [&](std::int64_t factor) {
        return 2 * wanted * factor <= compiled.registers * loop.rounds;
    });
    return fits == factors.end() ? 1 : *fits;
}

class ReducedUnrollingSkill : public VariedSkill<UnrolledLoop, UnrollFactor> {
    Gated<UnrolledLoop> plan(const SkillContext& context) const override {
        KERNELSKILL_CHECK(requireEditable(context));
        return findUnrolledLoop(context, context.code());
    }

    Gated<UnrolledLoop> planOf(const SkillContext& context, const Offer& offer) const override {
        // Not the loops inside of it.
        return plan(context.at({offer.anchor.begin, offer.anchor.begin}));
    }

    Gated<std::vector<Offer>> offers(const SkillContext& context,
                                     const UnrolledLoop& loop) const override {
        KERNELSKILL_TRY(const CompiledKernel* compiled, requireCompiled(context));
        if (compiled->spilledBytes() < minSpilledBytes)
            return refuse("no-spills",
                          fmt::format("{} keeps its values in {} registers a thread; {} bytes are "
                                      "spilled",
                                      context.kernel.name, compiled->registers,
                                      compiled->spilledBytes()));
        const std::int64_t fitting = fittingFactor(loop, *compiled);
        std::vector<Offer> offers{offerOf(context, loop, fitting)};
        for (const std::int64_t factor : smallerFactors(loop.rounds))
            if (factor != fitting)
                offers.push_back(offerOf(context, loop, factor));
        return offers;
    }

    GatedEdits editsFor(const SkillContext&, const UnrolledLoop& loop,
                        UnrollFactor factor) const override {
        return std::vector<TextEdit>{{loop.factor, fmt::format(" {}", static_cast<int>(factor))}};
    }

    Offer offerOf(const SkillContext& context, const UnrolledLoop& loop,
                  std::int64_t factor) const {
        const CompiledKernel& compiled = *context.compiled;
        const Stmt& stmt = context.kernel.body.stmt(context.kernel.loops[loop.loop].statement);
        const std::uint32_t line = lineNumber(context, stmt.span.begin);
        Offer offer = newOffer(context, stmt.span, UnrollFactor{static_cast<int>(factor)});
        if (factor == 1)
            offer.title = fmt::format("Do not unroll the loop on line {}", line);
        else if (loop.isComplete)
            offer.title =
                fmt::format("Unroll the loop on line {} by {}, not completely", line, factor);
        else
            offer.title = fmt::format("Unroll the loop on line {} by {} instead of {}", line,
                                      factor, loop.rounds);
        offer.why = fmt::format(
            "{} rounds of the loop on line {} stand side by side, and what they keep does not fit "
            "into {} registers: each thread stores {} bytes to local memory and loads {}",
            loop.rounds, line, compiled.registers, compiled.spillStoreBytes,
            compiled.spillLoadBytes);
        return offer;
    }
};

} // namespace

KERNELSKILL_SKILL(ReducedUnrollingSkill)

} // namespace kernelskill::skills
