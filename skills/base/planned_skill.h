/// The bases of skills: a plan is made once, offered, and carried out.
#pragma once

#include "analysis/queries/code_map.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace kernelskill::skills {

/// The edits of the kernel's file, or why there are none.
using GatedEdits = Gated<std::vector<analysis::TextEdit>>;

/// The option of skills that have none.
enum class NoOption : int {};

/// A skill whose offers at one place differ in an option, e.g. in the size of a block.
///
/// `Plan` is what the skill found in the code. It is made once for a context and a cursor, and held
/// there for prepare(), alternatives() and apply(). `Option` is an enumeration of the skill's own,
/// e.g. `enum class BlockThreads : int {};`. Only Offer::option, which memory and editors keep, is
/// a plain number.
template <typename Plan, typename Option>
class VariedSkill : public Skill {
    static_assert(std::is_enum_v<Option>, "an option has a type of the skill's own");

public:
    [[nodiscard]] Gated<Offer> prepare(const SkillContext& context) const final {
        KERNELSKILL_TRY(std::vector<Offer> all, allOffers(context));
        return std::move(all.front());
    }

    [[nodiscard]] std::vector<Offer> alternatives(const SkillContext& context) const final {
        if (auto all = allOffers(context)) {
            all->erase(all->begin());
            return std::move(*all);
        }
        const Gated<Plan>& found = heldPlan(context);
        return found ? trials(context, *found).value_or(std::vector<Offer>{})
                     : std::vector<Offer>{};
    }

    [[nodiscard]] Result<analysis::EditSet> apply(const SkillContext& context,
                                                  const Offer& offer) const final {
        // The cursor may be elsewhere by now; the offer is about its anchor.
        const SkillContext here = context.at(offer.anchor);
        auto edits = offeredEdits(here, offer);
        if (!edits)
            return std::unexpected(unsupported(here, edits.error()));
        return analysis::EditSet{{context.kernel.file, std::move(*edits)}};
    }

protected:
    /// The plan at the cursor, or the gate that does not hold. It follows from the text alone: when
    /// an offer is carried out, SkillContext::compiled is null. A skill that chooses its plan by
    /// what the compiler says tells it by the option and defines planOf().
    [[nodiscard]] virtual Gated<Plan> plan(const SkillContext& context) const = 0;
    /// The offer that is shown first, then its alternatives. May refuse a plan that is possible and
    /// not worth it, also by what the compiler says.
    [[nodiscard]] virtual Gated<std::vector<Offer>> offers(const SkillContext& context,
                                                           const Plan& plan) const = 0;
    /// What a search that measures may try where offers() refuses for want of a reason.
    [[nodiscard]] virtual Gated<std::vector<Offer>> trials(const SkillContext&, const Plan&) const {
        return std::vector<Offer>{};
    }
    /// The plan that an offer was made by, with the cursor on the offer's anchor.
    [[nodiscard]] virtual Gated<Plan> planOf(const SkillContext& context, const Offer&) const {
        return heldPlan(context);
    }
    /// The edits of the kernel's file. May refuse what is too slow to find out for an offer.
    [[nodiscard]] virtual GatedEdits editsFor(const SkillContext& context, const Plan& plan,
                                              Option option) const = 0;

    /// An offer about the kernel that keeps results exactly; its texts are the caller's to add.
    [[nodiscard]] Offer newOffer(const SkillContext& context, analysis::Span anchor,
                                 Option option = {}) const {
        Offer offer;
        offer.skillId = id();
        offer.kernelName = context.kernel.qualifiedName;
        offer.anchor = anchor;
        offer.option = static_cast<int>(option);
        offer.numerics = Numerics::Exact;
        return offer;
    }

private:
    [[nodiscard]] GatedEdits offeredEdits(const SkillContext& context, const Offer& offer) const {
        KERNELSKILL_TRY(const Plan found, planOf(context, offer));
        return editsFor(context, found, static_cast<Option>(offer.option));
    }

    [[nodiscard]] const Gated<Plan>& heldPlan(const SkillContext& context) const {
        return context.held<Gated<Plan>>(this, [&] { return plan(context); });
    }

    [[nodiscard]] Gated<std::vector<Offer>> allOffers(const SkillContext& context) const {
        const Gated<Plan>& found = heldPlan(context);
        if (!found)
            return std::unexpected(found.error());
        return offers(context, *found);
    }
};

/// A skill that makes one offer at a place. Its option, if it has one, tells the variant apart in
/// memory; the edits follow from the plan.
template <typename Plan, typename Option = NoOption>
class PlannedSkill : public VariedSkill<Plan, Option> {
protected:
    [[nodiscard]] virtual Gated<Offer> offer(const SkillContext& context,
                                             const Plan& plan) const = 0;
    [[nodiscard]] virtual GatedEdits edits(const SkillContext& context, const Plan& plan) const = 0;

private:
    [[nodiscard]] Gated<std::vector<Offer>> offers(const SkillContext& context,
                                                   const Plan& plan) const final {
        KERNELSKILL_TRY(Offer made, offer(context, plan));
        return std::vector{std::move(made)};
    }
    [[nodiscard]] GatedEdits editsFor(const SkillContext& context, const Plan& plan,
                                      Option) const final {
        return edits(context, plan);
    }
};

/// The skill with the name that the catalogue gives it.
template <typename Method>
class Named final : public Method {
public:
    explicit Named(std::string id) : id_(std::move(id)) {}
    [[nodiscard]] std::string_view id() const override { return id_; }

private:
    std::string id_;
};

} // namespace kernelskill::skills

/// Makes a class of this file the skill that the catalogue calls by the name of its folder: the
/// class VectorizedAccessSkill is the skill `vectorized-access`. Stands outside of unnamed
/// namespaces.
#define KERNELSKILL_SKILL(Class)                                                                   \
    std::unique_ptr<Skill> make##Class(std::string id) {                                           \
        /* NOLINTNEXTLINE(bugprone-macro-parentheses) */                                           \
        return std::make_unique<Named<Class>>(std::move(id));                                      \
    }
