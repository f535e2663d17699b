/// Lets the loads of several rounds of a loop be under way before the first is used.
#include "skills/base/planned_skill.h"
#include "skills/memory-level-parallelism/batch_writer.h"
#include "skills/memory-level-parallelism/batched_loads.h"

#include <spdlog/fmt/fmt.h>

#include <string>
#include <utility>
#include <vector>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// The number of rounds that are loaded at once; 0 stands for the plan's own.
enum class BatchedRounds : int {};

class MemoryLevelParallelismSkill : public VariedSkill<BatchedLoop, BatchedRounds> {
    Gated<BatchedLoop> plan(const SkillContext& context) const override {
        return findBatchedLoop(context);
    }

    Gated<std::vector<Offer>> offers(const SkillContext& context,
                                     const BatchedLoop& found) const override {
        if (found.needless)
            return std::unexpected(*found.needless);
        std::vector<Offer> all{offerOf(context, found, BatchedRounds{})};
        for (Offer& further : groupOffers(context, found))
            all.push_back(std::move(further));
        return all;
    }

    /// More rounds at once than the compiler's four may pay where few warps are resident.
    Gated<std::vector<Offer>> trials(const SkillContext& context,
                                     const BatchedLoop& found) const override {
        return groupOffers(context, found);
    }

    GatedEdits editsFor(const SkillContext& context, const BatchedLoop& found,
                        BatchedRounds rounds) const override {
        const BatchedLoop batched = withRounds(found, rounds);
        const SkillContext inner = functionWith(context, batched);
        return batchedEdits(inner, batched);
    }

    [[nodiscard]] std::vector<Offer> groupOffers(const SkillContext& context,
                                                 const BatchedLoop& found) const {
        std::vector<Offer> all;
        for (const int rounds : found.groups)
            all.push_back(offerOf(context, found, BatchedRounds{rounds}));
        return all;
    }

    /// The function that has the loop.
    [[nodiscard]] static SkillContext functionWith(const SkillContext& context,
                                                   const BatchedLoop& found) {
        return found.function == nullptr ? context : context.in(*found.function);
    }

    [[nodiscard]] static BatchedLoop withRounds(BatchedLoop found, BatchedRounds rounds) {
        if (rounds == BatchedRounds{})
            return found;
        found.rounds = static_cast<int>(rounds);
        found.isGrouped = true;
        return found;
    }

    [[nodiscard]] Offer offerOf(const SkillContext& context, const BatchedLoop& plan,
                                BatchedRounds rounds) const {
        const BatchedLoop found = withRounds(plan, rounds);
        const KernelModel& function = found.function == nullptr ? context.kernel : *found.function;
        const FunctionBody& body = function.body;
        std::string names;
        for (const BatchedLoad& load : found.loads)
            names += fmt::format("{}{}", names.empty() ? "" : ", ",
                                 context.file.source->slice(body.expr(load.element).span));
        const Span loop = body.stmt(function.loops[found.head.counted.loop].statement).span;
        Offer offer =
            newOffer(context, found.function == nullptr ? loop : context.kernel.nameSpan, rounds);
        offer.title = found.isGrouped
                          ? fmt::format("Load {} in groups of {} rounds", names, found.rounds)
                          : fmt::format("Load {} for {} rounds at once", names, found.rounds);
        if (found.search)
            return searchOffer(std::move(offer), names, found);
        offer.why = fmt::format(
            "each round of the loop on line {} waits for {} before the next round may load; the "
            "place of a load follows from the index {}",
            lineNumber(context, loop.begin), names,
            found.locals.empty() ? "alone" : "and from memory that nobody writes");
        offer.gain = ExpectedGain{
            static_cast<double>(found.rounds),
            fmt::format("a thread waits for memory once in {} rounds, if it does nothing "
                        "else and too few warps are there to do so instead",
                        found.rounds)};
        return offer;
    }

    static Offer searchOffer(Offer offer, const std::string& names, const BatchedLoop& found) {
        offer.title = fmt::format("Test {} rounds of the search at once", found.rounds);
        offer.why = fmt::format("each round of the search waits for {} and for its branch before "
                                "the next round may load",
                                names);
        offer.gain =
            ExpectedGain{static_cast<double>(found.rounds) / 4,
                         fmt::format("a thread waits once in {} rounds; the tests themselves stay",
                                     found.rounds)};
        return offer;
    }
};

} // namespace

KERNELSKILL_SKILL(MemoryLevelParallelismSkill)

} // namespace kernelskill::skills
