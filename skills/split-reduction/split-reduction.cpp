/// Gives the serial loop of each thread to several threads of its block.
#include "analysis/source/gpu_constants.h"
#include "skills/base/planned_skill.h"
#include "skills/schedule/share_columns.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// The hardware's limit on the static shared memory of a block.
constexpr std::int64_t maxSharedBytes = 48 * 1024;
constexpr std::array<std::int64_t, 5> counts = {2, 4, 8, 16, 32};
/// The number of parts if the text does not tell how many columns there are.
constexpr std::int64_t usualParts = 16;

/// How many threads share a column.
enum class PartCount : int {};

class SplitReductionSkill : public VariedSkill<ColumnParts, PartCount> {
    [[nodiscard]] Gated<ColumnParts> plan(const SkillContext& context) const override {
        KERNELSKILL_TRY(ColumnParts columns, columnParts(context));
        if (possibleCounts(context, columns).empty())
            return refuse("full-blocks",
                          fmt::format("blocks of {} threads have no room for a second thread on "
                                      "each column",
                                      columns.threadsOfPart()));
        return columns;
    }

    [[nodiscard]] Gated<std::vector<Offer>> offers(const SkillContext& context,
                                                   const ColumnParts& columns) const override {
        if (columns.threads && *columns.threads >= enoughThreads)
            return refuse("enough-threads",
                          fmt::format("the {} threads of the launch fill a GPU", *columns.threads));
        if (!columns.threads && columns.block[1] > 1)
            return refuse("enough-threads",
                          fmt::format("{} has a thread for each element of two axes, enough to "
                                      "fill a GPU as far as the text tells",
                                      context.kernel.name));
        return ranked(context, columns);
    }

    [[nodiscard]] Gated<std::vector<Offer>> trials(const SkillContext& context,
                                                   const ColumnParts& columns) const override {
        std::vector<Offer> all = ranked(context, columns);
        all.resize(std::min<std::size_t>(all.size(), 2));
        return all;
    }

    [[nodiscard]] GatedEdits editsFor(const SkillContext& context, const ColumnParts& columns,
                                      PartCount count) const override {
        KERNELSKILL_CHECK(requireIndependentRounds(context, columns.shared));
        Draft draft(context);
        shareColumns(draft, context, columns, static_cast<int>(count));
        return draft.edits();
    }

    /// Returns the numbers of threads that can share a column, smallest first.
    [[nodiscard]] static std::vector<std::int64_t> possibleCounts(const SkillContext& context,
                                                                  const ColumnParts& columns) {
        const std::int64_t most =
            std::min(maxBlockThreads, context.kernel.launchBoundsThreads.value_or(maxBlockThreads));
        std::int64_t bytes = 0;
        for (const LaneLoop& loop : columns.shared.loops)
            bytes += sharedBytes(loop);
        std::vector<std::int64_t> possible;
        for (const std::int64_t count : counts)
            if (count * columns.threadsOfPart() <= most &&
                count * columns.threadsOfPart() * bytes <= maxSharedBytes)
                possible.push_back(count);
        return possible;
    }
    /// Returns the max shared memory that a thread's parts of the folds need.
    [[nodiscard]] static std::int64_t sharedBytes(const LaneLoop& loop) {
        std::size_t values =
            loop.folds.size() + 2 * loop.extremes.size() + 3 * loop.welfords.size();
        for (const RankedFold& fold : loop.ranks)
            values += fold.best.size() + fold.places.size();
        return 8 * static_cast<std::int64_t>(values);
    }

    /// Offers first the smallest number that fills a GPU, or the largest; then the nearest to it.
    [[nodiscard]] std::vector<Offer> ranked(const SkillContext& context,
                                            const ColumnParts& columns) const {
        std::vector<std::int64_t> possible = possibleCounts(context, columns);
        const std::int64_t wanted =
            columns.threads ? enoughThreads / std::max<std::int64_t>(*columns.threads, 1)
                            : usualParts;
        auto best =
            std::ranges::find_if(possible, [&](std::int64_t count) { return count >= wanted; });
        if (best == possible.end())
            best = possible.end() - 1;
        const std::int64_t chosen = *best;
        std::ranges::stable_sort(possible, {}, [&](std::int64_t count) {
            return count > chosen ? count / chosen : chosen / count;
        });
        std::vector<Offer> offers;
        for (const std::int64_t count : possible)
            offers.push_back(offerOf(context, columns, count));
        return offers;
    }

    [[nodiscard]] Offer offerOf(const SkillContext& context, const ColumnParts& columns,
                                std::int64_t count) const {
        const Span loop = context.kernel.body.stmt(columns.shared.loops.front().statement).span;
        Offer offer = newOffer(context, loop, PartCount{static_cast<int>(count)});
        offer.title =
            fmt::format("Give each column of {} to {} threads", context.kernel.name, count);
        const std::vector<std::string> folded = foldedNames(context, columns.shared);
        offer.why = fmt::format(
            "{} of {} make all rounds of the loop on line {} one after another; {} threads of a "
            "block can share them{}",
            columns.threads ? fmt::format("the {} threads", *columns.threads) : "the threads",
            context.kernel.name, lineNumber(context, loop.begin), count,
            folded.empty()
                ? ""
                : fmt::format(" and fold {} in shared memory", fmt::join(folded, " and ")));
        offer.numerics = reassociates(columns.shared) ? Numerics::Reassociates : Numerics::Exact;
        if (columns.threads)
            offer.gain = ExpectedGain{
                .factor =
                    std::min(static_cast<double>(count),
                             static_cast<double>(enoughThreads) /
                                 static_cast<double>(std::max<std::int64_t>(*columns.threads, 1))),
                .basis = fmt::format("{} threads become {}", *columns.threads,
                                     count * *columns.threads)};
        return offer;
    }
};

} // namespace

KERNELSKILL_SKILL(SplitReductionSkill)

} // namespace kernelskill::skills
