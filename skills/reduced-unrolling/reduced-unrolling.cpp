#include "skills/reduced-unrolling/reduced-unrolling.h"

#include "skills/reduced-unrolling/unrolled_loop.h"
#include "skills/rewriting/gates.h"
#include "skills/rewriting/resource_gates.h"
#include "skills/rewriting/shared_analysis.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <vector>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr std::string_view skillId = "reduced-unrolling";
constexpr std::uint64_t registerBytes = 4;

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

class ReducedUnrolling final : public Skill {
public:
    [[nodiscard]] std::string_view id() const override { return skillId; }

    [[nodiscard]] std::expected<Offer, Refusal>
    prepare(const SkillContext& context) const override {
        const auto loop = spillingLoop(context);
        if (!loop)
            return std::unexpected(loop.error());
        return offerOf(context, *loop, fittingFactor(*loop, *context.compiled));
    }

    [[nodiscard]] std::vector<Offer> alternatives(const SkillContext& context) const override {
        const auto loop = spillingLoop(context);
        std::vector<Offer> offers;
        if (!loop)
            return offers;
        for (const std::int64_t factor : smallerFactors(loop->rounds))
            if (factor != fittingFactor(*loop, *context.compiled))
                offers.push_back(offerOf(context, *loop, factor));
        return offers;
    }

    [[nodiscard]] Result<EditSet> apply(const SkillContext& context,
                                        const Offer& offer) const override {
        if (auto editable = requireEditable(context); !editable)
            return std::unexpected(unsupported(context, editable.error()));
        const SkillContext atAnchor = context.at({offer.anchor.begin, offer.anchor.begin});
        const auto loop = findUnrolledLoop(atAnchor, context.shared().code());
        if (!loop)
            return std::unexpected(unsupported(context, loop.error()));
        return EditSet{{context.kernel.file, {{loop->factor, fmt::format(" {}", offer.option)}}}};
    }

private:
    static std::expected<UnrolledLoop, Refusal> spillingLoop(const SkillContext& context) {
        if (auto editable = requireEditable(context); !editable)
            return std::unexpected(editable.error());
        auto loop = findUnrolledLoop(context, context.shared().code());
        if (!loop)
            return loop;
        const auto compiled = requireCompiled(context);
        if (!compiled)
            return std::unexpected(compiled.error());
        if ((*compiled)->spilledBytes() < fewestSpilledBytes)
            return refuse("no-spills",
                          fmt::format("{} keeps its values in {} registers a thread; {} bytes are "
                                      "spilled",
                                      context.kernel.name, (*compiled)->registers,
                                      (*compiled)->spilledBytes()));
        return loop;
    }

    static Offer offerOf(const SkillContext& context, const UnrolledLoop& loop,
                         std::int64_t factor) {
        const CompiledKernel& compiled = *context.compiled;
        const Stmt& stmt = context.kernel.body.stmt(context.kernel.loops[loop.loop].statement);
        const std::uint32_t line = lineNumber(context, stmt.span.begin);
        Offer offer;
        offer.skillId = skillId;
        offer.kernelName = context.kernel.qualifiedName;
        offer.anchor = stmt.span;
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
        offer.option = static_cast<int>(factor);
        offer.numerics = Numerics::Exact;
        return offer;
    }
};

} // namespace

std::unique_ptr<Skill> makeReducedUnrolling() {
    return std::make_unique<ReducedUnrolling>();
}

} // namespace kernelskill::skills
