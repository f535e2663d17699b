/// Copies a block's records between global and shared memory side by side, and works on them there.
#include "skills/aos-staging/staging_plan.h"
#include "skills/aos-staging/staging_writer.h"
#include "skills/base/planned_skill.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <optional>
#include <utility>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// Whether staging was measured to help. Caches merge the loads of records, and a few stores; more
/// of them reach the L2 cache one by one.
bool pays(const RecordArray& array) {
    constexpr std::size_t manyStores = 6;
    constexpr std::int64_t leastUpdated = 32;
    constexpr std::int64_t leastLoaded = 64;
    if (!array.isWritten)
        return array.bytes() >= leastLoaded;
    return array.stores >= manyStores && (!array.isRead || array.bytes() >= leastUpdated);
}

std::string namesOf(const SkillContext& context, const Staging& staging) {
    std::vector<std::string> names;
    for (const RecordArray& array : staging.records.arrays)
        names.push_back(context.kernel.body.variable(array.variable).name);
    return fmt::format("{}", fmt::join(names, ", "));
}

enum class StagedArrays : int { Paying = 0, All = 1 };

struct Stagings {
    Gated<Staging> paying;
    std::optional<Staging> all; ///< Not empty where these are more arrays.
};

class AosStagingSkill : public VariedSkill<Stagings, StagedArrays> {
    Gated<Stagings> plan(const SkillContext& context) const override {
        KERNELSKILL_CHECK(requireEditable(context));
        KERNELSKILL_TRY(RecordArrays all, recordArrays(context));
        RecordArrays paying = all;
        std::erase_if(paying.arrays, [](const RecordArray& array) { return !pays(array); });
        const bool isMore = paying.arrays.size() < all.arrays.size();
        Stagings stagings{cachedFields(context, all.arrays.front()), std::nullopt};
        if (!paying.arrays.empty())
            stagings.paying = planStaging(context, std::move(paying));
        if (isMore)
            if (auto staging = planStaging(context, std::move(all)))
                stagings.all = std::move(*staging);
        return stagings;
    }

    Gated<std::vector<Offer>> offers(const SkillContext& context,
                                     const Stagings& stagings) const override {
        if (!stagings.paying)
            return std::unexpected(stagings.paying.error());
        std::vector<Offer> all{offerOf(context, *stagings.paying, StagedArrays::Paying)};
        if (stagings.all)
            all.push_back(offerOf(context, *stagings.all, StagedArrays::All));
        return all;
    }

    Gated<std::vector<Offer>> trials(const SkillContext& context,
                                     const Stagings& stagings) const override {
        std::vector<Offer> all;
        if (stagings.all)
            all.push_back(offerOf(context, *stagings.all, StagedArrays::All));
        return all;
    }

    GatedEdits editsFor(const SkillContext& context, const Stagings& stagings,
                        StagedArrays arrays) const override {
        if (arrays == StagedArrays::All && stagings.all)
            return stagingEdits(context, *stagings.all);
        if (!stagings.paying)
            return std::unexpected(stagings.paying.error());
        return stagingEdits(context, *stagings.paying);
    }

    static std::unexpected<Refusal> cachedFields(const SkillContext& context,
                                                 const RecordArray& array) {
        return refuse(
            "cached-fields",
            fmt::format("caches keep the {} bytes of a record of {} from one field to the "
                        "next{}: staging such records was measured to cost as much as it "
                        "saves, or more",
                        array.bytes(), context.kernel.body.variable(array.variable).name,
                        array.isWritten ? fmt::format(", with {} stores", array.stores) : ""));
    }

    Offer offerOf(const SkillContext& context, const Staging& staging, StagedArrays arrays) const {
        Offer offer = newOffer(context, context.kernel.nameSpan, arrays);
        double before = 0;
        double after = 0;
        for (const RecordArray& array : staging.records.arrays) {
            before += array.sectorsBefore;
            after += array.sectorsAfter;
        }
        const std::string names = namesOf(context, staging);
        offer.title = fmt::format("Stage the records of {} through shared memory", names);
        offer.why = fmt::format(
            "neighbouring threads are {} bytes apart in {}, so that a warp's requests touch {:.0f} "
            "sectors in all; copied side by side, {:.0f}",
            staging.records.arrays.front().bytes(), names, before, after);
        offer.gain = ExpectedGain{before / after, "sectors before over sectors after, where no "
                                                  "cache holds a sector until its rest is used"};
        return offer;
    }
};

} // namespace

KERNELSKILL_SKILL(AosStagingSkill)

} // namespace kernelskill::skills
